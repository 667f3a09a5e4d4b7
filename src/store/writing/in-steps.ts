/** Splits work that grows with a table into writes of a few milliseconds, with pauses for other writes. */

import { channel } from 'node:diagnostics_channel'
import { pause } from '../../platform/timing.ts'
import type { Tables } from '../schema.ts'
import type { Store, Tx } from '../store.ts'

const MOST_ROWS = 500
/** Rows of a first step, and of one whose time is not measured. */
export const ROWS_PER_STEP = 50
const FEWEST_ROWS = 4
/** Longest time of a step in milliseconds; on SQLite nothing else runs meanwhile. */
const STEP_MS = 10

/** Result of a removal step, if it is not at most `limit` rows. */
export interface StepRemoval {
  /** Below the step's limit at the end. */
  used: number
  removed: number
}

type Step<T> = (tx: Tx, limit: number) => Promise<T>

/**
 * Runs `step` until it processes fewer rows than allowed or a signal is aborted; returns the total number of rows. Each
 * step is a separate commit and is not rolled back.
 */
export const inSteps = (store: Store, step: Step<number>, ...signals: readonly AbortSignal[]): Promise<number> =>
  paced(store, step, signals)

/** Works like `inSteps`, and reports the rows that each commit removed from the table. */
export const removeInSteps = (
  store: Store,
  table: PrunedTable,
  step: Step<number | StepRemoval>,
  ...signals: readonly AbortSignal[]
): Promise<number> =>
  paced(store, step, signals, (rows) => {
    if (rows > 0) publishRemovedRows({ table, rows })
  })

async function paced(
  store: Store,
  step: Step<number | StepRemoval>,
  signals: readonly AbortSignal[],
  removedRows: (rows: number) => void = () => {},
): Promise<number> {
  let [total, limit] = [0, ROWS_PER_STEP]
  await withPauses(
    async () => {
      const most = limit
      let begun = 0
      const outcome = await store.write((tx) => {
        // Time spent waiting for other writes does not count.
        begun = performance.now()
        return step(tx, most)
      })
      limit = nextLimit(most, performance.now() - begun)
      const { used, removed } = typeof outcome === 'number' ? { used: outcome, removed: outcome } : outcome
      removedRows(removed)
      total += removed
      return used >= most
    },
    ...signals,
  )
  return total
}

/** Rows of the next step, chosen to take the allowed time; at most twice as many as before. */
export const nextLimit = (limit: number, tookMs: number): number =>
  Math.max(FEWEST_ROWS, Math.min(MOST_ROWS, 2 * limit, Math.floor((limit * STEP_MS) / tookMs)))

/** Runs `step` until it returns false or a signal is aborted, and pauses after each for as long as it took. */
export async function withPauses(step: () => Promise<boolean>, ...signals: readonly AbortSignal[]): Promise<void> {
  while (!signals.some(({ aborted }) => aborted)) {
    const begun = performance.now()
    if (!(await step())) return
    await pause(Math.max(STEP_MS, performance.now() - begun))
  }
}

/** Tables whose old rows are removed; of `transactions` only the bytes are removed, of `proposals` the requests. */
export const PRUNED_TABLES = [
  'console_sessions',
  'assets',
  'audit_entries',
  'events',
  'fee_schedule_runs',
  'holder_snapshots',
  'idempotency_keys',
  'merkle_blobs',
  'pay_requests',
  'proposals',
  'rate_hits',
  'refreshed_messages',
  'signings',
  'transactions',
  'webhook_deliveries',
  'webhook_queue',
] as const satisfies readonly (keyof Tables)[]
export type PrunedTable = (typeof PRUNED_TABLES)[number]

/** Rows that one committed step removed. */
export interface RemovedRows {
  table: PrunedTable
  rows: number
}

const removals = channel('svc.removed-rows')

const publishRemovedRows = (removed: RemovedRows): void => removals.publish(removed)

/** Receives every step's rows until the returned function is called. */
export function onRemovedRows(act: (removed: RemovedRows) => void): () => void {
  const listener = (message: unknown) => act(message as RemovedRows)
  removals.subscribe(listener)
  return () => removals.unsubscribe(listener)
}
