/** Amounts between two prices of a launch curve in whole raw units, rounded as the program rounds them. */
import { divideUp } from '../migrating-amounts.ts'

/** A part of the curve, from its lower to its upper price: square roots times 2^64. */
export interface CurvePart {
  from: bigint
  to: bigint
  liquidity: bigint
}

/** Raw units of the quote between two prices, rounded up. */
export const quoteOfLiquidity = (liquidity: bigint, from: bigint, to: bigint): bigint =>
  divideUp(liquidity * (to - from), 1n << 128n)

/** Raw units of the token between two prices, rounded up. */
export const baseOfLiquidity = (liquidity: bigint, from: bigint, to: bigint): bigint =>
  divideUp(liquidity * (to - from), from * to)

/** The liquidity that an amount of the quote makes between two prices, rounded down. */
export const liquidityOfQuote = (quote: bigint, from: bigint, to: bigint): bigint => (quote << 128n) / (to - from)

/** The liquidity that an amount of the token makes between two prices, rounded down. */
export const liquidityOfBase = (base: bigint, from: bigint, to: bigint): bigint => (base * from * to) / (to - from)

/** Sums amounts over the parts of the curve between two prices; each part is rounded up. */
export function amountBetween(
  parts: readonly CurvePart[],
  from: bigint,
  to: bigint,
  amountOf: (liquidity: bigint, from: bigint, to: bigint) => bigint,
): bigint {
  let sum = 0n
  for (const part of parts) {
    const [low, high] = [part.from > from ? part.from : from, part.to < to ? part.to : to]
    if (high > low && part.liquidity > 0n) sum += amountOf(part.liquidity, low, high)
  }
  return sum
}
