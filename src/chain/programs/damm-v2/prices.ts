/** Converts prices of cp_amm: the square root of raw B for one raw A, times 2^64. */
import { squareRoot } from '../../../solana/square-root.ts'

const Q64 = 64n
/** Significant digits of a price as text. Square roots of low prices have no more precision. */
const PRICE_DIGITS = 12n

/** Returns the price, rounded down, at which `of` raw units of B buy `supply` raw units of A. */
export function dammV2SqrtPrice(of: bigint, supply: bigint): bigint {
  return squareRoot((of << (2n * Q64)) / supply)
}

/** Returns whole B for one whole A, as decimal text of at most twelve significant digits. */
export function dammV2PriceText(sqrtPrice: bigint, decimalsA: number, decimalsB: number): string {
  const numerator = sqrtPrice * sqrtPrice * 10n ** BigInt(decimalsA)
  const denominator = (1n << (2n * Q64)) * 10n ** BigInt(decimalsB)
  if (numerator === 0n) return '0'
  // The first pass finds the magnitude of the price, and the second has the digits.
  let shift = BigInt(denominator.toString().length - numerator.toString().length) + PRICE_DIGITS
  const rounded = () => {
    const [up, down] = shift >= 0n ? [10n ** shift, 1n] : [1n, 10n ** -shift]
    return (2n * numerator * up + denominator * down) / (2n * denominator * down)
  }
  shift -= BigInt(rounded().toString().length) - PRICE_DIGITS
  const digits = rounded()
  if (shift <= 0n) return (digits * 10n ** -shift).toString()
  const text = digits.toString().padStart(Number(shift) + 1, '0')
  const [whole, part] = [text.slice(0, -Number(shift)), text.slice(-Number(shift)).replace(/0+$/, '')]
  return part === '' ? whole : `${whole}.${part}`
}
