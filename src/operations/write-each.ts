/** Many rows in one write, and one bad row among them never stops the others. */
import { ApiError } from '../errors.ts'
import type { Store, Tx } from '../store/store.ts'

export interface Fault<R> {
  row: R
  error: unknown
}

/**
 * Answers the rows that could not be written, found by halving; all others are. Throws where the database is away or busy:
 * that is no row's fault.
 */
export async function writeEach<R>(
  store: Store,
  rows: readonly R[],
  write: (tx: Tx, rows: readonly R[]) => Promise<void>,
): Promise<Fault<R>[]> {
  if (rows.length === 0) return []
  try {
    await store.write((tx) => write(tx, rows))
    return []
  } catch (error) {
    if (error instanceof ApiError && error.code === 'internal_error') throw error
    await store.ping()
    if (rows.length === 1) return [{ row: rows[0]!, error }]
    const half = Math.floor(rows.length / 2)
    const first = await writeEach(store, rows.slice(0, half), write)
    return [...first, ...(await writeEach(store, rows.slice(half), write))]
  }
}
