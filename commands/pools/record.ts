/** Pools and their fees for a terminal, without the raw state of the chain, which is for scripts. */
import type { Pool, PoolFeeMetrics } from '../../src/api/pools.ts'
import { solOf } from '../amounts.ts'
import type { CommandOutcome } from '../command.ts'
import { percentOf } from './state.ts'
import { poolSummary } from './verify.ts'

export function poolOutcome(pool: Pool): CommandOutcome {
  const { quote_mint, created_at, metadata, curve_progress } = pool
  const progress = curve_progress === null ? {} : { curve_progress: percentOf(curve_progress) }
  return { data: pool, record: { ...poolSummary(pool), ...progress, quote_mint, created_at, metadata }, notes: [RAW] }
}

export function metricsOutcome(metrics: PoolFeeMetrics): CommandOutcome {
  const { raw, partner_quote_fee, ...rest } = metrics
  return {
    data: metrics,
    record: { ...rest, partner_quote_fee: `${partner_quote_fee} (${solOf(BigInt(partner_quote_fee))} SOL)` },
    notes: [RAW],
  }
}

const RAW = 'The raw state is in the answer with --json.'
