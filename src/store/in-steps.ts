/** Splits work that grows with a table into bounded writes, so that other writes run in between. */
import type { Store, Tx } from './store.ts'

/** Number of rows per step, which keeps a commit to some milliseconds. */
export const ROWS_PER_STEP = 500

/**
 * Runs `step` until it processes fewer rows than allowed or a signal is aborted; returns the total number of rows. Each
 * step is a separate commit and is not rolled back.
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
