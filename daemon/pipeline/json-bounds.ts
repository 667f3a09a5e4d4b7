/** Bounds of a JSON text, told from its bytes as they arrive: what is too deep or too wide is never parsed, nor read to its end. */
import { type ApiError, badRequest } from '../../src/errors.ts'

/** Objects and lists inside one another. */
export const MAX_JSON_DEPTH = 32
/** Fields and list elements of a whole body; the largest that any route takes has some 3,000. */
export const MOST_VALUES = 10_000

const QUOTE = 34
const COMMA = 44
const COLON = 58
const BACKSLASH = 92

export interface Bounds {
  /** Where the text stands, for the refusal. */
  param?: string
  /** The one field of the outermost object that may be large text. */
  large?: string
  /** Bytes of everything but that. */
  limit?: number
}

/** Reads a JSON text as it arrives, and throws bad_request at the first piece with which it is too deep, too wide or too large. */
export class JsonBounds {
  private readonly bounds: Bounds
  private depth = 0
  private values = 0
  /** Bytes seen, but for those of the field that may be large. */
  private counted = 0
  private inString = false
  /** The next byte of the string belongs to an escape. */
  private escaped = false
  private isValue = false
  private isLarge = false
  /** Start of the name that is being read, as long as it takes to tell whether it is that of the large field. */
  private name = ''

  constructor(bounds: Bounds = {}) {
    this.bounds = bounds
  }

  /** Takes the next piece; whether the whole is JSON is told elsewhere. */
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

  /** Passes what the piece holds of the string at the cursor; answers the place behind it. */
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

  /** Place of the closing quote, or at least the length where it is still to come: searched natively up to the first escape. */
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

/** The refusal of a body that is large by anything but the field that may be. */
export function tooLargeBeside(large: string | undefined, limit: number, param?: string): ApiError {
  return badRequest(
    `The body holds more than ${limit / 1024} KiB${large === undefined ? '' : ` beside its ${large}`}: send less`,
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
    `The JSON holds more than ${MOST_VALUES} fields and list elements: send less, or split it into several requests`,
    extras(param, { limit_values: MOST_VALUES }),
  )
