/** Memory of what an unchanged SQLite database answered. */
import type { Reader } from '../store.ts'

export interface DatabaseVersion {
  /** Looks at a number that is another one after every commit of any process that an answer may show. */
  look(): number
  /** Runs work that does not wait, within which one look is enough: what it answers was asked before. */
  lookOnce(work: () => void): void
}

const versions = new WeakMap<Reader, DatabaseVersion>()

/** The version of the database that a store's connection reads; undefined for a database that is a server. */
export const databaseVersionOf = (reader: Reader): DatabaseVersion | undefined => versions.get(reader)

/**
 * Offers the version of the database that `db` reads. `lookAtOthers` reads a number that other processes' commits change;
 * this process says with the returned function that it has committed something that an answer may show.
 */
export function offerDatabaseVersion(db: Reader, lookAtOthers: () => number): () => void {
  let others = Number.NaN
  let seen = 0
  let isOnce = false
  let hasLooked = false
  versions.set(db, {
    look() {
      if (hasLooked) return seen
      hasLooked = isOnce
      const now = lookOrNaN(lookAtOthers)
      if (now !== others) {
        others = now
        seen++
      }
      return seen
    },
    lookOnce(work) {
      isOnce = true
      try {
        work()
      } finally {
        isOnce = false
        hasLooked = false
      }
    },
  })
  return () => void seen++
}

/** NaN, which differs from itself, where the database cannot be looked at: nothing is remembered of it then. */
function lookOrNaN(look: () => number): number {
  try {
    return look()
  } catch {
    return Number.NaN
  }
}

/** Values that were read of the database, until the next commit of any process; bounded by the sum of their sizes. */
export class UnchangedReads<V> {
  readonly #current: DatabaseVersion
  readonly #largest: number
  #values = new Map<string, V>()
  #underWay = new Map<string, Promise<V>>()
  #size = 0
  #version = Number.NaN

  constructor(current: DatabaseVersion, largest: number) {
    this.#current = current
    this.#largest = largest
  }

  /** What was kept under this name of the database as it is now. */
  recall(name: string): V | undefined {
    this.#forgetUnlike(this.#current.look())
    return this.#values.get(name)
  }

  /** Reads what `recall` has just not found. Whoever asks before it is there, and before a commit, is given the same. */
  share(name: string, read: () => Promise<V>): Promise<V> {
    const underWay = this.#underWay.get(name)
    if (underWay !== undefined) return underWay
    const value = read()
    this.#underWay.set(name, value)
    const end = () => {
      if (this.#underWay.get(name) === value) this.#underWay.delete(name)
    }
    value.then(end, end)
    return value
  }

  /** The version to give to `keep`, taken before the value is read. */
  get version(): number {
    return this.#version
  }

  /** Keeps a value unless the database has changed since `version`, so that no mixture of two states is kept. */
  keep(name: string, value: V, size: number, version: number): void {
    this.#forgetUnlike(this.#current.look())
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

  /**
   * New maps, as `clear()` leaves the earlier table pointing to the next one: once one of them is in the old space of the
   * heap, every later one stays with what it held until a full garbage collection, ten times the memory of a commit a turn.
   */
  #forget(): void {
    if (this.#values.size > 0) this.#values = new Map()
    if (this.#underWay.size > 0) this.#underWay = new Map()
    this.#size = 0
  }
}
