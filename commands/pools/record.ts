/** Pools, fees and tables of them for a person: everything but the raw state of the chain, which is for scripts. */
import type { Pool, PoolFeeMetrics } from '../../src/api/pools.ts'
import { solOf } from '../amounts.ts'
import type { Outcome } from '../command.ts'
import { cleaned } from '../ui/render.ts'
import { summaryOf } from './verify.ts'

export function poolOutcome(pool: Pool): Outcome {
  const { quote_mint, created_at, metadata } = pool
  return { data: pool, text: recordText({ ...summaryOf(pool), quote_mint, created_at, metadata }), notes: [RAW] }
}

export function metricsOutcome(metrics: PoolFeeMetrics): Outcome {
  const { raw, partner_quote_fee, ...rest } = metrics
  const shown = { ...rest, partner_quote_fee: `${partner_quote_fee} (${solOf(BigInt(partner_quote_fee))} SOL)` }
  return { data: metrics, text: recordText(shown), notes: [RAW] }
}

/** Columns as wide as what is in them. */
export function tableText(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [heading, ...rows]
  const widths = heading.map((_, i) => Math.max(...all.map((row) => row[i]!.length)))
  return all
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

const RAW = 'The raw state is in the answer with --json.'

function recordText(record: Record<string, unknown>): string {
  const width = Math.max(...Object.keys(record).map(({ length }) => length))
  return Object.entries(record)
    .map(([name, value]) => `${name.replaceAll('_', ' ').toUpperCase().padEnd(width)}  ${textOf(value)}`)
    .join('\n')
}

const textOf = (value: unknown) =>
  value === null || value === undefined
    ? '-'
    : cleaned(typeof value === 'object' ? JSON.stringify(value) : String(value))
