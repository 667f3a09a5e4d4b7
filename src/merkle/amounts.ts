/** Exact conversion of decimal text to u64 base units without floats or rounding; amounts are written little-endian into a record. */

import { MAX_U64 } from '../solana/u64.ts'

/** Largest `decimals` accepted in the body that creates a tree. */
export const MAX_DECIMALS = 18

/** Status of reading an amount. */
export const AMOUNT_STATUS = { ok: 0, syntax: 1, overflow: 2, fraction: 3, negative: 4, unsafe: 5 } as const
export type AmountStatus = (typeof AMOUNT_STATUS)[keyof typeof AMOUNT_STATUS]

const TWO_32 = 4294967296
const POINT = 46
const ZERO = 48
const POWERS = Array.from({ length: 16 }, (_, k) => 10 ** k)

/** Writes a u64 given as two 32-bit halves, little-endian. */
function writeU64Halves(out: Uint8Array, at: number, high: number, low: number): void {
  out[at] = low
  out[at + 1] = low >>> 8
  out[at + 2] = low >>> 16
  out[at + 3] = low >>> 24
  out[at + 4] = high
  out[at + 5] = high >>> 8
  out[at + 6] = high >>> 16
  out[at + 7] = high >>> 24
}

/**
 * Reads `digits` or, when `decimals` is given, `digits[.digits]` from ASCII `source[start, end)`, scales by
 * 10^decimals and writes base units as u64 LE at `out[at]`. More fractional digits than decimals is `fraction`; zeros beyond
 * them do not count.
 */
export function readAmount(
  source: Uint8Array,
  start: number,
  end: number,
  decimals: number | undefined,
  out: Uint8Array,
  at: number,
): AmountStatus {
  const scale = decimals ?? 0
  let point = -1
  let small = 0
  for (let i = start; i < end; i++) {
    const digit = (source[i] ?? 0) - 48
    if (digit >= 0 && digit <= 9) {
      small = small * 10 + digit
    } else if (source[i] === POINT && point < 0 && decimals !== undefined) {
      point = i
    } else return AMOUNT_STATUS.syntax
  }
  const fraction = point < 0 ? 0 : end - point - 1
  const whole = (point < 0 ? end : point) - start
  if (whole === 0 || (point >= 0 && fraction === 0)) return AMOUNT_STATUS.syntax
  if (fraction > scale) {
    const kept = scale === 0 ? point : point + 1 + scale
    for (let i = point + 1 + scale; i < end; i++) if (source[i] !== ZERO) return AMOUNT_STATUS.fraction
    return readAmount(source, start, kept, decimals, out, at)
  }
  if (whole + scale <= 15) {
    const value = small * (POWERS[scale - fraction] ?? 0)
    const low = value >>> 0
    writeU64Halves(out, at, (value - low) / TWO_32, low)
    return AMOUNT_STATUS.ok
  }
  let high = 0
  let low = 0
  for (let i = start; i < end + scale - fraction; i++) {
    if (i === point) continue
    low = low * 10 + (i < end ? (source[i] ?? 0) - 48 : 0)
    const carry = Math.floor(low / TWO_32)
    low -= carry * TWO_32
    high = high * 10 + carry
    if (high >= TWO_32) return AMOUNT_STATUS.overflow
  }
  writeU64Halves(out, at, high, low)
  return AMOUNT_STATUS.ok
}

const digitBytes = new Uint8Array(32)

/**
 * Reads a JSON number by its exact decimal value (`1e-7` is 0.0000001, `1.0` is 1), scaled by 10^decimals.
 * Without decimals it must be a safe integer (at most 2^53 - 1), because clients hold JSON numbers as doubles.
 */
export function readJsonNumber(
  source: Uint8Array,
  start: number,
  end: number,
  decimals: number | undefined,
  out: Uint8Array,
  at: number,
): AmountStatus {
  if (source[start] === 45) return AMOUNT_STATUS.negative
  if (decimals !== undefined) {
    const plain = readAmount(source, start, end, decimals, out, at)
    if (plain === AMOUNT_STATUS.ok || plain === AMOUNT_STATUS.overflow) return plain
  }
  let text = ''
  for (let i = start; i < end; i++) text += String.fromCharCode(source[i] ?? 0)
  const [mantissa = '', exponentText] = text.toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const significant = (whole + fraction).replace(/^0+/, '')
  // The zeros are removed with a loop, because a pattern anchored at the end would take quadratic time on runs of
  // zeros.
  let last = significant.length
  while (significant[last - 1] === '0') last--
  const digits = significant.slice(0, last)
  if (digits === '') {
    writeU64Halves(out, at, 0, 0)
    return AMOUNT_STATUS.ok
  }
  const zeros = significant.length - digits.length
  const exponent = Number(exponentText ?? 0) - fraction.length + zeros + (decimals ?? 0)
  if (exponent < 0) return AMOUNT_STATUS.fraction
  if (digits.length + exponent > 20) return decimals === undefined ? AMOUNT_STATUS.unsafe : AMOUNT_STATUS.overflow
  const scaled = digits + '0'.repeat(exponent)
  if (decimals === undefined && BigInt(scaled) > BigInt(Number.MAX_SAFE_INTEGER)) return AMOUNT_STATUS.unsafe
  for (let i = 0; i < scaled.length; i++) digitBytes[i] = scaled.charCodeAt(i)
  return readAmount(digitBytes, 0, scaled.length, undefined, out, at)
}

/** Reads the u64 LE at `source[at]`. Throws RangeError when the bytes end before it does. */
export function amountFrom(source: Uint8Array, at: number): bigint {
  if (at + 8 > source.length) throw new RangeError(`no amount at byte ${at} of ${source.length}`)
  const low =
    (source[at] ?? 0) + (source[at + 1] ?? 0) * 256 + (source[at + 2] ?? 0) * 65536 + (source[at + 3] ?? 0) * 16777216
  const high =
    (source[at + 4] ?? 0) +
    (source[at + 5] ?? 0) * 256 +
    (source[at + 6] ?? 0) * 65536 +
    (source[at + 7] ?? 0) * 16777216
  return high === 0 ? BigInt(low) : (BigInt(high) << 32n) | BigInt(low)
}

/** Writes `amount` (0 to 2^64 - 1) as u64 LE. Throws RangeError for any other amount. */
export function writeAmount(out: Uint8Array, at: number, amount: bigint): void {
  if (amount < 0n || amount > MAX_U64) throw new RangeError(`amount ${amount} is not a u64 (0 to ${MAX_U64})`)
  writeU64Halves(out, at, Number(amount >> 32n), Number(amount & 0xffffffffn))
}
