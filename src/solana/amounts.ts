/** Amounts as decimal text, exactly. */
import { SOL_DECIMALS } from './constants.ts'

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

/** Lamports for a sentence: `1,234.5 SOL`. */
export const solText = (lamports: bigint | string): string => `${groupedDecimalOf(BigInt(lamports), SOL_DECIMALS)} SOL`
