/** Runs one unit of work inside a write transaction; both drivers use it. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { type ApiError, conflict, internal } from '../errors.ts'
import type { Tx } from './store.ts'

/** Context of the running work; `open` ends with it, so that timers and emitters that it created may write later. */
const current = new AsyncLocalStorage<{ open: boolean }>()

/** Throws when `write` is called inside `write`, which would wait for its own commit. */
export function refuseNestedWrite(): void {
  if (current.getStore()?.open) {
    throw new Error('write() was called inside write(): use the transaction that the work was given')
  }
}

export async function runWork<T>(tx: Tx, work: (tx: Tx) => Promise<T>): Promise<T> {
  const running = { open: true }
  try {
    return await current.run(running, () => work(tx))
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
