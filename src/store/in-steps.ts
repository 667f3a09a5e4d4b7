/** Splits work that grows with a table into bounded writes, so that other writes run in between. */
import { type PrunedTable, publishRemovedRows } from './removed-rows.ts'
import type { Store, Tx } from './store.ts'

/** Number of rows per step, which keeps a commit to some milliseconds. */
export const ROWS_PER_STEP = 500

/** What a step of a removal did, where it is not `limit` rows at the most. */
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
  repeated(async () => removalOf(await store.write((tx) => step(tx, ROWS_PER_STEP))), signals)

/** Works like `inSteps`, and tells of the rows that each commit removed from the table. */
export const removeInSteps = (
  store: Store,
  table: PrunedTable,
  step: Step<number | StepRemoval>,
  ...signals: readonly AbortSignal[]
): Promise<number> =>
  repeated(async () => {
    const removal = removalOf(await store.write((tx) => step(tx, ROWS_PER_STEP)))
    if (removal.removed > 0) publishRemovedRows({ table, rows: removal.removed })
    return removal
  }, signals)

const removalOf = (outcome: number | StepRemoval): StepRemoval =>
  typeof outcome === 'number' ? { used: outcome, removed: outcome } : outcome

async function repeated(run: () => Promise<StepRemoval>, signals: readonly AbortSignal[]): Promise<number> {
  let total = 0
  while (!signals.some(({ aborted }) => aborted)) {
    const { used, removed } = await run()
    total += removed
    if (used < ROWS_PER_STEP) break
  }
  return total
}
