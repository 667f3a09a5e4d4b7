/** The store: one Kysely over either database, and the one way to write. */
import type { Kysely, Transaction } from 'kysely'
import type { StoreFault } from './faults.ts'
import type { Tables } from './schema.ts'

/** Anything that reads: the store's connection or an open transaction. */
export type Reader = Kysely<Tables>
/** An open write transaction; only `Store.write` makes one. */
export type Tx = Transaction<Tables>

export interface Store {
  readonly kind: 'sqlite' | 'postgres'
  /** For reads outside a transaction; a write through it fails. */
  readonly db: Reader
  /**
   * Runs `work` in a transaction and answers after it is durable. `work` must await nothing but the given transaction:
   * on SQLite, writes that arrive together share one commit (a savepoint each), so a slow `work` would hold up the others;
   * on PostgreSQL it is run again where another process was in its way. A unique key that is taken throws `conflict`.
   */
  write<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /** Throws when the database does not answer. */
  ping(): Promise<void>
  /** What the last write and every read have shown to be wrong with the database as a whole; null: nothing. */
  fault(): StoreFault | null
  close(): Promise<void>
}
