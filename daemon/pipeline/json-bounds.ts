/**
 * Checks the limits of a JSON text as its bytes arrive, so that a text beyond them is neither parsed nor read to its
 * end.
 */
import { type ApiError, badRequest } from '../../src/platform/errors.ts'
import { BACKSLASH, COLON, COMMA, MAX_JSON_DEPTH, QUOTE } from '../../src/platform/json-scanner.ts'

/** The most fields and list elements of a whole body; the largest body that any route accepts has about 3,000. */
const MOST_VALUES = 10_000
/** The only field of a body that may be large: a file in a form, base64 text in JSON. */
export const LARGE_FIELD = 'image'

export interface Bounds {
  /** The parameter that contains the text, which the error names. */
  param?: string
  /** The only field of the outermost object that may be large text. */
  large?: string
  /** The limit in bytes for everything except the large field. */
  limit?: number
}

/**
 * Reads a JSON text as it arrives; throws bad_request at the first piece that makes it too deep, too wide or too large.
 */
export class JsonBounds {
  private readonly bounds: Bounds
  private depth = 0
  private values = 0
  /** Bytes read, without those of the field that may be large. */
  private counted = 0
  private inString = false
  /** True where the next byte of the string belongs to an escape sequence. */
  private escaped = false
  private isValue = false
  private isLarge = false
  /** The start of the current field name, long enough to compare it with the name of the large field. */
  private name = ''

  constructor(bounds: Bounds = {}) {
    this.bounds = bounds
  }

  /** Reads the next piece. The parser checks later whether the text is valid JSON. */
  push(piece: Uint8Array): void {
    const { param, large, limit } = this.bounds
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
    for (let at = 0; at < bytes.length; ) {
      if (this.inString) at = this.passString(bytes, at)
      else this.passByte(bytes.readUInt8(at++), param)
    }
    this.counted += bytes.length
    if (limit !== undefined && this.counted > limit) throw tooLargeBeside(large, limit, param)
  }

  private passByte(byte: number, param?: string): void {
    if (byte === QUOTE) {
      this.inString = true
      this.name = ''
    } else if (byte === COLON) this.isValue = true
    else if (byte === COMMA) {
      this.values++
      this.isValue = false
    }
    // Setting one bit turns `[` into `{`, and `]` into `}`.
    else if ((byte | 32) === 123) {
      this.values++
      this.isValue = false
      if (++this.depth > MAX_JSON_DEPTH) throw tooDeep(param)
    } else if ((byte | 32) === 125) this.depth--
    if (this.values > MOST_VALUES) throw tooManyValues(param)
  }

  /** Skips the part of a string that this piece contains; returns the position behind it. */
  private passString(bytes: Buffer, from: number): number {
    const quote = this.endOfString(bytes, from)
    const end = Math.min(quote, bytes.length)
    const { large } = this.bounds
    if (this.isValue) {
      if (this.isLarge && this.depth === 1) this.counted -= end - from
    } else if (large !== undefined && this.name.length <= large.length) {
      this.name += bytes.toString('latin1', from, Math.min(end, from + large.length + 1))
    }
    if (quote >= bytes.length) return bytes.length
    this.inString = false
    if (!this.isValue) this.isLarge = this.name === large
    return quote + 1
  }

  /**
   * Position of the closing quote, or at least the length of the piece if the quote is in a later one. The native
   * search is used up to the first escape.
   */
  private endOfString(bytes: Buffer, from: number): number {
    const start = this.escaped ? from + 1 : from
    this.escaped = false
    const quote = bytes.indexOf(QUOTE, start)
    if (quote === start || (quote !== -1 && bytes[quote - 1] !== BACKSLASH)) return quote
    if (quote === -1 && bytes.at(-1) !== BACKSLASH) return bytes.length
    let at = start
    while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1
    this.escaped = at > bytes.length
    return at
  }
}

/** The error for a body that is too large without the field that may be large. */
export function tooLargeBeside(large: string | undefined, limit: number, param?: string): ApiError {
  return badRequest(
    `The body has more than ${limit / 1024} KiB${large === undefined ? '' : ` besides its ${large}`}: send less`,
    extras(param, { limit_bytes: limit }),
  )
}

const extras = (param: string | undefined, details: Record<string, unknown>) =>
  param === undefined ? { details } : { param, details }

const tooDeep = (param?: string) =>
  badRequest(
    `The JSON is nested deeper than ${MAX_JSON_DEPTH} levels, which no request needs: send the fields as documented`,
    extras(param, { limit_depth: MAX_JSON_DEPTH }),
  )

const tooManyValues = (param?: string) =>
  badRequest(
    `The JSON has more than ${MOST_VALUES} fields and list elements: send less, or split it into several requests`,
    extras(param, { limit_values: MOST_VALUES }),
  )
