/** Work that grows with a table, done in bounded writes between which everybody else's come in. */
import type { Store, Tx } from './store.ts'

/** Rows of one step: some milliseconds of one commit. */
export const ROWS_PER_STEP = 500

/**
 * Runs `step` until it finds less than it may take, or one of the signals is aborted; answers how many rows that were.
 * Each step is a commit of its own: what is done stays done.
 */
export async function inSteps(
  store: Store,
  step: (tx: Tx, limit: number) => Promise<number>,
  ...signals: readonly AbortSignal[]
): Promise<number> {
  let total = 0
  while (!signals.some(({ aborted }) => aborted)) {
    const count = await store.write((tx) => step(tx, ROWS_PER_STEP))
    total += count
    if (count < ROWS_PER_STEP) break
  }
  return total
}
