/** One unit of work inside a write transaction, as both drivers run it. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { type ApiError, conflict, internal } from '../errors.ts'
import type { Tx } from './store.ts'

/** `open` ends with the work, so that what it left behind (a timer, an emitter) may write again later. */
const current = new AsyncLocalStorage<{ open: boolean }>()

/** Throws where `write` is called by a work that is itself being written: it would wait for its own commit. */
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

/** What `write` throws where a unique key is taken, whatever the driver calls it. */
export function duplicateKey(cause: unknown): ApiError {
  return conflict('a record with this key exists already', { cause })
}

/** Another process is in the way, and will not be for long. */
export function databaseBusy(cause: unknown, why?: string): ApiError {
  return internal(`database is busy: ${why === undefined ? '' : `${why}; `}try again`, { cause, retryAfter: 1 })
}
