/** Splits CSV bytes into records and cells without creating strings; handles quotes, CRLF, blank lines, comments and the BOM. */

const COMMA = 44
const QUOTE = 34
const HASH_SIGN = 35
const LF = 10
const CR = 13
const SPACE = 32
const TAB = 9

/**
 * Reads a CSV record by record. Cell i of the current record is `bytes[starts[i], ends[i])`, trimmed and without
 * quotes.
 */
export class CsvScanner {
  readonly bytes: Uint8Array
  starts = new Uint32Array(16)
  ends = new Uint32Array(16)
  cells = 0
  /** Byte offset of the current record. */
  recordStart = 0
  /** Offset and message of the current record's quoting error; undefined when it has none. */
  fault: { offset: number; message: string } | undefined
  /** Byte offset of the record that `next` reads. */
  position: number
  private readonly comments: boolean

  /** With `comments: false`, a record may begin with `#`. */
  constructor(bytes: Uint8Array, { comments = true } = {}) {
    this.bytes = bytes
    this.comments = comments
    this.position = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
  }

  /** Moves to the next record that is not blank or a comment; false at the end. */
  next(): boolean {
    const { bytes } = this
    const length = bytes.length
    let p = this.position
    for (;;) {
      while (bytes[p] === SPACE || bytes[p] === TAB) p++
      if (p >= length) return false
      const byte = bytes[p]
      if (byte === HASH_SIGN && this.comments) while (p < length && bytes[p] !== LF && bytes[p] !== CR) p++
      else if (byte !== LF && byte !== CR) break
      p++
    }
    this.recordStart = p
    this.cells = 0
    this.fault = undefined
    for (;;) {
      if (bytes[p] === QUOTE) p = this.quotedCell(p)
      else {
        const start = p
        while (p < length) {
          const byte = bytes[p]
          if (byte === COMMA || byte === LF || byte === CR) break
          p++
        }
        this.keep(start, p)
      }
      if (p >= length) break
      const byte = bytes[p]
      if (byte === COMMA) {
        p++
        while (bytes[p] === SPACE || bytes[p] === TAB) p++
        continue
      }
      p += byte === CR && bytes[p + 1] === LF ? 2 : 1
      break
    }
    this.position = p
    return true
  }

  /**
   * Returns the text of a cell. `""` inside quotes stays doubled, because no valid wallet, amount or column name
   * contains a quote.
   */
  text(cell: number): string {
    return Buffer.from(this.bytes.buffer, this.bytes.byteOffset, this.bytes.length).toString(
      'utf8',
      this.starts[cell],
      this.ends[cell],
    )
  }

  isEmpty(cell: number): boolean {
    return this.starts[cell] === this.ends[cell]
  }

  /** Reads a quoted cell that starts at `open`; returns the offset of the comma or line end after it. */
  private quotedCell(open: number): number {
    const { bytes } = this
    let p = open + 1
    for (;;) {
      p = bytes.indexOf(QUOTE, p)
      if (p < 0) {
        this.fault = { offset: open, message: 'the quote opened here is never closed' }
        this.keep(open, bytes.length)
        return bytes.length
      }
      if (bytes[p + 1] !== QUOTE) break
      p += 2
    }
    this.keep(open + 1, p)
    p++
    while (bytes[p] === SPACE || bytes[p] === TAB) p++
    if (p < bytes.length && bytes[p] !== COMMA && bytes[p] !== LF && bytes[p] !== CR) {
      this.fault ??= { offset: p, message: 'text after a closing quote; a quote inside a quoted cell is written twice' }
      while (p < bytes.length && bytes[p] !== COMMA && bytes[p] !== LF && bytes[p] !== CR) p++
    }
    return p
  }

  private keep(start: number, end: number): void {
    const { bytes } = this
    while (start < end && isBlank(bytes[start] ?? 0)) start++
    while (end > start && isBlank(bytes[end - 1] ?? 0)) end--
    if (this.cells === this.starts.length) {
      const starts = new Uint32Array(this.cells * 2)
      const ends = new Uint32Array(this.cells * 2)
      starts.set(this.starts)
      ends.set(this.ends)
      this.starts = starts
      this.ends = ends
    }
    this.starts[this.cells] = start
    this.ends[this.cells++] = end
  }
}

function isBlank(byte: number): boolean {
  return byte === SPACE || byte === TAB || byte === LF || byte === CR
}

/**
 * Computes line and column (both from 1, columns in characters) of byte offsets in one pass; LF, CRLF and CR end a
 * line. Offsets may be unordered and repeated.
 */
export function locate(bytes: Uint8Array, offsets: Iterable<number>): Map<number, { line: number; column: number }> {
  const places = new Map<number, { line: number; column: number }>()
  const bom = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
  let line = 1
  let column = 1
  let p = bom
  for (const offset of [...new Set(offsets)].sort((a, b) => a - b)) {
    for (; p < offset; p++) {
      const byte = bytes[p] ?? 0
      if (byte === LF || (byte === CR && bytes[p + 1] !== LF)) {
        line++
        column = 1
      } else if ((byte & 0xc0) !== 0x80 && byte !== CR) column++
    }
    places.set(offset, { line, column })
  }
  return places
}
