/** Interface of the store: Kysely for either database, and `write` as the only way to write. */
import type { Kysely, Transaction } from 'kysely'
import type { WorkerName } from '../api/worker-names.ts'
import type { Log } from '../platform/log.ts'
import type { StoreFault } from './faults.ts'
import type { PoolUsage } from './postgres/gate.ts'
import type { Tables } from './schema.ts'

/** Any connection for reading: the store's own or an open transaction. */
export type Reader = Kysely<Tables>
/** An open write transaction; only `Store.write` creates one. */
export type Tx = Transaction<Tables>

interface StoreFigures {
  databaseBytes: number
  /** Bytes of the write-ahead log; null if the server keeps it. */
  walBytes: number | null
}

/** How long opening waits for a database that cannot be reached yet. */
export interface Waiting {
  ms: number
  /** Called once, when the wait begins. */
  onWaiting(): void
}

/** Called before migrations are applied to a database that is not new, even if another process applies them. */
export type OnMigrating = (pending: readonly string[]) => void

/** Called after migrations of a database that was not new; `copy` is the file with the state before them. */
export type OnMigrated = (report: { applied: readonly string[]; copy: string | null }) => void

/**
 * Called with the name of the worker to wake, which may be unknown here. Null means every worker, because wake-ups may
 * have been missed.
 */
export type OnWake = (worker: string | null) => void

export interface Wakeups {
  /**
   * Wakes a worker in whichever process runs it; its work must be committed before. Never throws: a lost wake-up only
   * means a wait for the next poll.
   */
  send(worker: WorkerName): void
  /** Resolves with a function that stops listening, once wake-ups of every process arrive. */
  listen(onWake: OnWake, log: Log): Promise<() => Promise<void>>
}

interface WriteOptions {
  /** The work changes nothing that an answer shows, such as counts of requests, so cached answers stay valid. */
  isUnseen?: boolean
}

export interface Store {
  readonly kind: 'sqlite' | 'postgres'
  /** Connection for reads outside a transaction; writes through it fail. */
  readonly db: Reader
  /**
   * Runs `work` in a transaction and resolves once it is durable. `work` may await only that transaction, because
   * SQLite commits concurrent writes together. It may be rolled back and run again: on PostgreSQL after a conflict, on
   * SQLite if another work of the same commit fails. A duplicate unique key throws `Overtaken`.
   */
  write<T>(work: (tx: Tx) => Promise<T>, options?: WriteOptions): Promise<T>
  /** Wake-ups of workers in this process and, on PostgreSQL, in all processes. */
  readonly wakeups: Wakeups
  /**
   * The same store on connections reserved for the workers and the readiness check. They keep running if requests use
   * up the pool. SQLite has no pool and reserves nothing.
   */
  readonly reserved?: { readonly workers: Store; readonly readiness: Store }
  /** Use of the pool's connections; undefined on SQLite. */
  poolUsage?(): PoolUsage
  /** Gives some space of removed rows back to the file system in its own commit; false if no more can be given back. */
  reclaim(): Promise<boolean>
  /** Throws when the database does not respond. */
  ping(): Promise<void>
  /** Sizes of the database. */
  measure(): Promise<StoreFigures>
  /** Fault of the whole database according to the last write and all reads; null when there is none. */
  fault(): StoreFault | null
  close(): Promise<void>
}
