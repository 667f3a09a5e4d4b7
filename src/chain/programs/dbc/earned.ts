/** Reads what a launch curve has earned since its beginning, by the program's own counters. */
import type { PoolConfig, VirtualPool } from '@meteora-ag/dynamic-bonding-curve-sdk'
import { type OneTimeAmounts, oneTimeAmountsOf } from './one-time-claims.ts'
import { bigintOf } from './program.ts'

/** Raw units of the two tokens of a curve. */
export interface QuoteAndBase {
  quote: bigint
  base: bigint
}

export interface CurveEarned extends OneTimeAmounts {
  /** Trading fees of partner and creator together, claimed ones included. Each trade is rounded for itself. */
  tradingFees: QuoteAndBase
  /** Meteora's trading fees, claimed ones included. */
  protocolFees: QuoteAndBase
  /** The creator's percentage of the trading fees. */
  creatorPercentage: number
  /** What Meteora keeps of what migrates. */
  protocolMigration: QuoteAndBase
  protocolTookSurplus: boolean
}

export function earnedOf(pool: VirtualPool, config: PoolConfig): CurveEarned {
  const { metrics, ...state } = pool.poolState
  return {
    ...oneTimeAmountsOf(pool, config),
    tradingFees: { quote: bigintOf(metrics.totalTradingQuoteFee), base: bigintOf(metrics.totalTradingBaseFee) },
    protocolFees: { quote: bigintOf(metrics.totalProtocolQuoteFee), base: bigintOf(metrics.totalProtocolBaseFee) },
    creatorPercentage: config.creatorTradingFeePercentage,
    protocolMigration: {
      quote: bigintOf(state.protocolMigrationQuoteFeeAmount),
      base: bigintOf(state.protocolMigrationBaseFeeAmount),
    },
    protocolTookSurplus: state.isProtocolWithdrawSurplus === 1,
  }
}
