/** Runs one unit of work inside a write transaction; both drivers use it. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { WorkerName } from '../api/service.ts'
import { type ApiError, conflict, internal } from '../errors.ts'
import type { Tx } from './store.ts'

interface RunningWork {
  /** Ends with the work, so that timers and emitters that it created may write later. */
  open: boolean
  /** Workers to wake after the commit. */
  workers: Set<WorkerName>
}
const current = new AsyncLocalStorage<RunningWork>()

/** Throws when `write` is called inside `write`, which would wait for its own commit. */
export function refuseNestedWrite(): void {
  if (current.getStore()?.open) {
    throw new Error('write() was called inside write(): use the transaction that the work was given')
  }
}

/** Wakes a worker as soon as the running write is committed; a write that is rolled back wakes nobody. */
export function wakeOnCommit(worker: WorkerName): void {
  current.getStore()?.workers.add(worker)
}

/** Runs the work and leaves in `workers` those that it wants to wake. */
export async function runWork<T>(tx: Tx, work: (tx: Tx) => Promise<T>, workers: Set<WorkerName>): Promise<T> {
  // PostgreSQL may run the work again after a conflict.
  workers.clear()
  const running = { open: true, workers }
  try {
    return await current.run(running, work, tx)
  } finally {
    running.open = false
  }
}

/** Error that `write` throws for a duplicate unique key on either database. */
export function duplicateKey(cause: unknown): ApiError {
  return conflict('a record with this key exists already', { cause })
}

/** Error for a database that another process blocks temporarily. */
export function databaseBusy(cause: unknown, why?: string): ApiError {
  return internal(`database is busy: ${why === undefined ? '' : `${why}; `}try again`, { cause, retryAfter: 1 })
}
