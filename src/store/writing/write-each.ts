/** Writes many rows in few transactions; a row that cannot be written does not stop the others. */
import { ApiError } from '../../platform/errors.ts'
import { probeWrite } from '../settings.ts'
import type { Store, Tx } from '../store.ts'

/** Milliseconds for which a row that could not be read or written is skipped. */
export const FAULTY_ROW_WAIT_MS = 60_000

/** A row that could not be written, and why. */
export interface RowFault<R> {
  row: R
  error: unknown
}

/** Rows of one transaction; with more, a process that waits for their locks could fail with "database is busy". */
const ROWS_PER_WRITE = 64

type WriteRows<R> = (tx: Tx, rows: readonly R[]) => Promise<void>

/**
 * Writes all rows except the faulty ones, which it finds by bisection and returns. Throws if the database is
 * unavailable, busy or rejects all writes, or if `signal` is aborted between two writes.
 */
export async function writeEach<R>(
  store: Store,
  rows: readonly R[],
  write: WriteRows<R>,
  signal?: AbortSignal,
): Promise<RowFault<R>[]> {
  const faults: RowFault<R>[] = []
  for (let from = 0; from < rows.length; from += ROWS_PER_WRITE) {
    if (from > 0) signal?.throwIfAborted()
    faults.push(...(await writeHalves(store, rows.slice(from, from + ROWS_PER_WRITE), write, signal)))
  }
  return faults
}

async function writeHalves<R>(
  store: Store,
  rows: readonly R[],
  write: WriteRows<R>,
  signal?: AbortSignal,
): Promise<RowFault<R>[]> {
  const failure = await tryWrite(store, rows, write)
  if (failure === null) return []
  signal?.throwIfAborted()
  const [first, ...others] = rows
  if (first === undefined) return []
  if (others.length === 0) {
    // The failure may have been a lost connection, and the database may be available again.
    const retried = await tryWrite(store, rows, write)
    return retried === null ? [] : [{ row: first, error: retried.error }]
  }
  const half = Math.floor(rows.length / 2)
  const faults = await writeHalves(store, rows.slice(0, half), write, signal)
  signal?.throwIfAborted()
  return [...faults, ...(await writeHalves(store, rows.slice(half), write, signal))]
}

/** Returns null if the rows are written, and the error otherwise. */
async function tryWrite<R>(store: Store, rows: readonly R[], write: WriteRows<R>): Promise<{ error: unknown } | null> {
  try {
    await store.write((tx) => write(tx, rows))
    return null
  } catch (error) {
    if (error instanceof ApiError && error.code === 'internal_error') throw error
    await store.write(probeWrite)
    return { error }
  }
}
