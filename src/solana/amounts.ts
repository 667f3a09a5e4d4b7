/** Amounts as decimal text, exactly. */
import { SOL_DECIMALS } from './constants.ts'
import { WRAPPED_SOL } from './program-ids.ts'

/** Raw units as decimal text without trailing zeros, as programs read it. */
export function decimalOf(raw: bigint, digits: number): string {
  if (raw < 0n) return `-${decimalOf(-raw, digits)}`
  const text = raw.toString().padStart(digits + 1, '0')
  const fraction = text.slice(text.length - digits).replace(/0+$/, '')
  return `${text.slice(0, text.length - digits)}${fraction === '' ? '' : `.${fraction}`}`
}

/** The same with thousands separators, as people read it. */
export const groupedDecimalOf = (raw: bigint, digits: number): string => groupedText(decimalOf(raw, digits))

/** Decimal text with thousands separators. */
export function groupedText(text: string): string {
  const [whole = '', fraction] = text.split('.')
  return `${whole.replace(/\B(?=(\d{3})+$)/g, ',')}${fraction === undefined ? '' : `.${fraction}`}`
}

/** A ratio as decimal text with this many significant digits, of which the last one is rounded; 0 by nothing. */
export function ratioText(above: bigint, below: bigint, digits: number): string {
  if (above <= 0n || below <= 0n) return '0'
  const places = above < below ? digits + String(below / above).length - 1 : digits - String(above / below).length
  const [up, unit] = places < 0 ? [1n, 10n ** BigInt(-places)] : [10n ** BigInt(places), 1n]
  const rounded = (2n * above * up + below * unit) / (2n * below * unit)
  return decimalOf(rounded * unit, Math.max(places, 0))
}

/** Lamports for a sentence: `1,234.5 SOL`. */
export const solText = (lamports: bigint | string): string => `${groupedDecimalOf(BigInt(lamports), SOL_DECIMALS)} SOL`

/**
 * An amount of a mint for a sentence: SOL if it is wrapped, whole tokens if the decimals are known, otherwise raw units,
 * which are called so. A null mint is SOL.
 */
export function tokenText(
  mint: string | null | undefined,
  raw: bigint | string,
  decimals?: number | undefined,
): string {
  if (mint === null || mint === undefined || mint === WRAPPED_SOL) return solText(raw)
  if (decimals === undefined) return `${groupedDecimalOf(BigInt(raw), 0)} raw units of ${mint}`
  return `${groupedDecimalOf(BigInt(raw), decimals)} of ${mint}`
}
