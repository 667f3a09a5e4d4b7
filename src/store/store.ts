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

export interface StoreFigures {
  databaseBytes: number
  /** Bytes of the write-ahead log; null where it belongs to the server. */
  walBytes: number | null
}

/** Called before migrations are applied to a database that is not new, also where another process applies them. */
export type OnMigrating = (pending: readonly string[]) => void

/** Called after migrations were applied to a database that was not new; `copy` is the file with its state before. */
export type OnMigrated = (report: { applied: readonly string[]; copy: string | null }) => void

/**
 * Called with the name of the worker to wake, which may be unknown here; null means every worker, because wake-ups may
 * have been missed.
 */
export type OnWake = (worker: string | null) => void

export interface Wakeups {
  /** Wakes a worker wherever it runs; what it has to do must be committed. Never throws: a lost wake-up costs a poll. */
  send(worker: WorkerName): void
  /** Resolves when wake-ups of every process arrive, and with the function that ends that. */
  listen(onWake: OnWake, log: Log): Promise<() => Promise<void>>
}

export interface WriteOptions {
  /** The work changes only what no answer shows, such as the counts of requests, so that remembered answers hold. */
  isUnseen?: boolean
}

export interface Store {
  readonly kind: 'sqlite' | 'postgres'
  /** Connection for reads outside a transaction; writes through it fail. */
  readonly db: Reader
  /**
   * Runs `work` in a transaction and resolves once it is durable. `work` may await only that transaction, as SQLite
   * commits concurrent writes together. It may run again, what it did undone: on PostgreSQL after a conflict, on SQLite
   * where another one of the same commit fails. A duplicate unique key throws `conflict`.
   */
  write<T>(work: (tx: Tx) => Promise<T>, options?: WriteOptions): Promise<T>
  /** Wake-ups of workers, in this process and, on PostgreSQL, between all. */
  readonly wakeups: Wakeups
  /**
   * The same store on connections that requests cannot take, so that a pool emptied by them stops neither the workers
   * nor the readiness check. SQLite has no pool and keeps none.
   */
  readonly reserved?: { readonly workers: Store; readonly readiness: Store }
  /** How the connections of the pool are used; undefined on SQLite. */
  poolUsage?(): PoolUsage
  /**
   * Gives some space of removed rows back to the file system in a commit of its own; false when there is no more to give.
   */
  reclaim(): Promise<boolean>
  /** Throws when the database does not respond. */
  ping(): Promise<void>
  /** Sizes of the database. */
  measure(): Promise<StoreFigures>
  /** Fault of the whole database according to the last write and all reads; null when there is none. */
  fault(): StoreFault | null
  close(): Promise<void>
}
