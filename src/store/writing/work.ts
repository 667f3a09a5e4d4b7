/** Runs one unit of work inside a write transaction; both drivers use it. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { WorkerName } from '../../api/worker-names.ts'
import { type ApiError, internal, Overtaken } from '../../platform/errors.ts'
import type { Tx } from '../store.ts'

/** What a work requests for after its commit. */
export interface AfterCommit {
  /** Workers to wake. */
  workers: Set<WorkerName>
  acts: (() => void)[]
}

interface RunningWork {
  /** Ends with the work, so timers and emitters that it created may write later. */
  open: boolean
  after: AfterCommit
}
const current = new AsyncLocalStorage<RunningWork>()

/** Throws when `write` is called inside `write`, which would wait for its own commit. */
export function refuseNestedWrite(): void {
  if (current.getStore()?.open) {
    throw new Error('write() was called inside write(): use the transaction that the work was given')
  }
}

/** Wakes a worker when the running write is committed; a write that is rolled back wakes none. */
export function wakeOnCommit(worker: WorkerName): void {
  current.getStore()?.after.workers.add(worker)
}

/**
 * Calls `act` when the running write is committed, before `write` resolves. A write that is rolled back does not call
 * it. `act` must not throw.
 */
export function onCommit(act: () => void): void {
  current.getStore()?.after.acts.push(act)
}

export const nothingAfter = (): AfterCommit => ({ workers: new Set(), acts: [] })

/** Runs the work, and collects in `after` what it requests for after its commit. */
export async function runWork<T>(tx: Tx, work: (tx: Tx) => Promise<T>, after: AfterCommit): Promise<T> {
  // The work may run again: on PostgreSQL after a conflict, on SQLite if another work of its commit fails.
  after.workers.clear()
  after.acts.length = 0
  const running = { open: true, after }
  try {
    return await current.run(running, work, tx)
  } finally {
    running.open = false
  }
}

/** Error that `write` throws for a duplicate unique key, on either database. */
export function duplicateKey(cause: unknown): ApiError {
  return new Overtaken('a record with this key already exists', { cause })
}

/** Error for a database that another process blocks temporarily. */
export function databaseBusy(cause: unknown, why?: string): ApiError {
  return internal(`database is busy: ${why === undefined ? '' : `${why}; `}try again`, { cause, retryAfter: 1 })
}
