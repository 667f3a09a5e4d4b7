/** Many rows in few writes, and one bad row among them never stops the others. */
import { ApiError } from '../errors.ts'
import { probeWrite } from './settings.ts'
import type { Store, Tx } from './store.ts'

/** What could not be read or written gives way to the others for so long. */
export const FAULTY_MS = 60_000

export interface Fault<R> {
  row: R
  error: unknown
}

/** In one transaction at most: a process that waits for the locks of many would be told that the database is busy. */
const ROWS_PER_WRITE = 64

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
  const faults: Fault<R>[] = []
  for (let from = 0; from < rows.length; from += ROWS_PER_WRITE) {
    if (from > 0) signal?.throwIfAborted()
    faults.push(...(await writeHalves(store, rows.slice(from, from + ROWS_PER_WRITE), write, signal)))
  }
  return faults
}

async function writeHalves<R>(
  store: Store,
  rows: readonly R[],
  write: (tx: Tx, rows: readonly R[]) => Promise<void>,
  signal?: AbortSignal,
): Promise<Fault<R>[]> {
  const failed = await attempt(store, rows, write)
  if (failed === null) return []
  signal?.throwIfAborted()
  if (rows.length === 1) {
    // Its connection may have been cut, and the database be back by now.
    const again = await attempt(store, rows, write)
    return again === null ? [] : [{ row: rows[0]!, error: again.error }]
  }
  const half = Math.floor(rows.length / 2)
  const first = await writeHalves(store, rows.slice(0, half), write, signal)
  signal?.throwIfAborted()
  return [...first, ...(await writeHalves(store, rows.slice(half), write, signal))]
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
