/** Scans JSON bytes strictly (RFC 8259, as JSON.parse does) without creating values, so that the text of numbers stays exact. */
import { printable } from './printable.ts'

export const QUOTE = 34
export const COMMA = 44
export const COLON = 58
export const OPEN_BRACKET = 91
export const CLOSE_BRACKET = 93
export const OPEN_BRACE = 123
export const CLOSE_BRACE = 125
export const BACKSLASH = 92

/** Maximum nesting of objects and arrays; no valid request needs more. */
export const MAX_JSON_DEPTH = 32

/** What is wrong with a JSON text, and at which byte. */
export class JsonFault extends Error {
  readonly offset: number
  /** What is wrong, without the place. */
  readonly what: string

  constructor(offset: number, what: string, place = '') {
    super(`malformed JSON${place}: ${what}`)
    this.offset = offset
    this.what = what
  }
}

/** A value in the text. */
export interface JsonCell {
  start: number
  end: number
}

function throwFault(fault: JsonFault): never {
  throw fault
}

/** A cursor over one JSON text; every method calls `refuse` at the first byte that is not JSON. */
export class JsonScanner {
  readonly bytes: Uint8Array
  private readonly buffer: Buffer
  private readonly refuse: (fault: JsonFault) => never
  position: number
  /** Number of values that `skipValue` has skipped, including nested ones. */
  passed = 0

  constructor(bytes: Uint8Array, refuse: (fault: JsonFault) => never = throwFault) {
    this.bytes = bytes
    this.refuse = refuse
    this.buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    this.position = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
  }

  /** Skips white space and returns the first byte of the next token; undefined at the end. */
  peek(): number | undefined {
    const { bytes } = this
    let p = this.position
    while (bytes[p] === 32 || bytes[p] === 10 || bytes[p] === 13 || bytes[p] === 9) p++
    this.position = p
    return bytes[p]
  }

  /** Consumes `byte` when it is the next token. */
  take(byte: number): boolean {
    if (this.peek() !== byte) return false
    this.position++
    return true
  }

  expect(byte: number): void {
    if (!this.take(byte)) this.fail(`expected '${String.fromCharCode(byte)}'`)
  }

  /** Fails unless only white space follows up to the end. */
  expectEnd(): void {
    if (this.peek() !== undefined) this.fail('expected the end of the text')
  }

  /** Skips a string; true when it contains an escape, so that its bytes differ from its text. */
  skipString(): boolean {
    const { bytes } = this
    if (bytes[this.position] !== QUOTE) this.fail('expected a string')
    let escaped = false
    let p = this.position + 1
    for (;;) {
      const byte = bytes[p]
      if (byte === QUOTE) break
      if (byte === undefined || byte < 32) {
        this.position = p
        this.fail(byte === undefined ? 'the string is never closed' : 'a control character inside a string')
      }
      if (byte === BACKSLASH) {
        escaped = true
        p = this.skipEscape(p)
      } else p++
    }
    this.position = p + 1
    return escaped
  }

  /** Skips the value at the cursor, and returns its place. */
  cell(): JsonCell {
    this.peek()
    const start = this.position
    this.skipValue()
    return { start, end: this.position }
  }

  /** Skips any value without recursion; fails when the nesting is too deep. */
  skipValue(): void {
    const open: number[] = []
    for (;;) {
      const byte = this.peek()
      let closed = true
      this.passed++
      if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        // The object that contains the value counts as one level.
        if (open.length + 2 > MAX_JSON_DEPTH) this.fail(`nested deeper than ${MAX_JSON_DEPTH} levels`)
        this.position++
        closed = this.take(byte === OPEN_BRACE ? CLOSE_BRACE : CLOSE_BRACKET)
        if (!closed) {
          open.push(byte)
          if (byte === OPEN_BRACE) this.skipKey()
        }
      } else this.skipScalar(byte)
      if (!closed) continue
      for (;;) {
        const container = open.at(-1)
        if (container === undefined) return
        if (this.take(COMMA)) {
          if (container === OPEN_BRACE) this.skipKey()
          break
        }
        this.expect(container === OPEN_BRACE ? CLOSE_BRACE : CLOSE_BRACKET)
        open.pop()
      }
    }
  }

  /** Skips a member name and its colon. */
  private skipKey(): void {
    this.peek()
    this.skipString()
    this.expect(COLON)
  }

  /** Skips a string, number or literal that starts with `byte`; true for a string with an escape. */
  skipScalar(byte: number | undefined): boolean {
    if (byte === QUOTE) return this.skipString()
    if (byte === 45 || (byte !== undefined && byte >= 48 && byte <= 57)) this.skipNumber()
    else if (!this.literal('true') && !this.literal('false') && !this.literal('null')) this.fail('expected a value')
    return false
  }

  skipNumber(): void {
    const { bytes } = this
    let p = this.position
    if (bytes[p] === 45) p++
    const first = bytes[p]
    const whole = this.digits(p)
    if (first === 48 && whole > p + 1) {
      this.position = p + 1
      this.fail('a number has no leading zero')
    }
    p = whole
    if (bytes[p] === 46) p = this.digits(p + 1)
    if (bytes[p] === 101 || bytes[p] === 69) {
      p++
      if (bytes[p] === 43 || bytes[p] === 45) p++
      p = this.digits(p)
    }
    this.position = p
  }

  /** Returns the text of `[start, end)`; bytes that are not UTF-8 become U+FFFD. */
  text(start: number, end: number): string {
    return this.buffer.toString('utf8', start, end)
  }

  /** Parses the value in `[start, end)`, which has already been skipped. */
  value(start: number, end: number): unknown {
    return JSON.parse(this.text(start, end))
  }

  fail(what: string): never {
    const { bytes, position } = this
    const found =
      position >= bytes.length ? 'the end of the text' : printable(JSON.stringify(this.text(position, position + 12)))
    let line = 1
    let lineStart = 0
    for (let p = 0; p < position && p < bytes.length; p++) {
      if (bytes[p] !== 10) continue
      line++
      lineStart = p + 1
    }
    const place = ` at line ${line}, byte ${position - lineStart + 1}`
    return this.refuse(new JsonFault(position, `${what}, found ${found}`, place))
  }

  private digits(from: number): number {
    const { bytes } = this
    let p = from
    while ((bytes[p] ?? 0) >= 48 && (bytes[p] ?? 0) <= 57) p++
    if (p === from) {
      this.position = p
      this.fail('expected a digit')
    }
    return p
  }

  private literal(word: string): boolean {
    for (let i = 0; i < word.length; i++) if (this.bytes[this.position + i] !== word.charCodeAt(i)) return false
    this.position += word.length
    return true
  }

  private skipEscape(at: number): number {
    const kind = this.bytes[at + 1]
    if (kind === 117) {
      for (let i = at + 2; i < at + 6; i++) {
        const digit = this.bytes[i] ?? 0
        const hex = (digit >= 48 && digit <= 57) || ((digit | 32) >= 97 && (digit | 32) <= 102)
        if (!hex) {
          this.position = i
          this.fail('expected four hex digits after \\u')
        }
      }
      return at + 6
    }
    if (kind === undefined || !'"\\/bfnrt'.includes(String.fromCharCode(kind))) {
      this.position = at
      this.fail('an unknown escape')
    }
    return at + 2
  }
}

/**
 * Iterates over the object at the cursor: `member` gets each name and its offset, and must skip the value; `named` gets
 * the offset before the name is read.
 */
export function eachMember(
  scanner: JsonScanner,
  member: (name: string, start: number) => void,
  named: (start: number) => void = () => {},
): void {
  scanner.expect(OPEN_BRACE)
  if (scanner.take(CLOSE_BRACE)) return
  do {
    scanner.peek()
    const start = scanner.position
    scanner.skipString()
    named(start)
    const name = scanner.value(start, scanner.position) as string
    scanner.expect(COLON)
    member(name, start)
  } while (scanner.take(COMMA))
  if (!scanner.take(CLOSE_BRACE)) scanner.fail("expected ',' or '}'")
}

/** Iterates over the array at the cursor; `element` must skip the value, at whose first byte the cursor is. */
export function eachElement(scanner: JsonScanner, element: () => void): void {
  scanner.expect(OPEN_BRACKET)
  if (scanner.take(CLOSE_BRACKET)) return
  do {
    scanner.peek()
    element()
  } while (scanner.take(COMMA))
  if (!scanner.take(CLOSE_BRACKET)) scanner.fail("expected ',' or ']'")
}
