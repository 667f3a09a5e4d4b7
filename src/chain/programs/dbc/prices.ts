/** Converts prices of the program, the square root of a price in raw units times 2^64, to decimal text. */
import { ratioText } from '../../../solana/amounts.ts'
import { SOL_DECIMALS } from '../../../solana/constants.ts'

const SIGNIFICANT_DIGITS = 15
const ONE = 1n << 128n

/** Returns the quote for one whole token with 15 significant digits. A mint may claim up to 255 decimals. */
export const dbcPriceText = (sqrtPrice: bigint, decimals: number, quoteDecimals = SOL_DECIMALS): string =>
  ratioText(sqrtPrice * sqrtPrice * 10n ** BigInt(decimals), ONE * 10n ** BigInt(quoteDecimals), SIGNIFICANT_DIGITS)
