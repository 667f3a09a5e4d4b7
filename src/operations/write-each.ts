/** Many rows in one write, and one bad row among them never stops the others. */
import { ApiError } from '../errors.ts'
import { probeWrite } from '../store/settings.ts'
import type { Store, Tx } from '../store/store.ts'

/** What could not be read or written gives way to the others for so long. */
export const FAULTY_MS = 60_000

export interface Fault<R> {
  row: R
  error: unknown
}

/**
 * Answers the rows that could not be written, found by halving; all others are. Throws where the database is away or busy
 * or takes no write at all, which is no row's fault, and between two writes once `signal` is aborted.
 */
export async function writeEach<R>(
  store: Store,
  rows: readonly R[],
  write: (tx: Tx, rows: readonly R[]) => Promise<void>,
  signal?: AbortSignal,
): Promise<Fault<R>[]> {
  if (rows.length === 0) return []
  const failed = await attempt(store, rows, write)
  if (failed === null) return []
  signal?.throwIfAborted()
  if (rows.length === 1) {
    // Its connection may have been cut, and the database be back by now.
    const again = await attempt(store, rows, write)
    return again === null ? [] : [{ row: rows[0]!, error: again.error }]
  }
  const half = Math.floor(rows.length / 2)
  const first = await writeEach(store, rows.slice(0, half), write, signal)
  signal?.throwIfAborted()
  return [...first, ...(await writeEach(store, rows.slice(half), write, signal))]
}

/** Null where they are written, or else why not. */
async function attempt<R>(
  store: Store,
  rows: readonly R[],
  write: (tx: Tx, rows: readonly R[]) => Promise<void>,
): Promise<{ error: unknown } | null> {
  try {
    await store.write((tx) => write(tx, rows))
    return null
  } catch (error) {
    if (error instanceof ApiError && error.code === 'internal_error') throw error
    await store.write(probeWrite)
    return { error }
  }
}
