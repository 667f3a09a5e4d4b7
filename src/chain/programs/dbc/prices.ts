/** Prices of the program as decimal text: it keeps the square root of a price in raw units, times 2^64. */

const SIGNIFICANT_DIGITS = 15
const QUOTE_DECIMALS = 9

/** Quote for one whole token, to 15 significant digits, the last one rounded down at the half. */
export function dbcPriceText(sqrtPrice: bigint, decimals: number, quoteDecimals = QUOTE_DECIMALS): string {
  // In raw units the price is sqrt² / 2^128; enough digits are kept that the rounding below is the only one.
  const scale = 60
  const shifted = sqrtPrice * sqrtPrice * 10n ** BigInt(scale + decimals - quoteDecimals)
  return decimalText(shifted >> 128n, scale)
}

/** `digits` / 10^`scale`, without zeros at the end. */
function decimalText(digits: bigint, scale: number): string {
  const excess = digits.toString().length - SIGNIFICANT_DIGITS
  const unit = excess > 0 ? 10n ** BigInt(excess) : 1n
  const rounded = ((digits + unit / 2n) / unit) * unit
  const text = rounded.toString().padStart(scale + 1, '0')
  return `${text.slice(0, -scale)}.${text.slice(-scale)}`.replace(/\.?0+$/, '')
}
