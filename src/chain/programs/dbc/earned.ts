/** Reads what a launch curve has earned since it was created, by the program's own counters. */

import type { PoolConfig, VirtualPool } from '@meteora-ag/dynamic-bonding-curve-sdk'
import { oneTimeAmountsOf } from './one-time-claims.ts'
import { bigintOf } from './program.ts'
import type { CurveEarned } from './types.ts'

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
