/** Reads on the store's own SQLite connection without the query builder, and memory of what an unchanged database answered. */
import type { Compilable, CompiledQuery, SqliteDatabase } from 'kysely'
import type { Reader } from './store.ts'

export interface DirectReads {
  /** Runs a statement that was compiled once, with parameters in its order. */
  all(statement: CompiledQuery, parameters: readonly unknown[]): readonly unknown[]
  /** Looks at a number that is another one after every commit of any connection and any process. */
  look(): number
  /** What was last looked at. */
  readonly seen: number
}

const directReads = new WeakMap<Reader, DirectReads>()

/**
 * The direct reads of a connection; undefined for a transaction, for a database that is a server, and for a connection
 * whose statements a plugin watches.
 */
export const directReadsOf = (reader: Reader): DirectReads | undefined => directReads.get(reader)

/** Offers direct reads on `db`; `prepared` is its connection with prepared statements, and `look` reads its version. */
export function offerDirectReads(db: Reader, prepared: SqliteDatabase, look: () => number): void {
  let seen = Number.NaN
  directReads.set(db, {
    all: (statement, parameters) => prepared.prepare(statement.sql).all(parameters),
    look() {
      seen = look()
      return seen
    },
    get seen() {
      return seen
    },
  })
}

/** Compiles a query at its first use; its parameters are placeholders, in the order in which they will be given. */
export function compiledOnce(build: (reader: Reader) => Compilable): (reader: Reader) => CompiledQuery {
  let compiled: CompiledQuery | undefined
  return (reader) => (compiled ??= build(reader).compile())
}

/** Values that were read of the database, until the next commit of any process; bounded by the sum of their sizes. */
export class UnchangedReads<V> {
  readonly #reads: DirectReads
  readonly #largest: number
  readonly #values = new Map<string, V>()
  #size = 0
  #version = Number.NaN

  constructor(reads: DirectReads, largest: number) {
    this.#reads = reads
    this.#largest = largest
  }

  /**
   * What was kept under this name of the database as it is now; `hasLooked` where this request has looked at it in the
   * same turn, so that once is enough.
   */
  recall(name: string, { hasLooked = false } = {}): V | undefined {
    this.#forgetUnlike(hasLooked ? this.#reads.seen : this.#reads.look())
    return this.#values.get(name)
  }

  /** The version to give to `keep`, taken before the value is read. */
  get version(): number {
    return this.#version
  }

  /** Keeps a value unless the database has changed since `version`, so that no mixture of two states is kept. */
  keep(name: string, value: V, size: number, version: number): void {
    this.#forgetUnlike(this.#reads.look())
    if (version !== this.#version || size > this.#largest || this.#values.has(name)) return
    if (this.#size + size > this.#largest) this.#forget()
    this.#values.set(name, value)
    this.#size += size
  }

  #forgetUnlike(version: number): void {
    if (version === this.#version) return
    this.#forget()
    this.#version = version
  }

  #forget(): void {
    this.#values.clear()
    this.#size = 0
  }
}
