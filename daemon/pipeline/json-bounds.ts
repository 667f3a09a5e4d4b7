/** Bounds of a JSON text, told from its bytes in one pass: what is too deep or too wide is never parsed. */
import { type ApiError, badRequest } from '../../src/errors.ts'

/** Objects and lists inside one another. */
export const MOST_DEPTH = 32
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

/** Throws bad_request where the text is too deep, too wide or too large; whether it is JSON is told elsewhere. */
export function requireBounded(bytes: Uint8Array, { param, large, limit }: Bounds = {}): void {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let [depth, values, exempt] = [0, 0, 0]
  let [isValue, isLarge] = [false, false]
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!
    if (byte === QUOTE) {
      const end = endOfString(buffer, at)
      if (isValue && isLarge && depth === 1) exempt += end - at
      if (!isValue)
        isLarge =
          large !== undefined && end - at - 1 === large.length && buffer.toString('latin1', at + 1, end) === large
      at = end
    } else if (byte === COLON) isValue = true
    else if (byte === COMMA) {
      values++
      isValue = false
    }
    // Setting one bit turns `[` into `{`, and `]` into `}`.
    else if ((byte | 32) === 123) {
      values++
      isValue = false
      if (++depth > MOST_DEPTH) throw tooDeep(param)
    } else if ((byte | 32) === 125) depth--
    if (values > MOST_VALUES) throw tooMany(param)
  }
  if (limit !== undefined && bytes.length - exempt > limit) throw tooLargeBeside(large, limit)
}

/** Place of the quote that ends the string at `start`, or the end of the bytes: searched natively up to the first escape. */
function endOfString(buffer: Buffer, start: number): number {
  const quote = buffer.indexOf(QUOTE, start + 1)
  if (quote === -1) return buffer.length
  if (buffer[quote - 1] !== BACKSLASH) return quote
  let at = start + 1
  while (at < buffer.length && buffer[at] !== QUOTE) at += buffer[at] === BACKSLASH ? 2 : 1
  return at
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
    `The JSON is nested deeper than ${MOST_DEPTH} levels, which no request needs: send the fields as documented`,
    extras(param, { limit_depth: MOST_DEPTH }),
  )

const tooMany = (param?: string) =>
  badRequest(
    `The JSON holds more than ${MOST_VALUES} fields and list elements: send less, or split it into several requests`,
    extras(param, { limit_values: MOST_VALUES }),
  )
