/** The tracker of a dynamic fee: how far the price moved recently, by the program's arithmetic. */
import type { ConfigParameters } from '@meteora-ag/dynamic-bonding-curve-sdk'
import { MAX_U64 } from '../../../../solana/u64.ts'
import { bigintOf } from '../program.ts'

type DynamicFee = NonNullable<ConfigParameters['poolFees']['dynamicFee']>

const WHOLE_BASIS_POINTS = 10_000n
const ONE_Q64 = MAX_U64 + 1n

/** `VolatilityTracker` of the program; times are in seconds, prices square roots times 2^64. */
export interface Volatility {
  updatedAt: bigint
  sqrtPriceReference: bigint
  accumulator: bigint
  reference: bigint
}

/** Tracker of a pool without a trade. */
export const CALM: Volatility = { updatedAt: 0n, sqrtPriceReference: 0n, accumulator: 0n, reference: 0n }

/** Returns the tracker with which the program begins a trade at `time`. */
export function volatilityBefore(tracker: Volatility, fee: DynamicFee, sqrtPrice: bigint, time: bigint): Volatility {
  const elapsed = time - tracker.updatedAt
  if (elapsed < BigInt(fee.filterPeriod)) return tracker
  const decays = elapsed < BigInt(fee.decayPeriod)
  const reference = decays ? (tracker.accumulator * BigInt(fee.reductionFactor)) / WHOLE_BASIS_POINTS : 0n
  return { ...tracker, sqrtPriceReference: sqrtPrice, reference }
}

/** Returns the tracker after a trade at `time` that moved the price from `before` to `after`. */
export function volatilityAfter(
  tracker: Volatility,
  fee: DynamicFee,
  { before, after, time }: { before: bigint; after: bigint; time: bigint },
): Volatility {
  const step = bigintOf(fee.binStepU128)
  const moved = tracker.reference + binsBetween(step, after, tracker.sqrtPriceReference) * WHOLE_BASIS_POINTS
  const most = BigInt(fee.maxVolatilityAccumulator)
  return {
    ...tracker,
    accumulator: moved < most ? moved : most,
    updatedAt: binsBetween(step, before, after) > 0n ? time : tracker.updatedAt,
  }
}

function binsBetween(step: bigint, a: bigint, b: bigint): bigint {
  const [upper, lower] = a > b ? [a, b] : [b, a]
  return (((upper << 64n) / lower - ONE_Q64) / step) * 2n
}
