/** Amounts between two prices of a launch curve, in whole raw units rounded up, by the SDK's arithmetic. */
import { bigintOf, type Dbc } from '../program.ts'

/** A part of the curve, from its lower to its upper price: square roots times 2^64. */
export interface CurvePart {
  from: bigint
  to: bigint
  liquidity: bigint
}

/** Returns the raw units of one side between two prices. */
export function amountOf({ sdk, bn }: Dbc, side: 'base' | 'quote', { from, to, liquidity }: CurvePart): bigint {
  const delta = side === 'base' ? sdk.getDeltaAmountBaseUnsigned : sdk.getDeltaAmountQuoteUnsigned
  return bigintOf(delta(bn(from), bn(to), bn(liquidity), sdk.Rounding.Up))
}

/** Sums amounts over the parts of the curve between two prices; each part is rounded up. */
export function amountBetween(
  dbc: Dbc,
  side: 'base' | 'quote',
  parts: readonly CurvePart[],
  from: bigint,
  to: bigint,
): bigint {
  let sum = 0n
  for (const part of parts) {
    const [low, high] = [part.from > from ? part.from : from, part.to < to ? part.to : to]
    if (high > low) sum += amountOf(dbc, side, { from: low, to: high, liquidity: part.liquidity })
  }
  return sum
}
