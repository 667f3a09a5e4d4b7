/**
 * Splits CSV bytes into records and cells without creating strings; handles quotes, CRLF, blank lines, comments and
 * the BOM.
 */
import { errorValueFault } from './file-faults.ts'

const COMMA = 44
const SEMICOLON = 59
const QUOTE = 34
const HASH_SIGN = 35
const LF = 10
const CR = 13
const SPACE = 32
const TAB = 9
/** Byte that DOS and old spreadsheets write after the last line. */
const END_MARK = 26

interface CsvForm {
  /** Whether a record that begins with `#` is a comment; the default is true. */
  comments?: boolean
  /** Whether the first line decides between comma, semicolon and tab. By default only a `sep=` line does. */
  findSeparator?: boolean
}

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
  /** Offset and message of a fault in the current record's form; undefined without one. */
  fault: { offset: number; message: string } | undefined
  /** Byte offset of the record that `next` reads. */
  position: number
  /** Byte between cells: a comma, a semicolon or a tab. */
  readonly separator: number
  /** Number of comments that `next` has passed, and byte offset of the last one; -1 before the first. */
  comments = 0
  lastComment = -1
  private readonly hasComments: boolean

  constructor(bytes: Uint8Array, { comments = true, findSeparator = false }: CsvForm = {}) {
    let end = bytes.length
    while (end > 0 && bytes[end - 1] === END_MARK) end--
    this.bytes = bytes.subarray(0, end)
    this.hasComments = comments
    this.position = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
    const named = this.separatorLine()
    this.separator = named ?? (findSeparator ? this.foundSeparator() : COMMA)
  }

  /** Moves to the next record that is not blank or a comment; false at the end. */
  next(): boolean {
    const { bytes, separator } = this
    const length = bytes.length
    let p = this.position
    for (;;) {
      while (this.isSpace(bytes[p])) p++
      if (p >= length) {
        this.position = p
        return false
      }
      const byte = bytes[p]
      if (byte === HASH_SIGN && this.hasComments && !this.isErrorAt(p)) {
        this.lastComment = p
        this.comments++
        p = this.lineEnd(p)
      } else if (byte !== LF && byte !== CR) break
      p++
    }
    this.recordStart = p
    this.cells = 0
    this.fault = undefined
    for (;;) {
      if (bytes[p] === QUOTE) p = this.quotedCell(p)
      else {
        const start = p
        p = this.cellEnd(p)
        this.keep(start, p)
      }
      if (p >= length) break
      const byte = bytes[p]
      if (byte === separator) {
        p++
        while (this.isSpace(bytes[p])) p++
        continue
      }
      p += byte === CR && bytes[p + 1] === LF ? 2 : 1
      break
    }
    this.position = p
    return true
  }

  /** Reads and skips a line `sep=;`, by which spreadsheets name the separator; undefined without one. */
  private separatorLine(): number | undefined {
    const { position } = this
    const [line, mark = ''] =
      /^"?sep=([,;\t])"?[,;\t ]*(?:\r\n?|\n|$)/i.exec(this.textOf(position, position + 32)) ?? []
    if (line === undefined) return undefined
    this.position += line.length
    return mark.charCodeAt(0)
  }

  /** The separator of the first record: the first of comma, semicolon and tab that is between two of its texts. */
  private foundSeparator(): number {
    const { bytes } = this
    let p = this.position
    while (p < bytes.length && /[\s#]/.test(String.fromCharCode(bytes[p] ?? 0))) {
      p = bytes[p] === HASH_SIGN ? this.lineEnd(p) : p + 1
    }
    for (const end = this.lineEnd(p); p < end; p++) {
      const byte = bytes[p]
      if (byte === COMMA || byte === SEMICOLON) return byte
      if (byte === QUOTE) p = Math.max(p, bytes.indexOf(QUOTE, p + 1))
      if (byte !== TAB) continue
      while (p + 1 < end && (bytes[p + 1] === TAB || bytes[p + 1] === SPACE)) p++
      // A tab next to another separator is a blank of that cell.
      if (p + 1 < end && bytes[p + 1] !== COMMA && bytes[p + 1] !== SEMICOLON) return TAB
    }
    return COMMA
  }

  private lineEnd(p: number): number {
    const { bytes } = this
    while (p < bytes.length && bytes[p] !== LF && bytes[p] !== CR) p++
    return p
  }

  private cellEnd(p: number): number {
    const { bytes, separator } = this
    const { length } = bytes
    while (p < length) {
      const byte = bytes[p]
      if (byte === separator || byte === LF || byte === CR) break
      p++
    }
    return p
  }

  /** Whether the record from `p` begins with the error value of a spreadsheet, instead of being a comment. */
  private isErrorAt(p: number): boolean {
    const end = this.cellEnd(p)
    if (end - p > 64) return false
    const text = this.textOf(p, end).trim()
    // A line with only number signs divides a file; before further cells they are a column that was too narrow.
    return errorValueFault(text) !== undefined && (/[^#]/.test(text) || this.bytes[end] === this.separator)
  }

  /** Whether the byte is a blank that does not separate cells. */
  private isSpace(byte: number | undefined): boolean {
    return byte === SPACE || (byte === TAB && this.separator !== TAB)
  }

  /**
   * Returns the text of a cell. `""` inside quotes stays doubled, because no valid wallet, amount or column name
   * contains a quote.
   */
  text(cell: number): string {
    return this.textOf(this.starts[cell] ?? 0, this.ends[cell] ?? 0)
  }

  private textOf(start: number, end: number): string {
    return Buffer.from(this.bytes.buffer, this.bytes.byteOffset, this.bytes.length).toString('utf8', start, end)
  }

  isEmpty(cell: number): boolean {
    return this.starts[cell] === this.ends[cell]
  }

  /** Reads a quoted cell that starts at `open`; returns the offset of the separator or line end after it. */
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
    while (this.isSpace(bytes[p])) p++
    const next = this.cellEnd(p)
    if (next > p)
      this.fault ??= { offset: p, message: 'text after a closing quote; a quote inside a quoted cell is written twice' }
    return next
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
    if (bytes[start] !== HASH_SIGN || this.fault !== undefined) return
    const message = errorValueFault(this.text(this.cells - 1))
    if (message !== undefined) this.fault = { offset: start, message }
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
