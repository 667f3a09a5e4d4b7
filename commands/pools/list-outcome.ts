/** The result of every row of a list of launches, and of its rehearsal. */
import type { PoolRehearsal } from '../../src/api/pool-rehearsals.ts'
import { solCell, solOf } from '../cli/amounts.ts'
import type { CommandOutcome } from '../cli/command.ts'
import { rowsOutcome } from '../lists/outcome.ts'
import { EXIT } from '../ui/problem.ts'
import type { LaunchedEntry } from './list-journal.ts'
import type { LaunchRow } from './list-rows.ts'
import { reasonLines } from './rehearse.ts'

export interface PlannedRow {
  row: LaunchRow
  /** What the journal knows of it. */
  entry: LaunchedEntry | null
  status: 'to launch' | 'launched' | 'launched already' | 'unknown' | 'failed'
  error: string | null
}

export const launchListOutcome = (
  rows: readonly PlannedRow[],
  { file, journal }: { file: string; journal: string },
  notes: readonly string[],
): CommandOutcome =>
  rowsOutcome({
    rows,
    journal,
    statuses: ['launched', 'launched already', 'to launch', 'unknown', 'failed'],
    records: [
      'pools',
      ({ row: { line, fields }, entry, status, error }) => ({
        line,
        name: fields.name,
        symbol: fields.symbol,
        pool: entry?.pool ?? null,
        mint: entry?.mint ?? null,
        status,
        error,
      }),
    ],
    columns: ['line', 'symbol', 'pool', 'status'],
    cells: ({ row, entry, status }) => [row.line, row.fields.symbol, entry?.pool ?? null, status],
    noteOf: ({ row, error }) => (error === null ? null : `${file}:${row.line}:1: ${error}`),
    isLong: false,
    notes,
  })

export function rehearsedListOutcome(done: readonly { row: LaunchRow; report: PoolRehearsal }[]): CommandOutcome {
  const cost = done.reduce((sum, { report }) => sum + BigInt(report.cost.total), 0n)
  const failed = done.filter(({ report }) => !report.succeeded)
  const cells = done.map(({ row, report }) => [
    row.line,
    row.fields.symbol,
    report.preset,
    report.succeeded ? 'done' : 'failed',
    solCell(report.cost.total),
  ])
  return {
    data: {
      total: done.length,
      failed: failed.length,
      cost: String(cost),
      rehearsals: done.map(({ row, report }) => ({ line: row.line, ...report })),
    },
    rows: { columns: ['line', 'symbol', 'preset', 'status', 'cost_sol'], rows: cells },
    notes: [
      ...failed.flatMap(({ row, report }) => reasonLines(report.steps).map((line) => `${row.fields.symbol}: ${line}`)),
      `The launches take ${solOf(cost)} SOL in all. Each was run on a copy of the cluster: nothing was signed, sent or stored.`,
    ],
    exitCode: failed.length === 0 ? EXIT.done : EXIT.failed,
  }
}
