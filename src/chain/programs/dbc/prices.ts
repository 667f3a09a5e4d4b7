/** Converts prices of the program, the square root of a price in raw units times 2^64, to decimal text. */

const SIGNIFICANT_DIGITS = 15
const QUOTE_DECIMALS = 9

/** Returns the quote for one whole token with 15 significant digits, the last one rounded down at the half. */
export function dbcPriceText(sqrtPrice: bigint, decimals: number, quoteDecimals = QUOTE_DECIMALS): string {
  // In raw units the price is sqrt² / 2^128. The scale keeps enough digits that only the rounding below applies.
  // A mint may claim up to 255 decimals.
  const scale = Math.max(60, quoteDecimals)
  const shifted = sqrtPrice * sqrtPrice * 10n ** BigInt(scale + decimals - quoteDecimals)
  return decimalText(shifted >> 128n, scale)
}

/** Formats `digits` / 10^`scale` without trailing zeros. */
function decimalText(digits: bigint, scale: number): string {
  const excess = digits.toString().length - SIGNIFICANT_DIGITS
  const unit = excess > 0 ? 10n ** BigInt(excess) : 1n
  const rounded = ((digits + unit / 2n) / unit) * unit
  const text = rounded.toString().padStart(scale + 1, '0')
  return `${text.slice(0, -scale)}.${text.slice(-scale)}`.replace(/\.?0+$/, '')
}
