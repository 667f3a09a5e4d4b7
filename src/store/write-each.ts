/** Writes many rows in few transactions; a row that cannot be written never stops the others. */
import { ApiError } from '../errors.ts'
import { probeWrite } from './settings.ts'
import type { Store, Tx } from './store.ts'

/** How long a row that could not be read or written gives way to the others, in milliseconds. */
export const FAULTY_ROW_WAIT_MS = 60_000

/** A row that could not be written, and why. */
export interface RowFault<R> {
  row: R
  error: unknown
}

/** Rows of one transaction: a process that waits for the locks of more would fail with "database is busy". */
const ROWS_PER_WRITE = 64

type WriteRows<R> = (tx: Tx, rows: readonly R[]) => Promise<void>

/**
 * Writes all rows but those that cannot be, which it finds by halving and answers. Throws where the database is away or
 * busy or takes no write at all, which is no row's fault, and between two writes once `signal` is aborted.
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
    // The failure may have been a cut connection, and the database may be back by now.
    const retried = await tryWrite(store, rows, write)
    return retried === null ? [] : [{ row: first, error: retried.error }]
  }
  const half = Math.floor(rows.length / 2)
  const faults = await writeHalves(store, rows.slice(0, half), write, signal)
  signal?.throwIfAborted()
  return [...faults, ...(await writeHalves(store, rows.slice(half), write, signal))]
}

/** Null where the rows are written, or else why they are not. */
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
