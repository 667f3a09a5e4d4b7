/** The result of every row of a list of launches, and of its rehearsal. */
import type { PoolRehearsal } from '../../src/api/pool-rehearsals.ts'
import { solOf } from '../amounts.ts'
import type { CommandOutcome } from '../command.ts'
import { EXIT } from '../ui/problem.ts'
import type { LaunchedEntry } from './list-journal.ts'
import type { LaunchRow } from './list-rows.ts'
import { reasonLines } from './rehearse.ts'

export interface PlannedRow {
  row: LaunchRow
  /** What the journal knows of it. */
  entry: LaunchedEntry | null
  status: 'to launch' | 'launched' | 'launched already' | 'failed'
  error: string | null
}

export function launchListOutcome(
  rows: readonly PlannedRow[],
  { file, journal }: { file: string; journal: string },
  notes: readonly string[] = [],
): CommandOutcome {
  const count = (status: PlannedRow['status']) => rows.filter((row) => row.status === status).length
  const [launched, already, left, failed] = [
    count('launched'),
    count('launched already'),
    count('to launch'),
    count('failed'),
  ]
  const parts = [
    `${launched} launched`,
    ...(already === 0 ? [] : [`${already} launched already`]),
    ...(left === 0 ? [] : [`${left} to launch`]),
    ...(failed === 0 ? [] : [`${failed} failed: run the same command again for what is left`]),
  ]
  return {
    data: {
      journal,
      total: rows.length,
      launched,
      launched_already: already,
      to_launch: left,
      failed,
      pools: rows.map(({ row, entry, status, error }) => ({
        line: row.line,
        name: row.fields.name,
        symbol: row.fields.symbol,
        pool: entry?.pool ?? null,
        mint: entry?.mint ?? null,
        status,
        error,
      })),
    },
    rows: {
      columns: ['line', 'symbol', 'pool', 'status'],
      rows: rows.map(({ row, entry, status }) => [row.line, row.fields.symbol, entry?.pool ?? null, status]),
    },
    notes: [
      ...rows.flatMap(({ row, error }) => (error === null ? [] : [`${file}:${row.line}:1: ${error}`])),
      `${parts.join(', ')} of ${rows.length}. Journal: ${journal}`,
      ...notes,
    ],
    exitCode: failed === 0 ? EXIT.done : EXIT.failed,
  }
}

export function rehearsedListOutcome(done: readonly { row: LaunchRow; report: PoolRehearsal }[]): CommandOutcome {
  const cost = done.reduce((sum, { report }) => sum + BigInt(report.cost.total), 0n)
  const failed = done.filter(({ report }) => !report.succeeded)
  const cells = done.map(({ row, report }) => [
    row.line,
    row.fields.symbol,
    report.preset,
    report.succeeded ? 'done' : 'failed',
    `${solOf(BigInt(report.cost.total))} SOL`,
  ])
  return {
    data: {
      total: done.length,
      failed: failed.length,
      cost: String(cost),
      rehearsals: done.map(({ row, report }) => ({ line: row.line, ...report })),
    },
    rows: { columns: ['line', 'symbol', 'preset', 'status', 'cost'], rows: cells },
    notes: [
      ...failed.flatMap(({ row, report }) => reasonLines(report.steps).map((line) => `${row.fields.symbol}: ${line}`)),
      `The launches take ${solOf(cost)} SOL in all. Each was run on a copy of the cluster: nothing was signed, sent or stored.`,
    ],
    exitCode: failed.length === 0 ? EXIT.done : EXIT.failed,
  }
}
