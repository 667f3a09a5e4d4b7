/** Cache of answers from a SQLite database that has not changed. */
import type { Reader } from '../store.ts'

/**
 * Returns the version of the database, a number that grows with every commit, of any process, that an answer may show.
 * Undefined for PostgreSQL, which reports no version without a query.
 */
export type LookAtDatabase = () => number | undefined

const looks = new WeakMap<Reader, LookAtDatabase>()

/** How the version is read for the database of a store's connection. */
export const lookAtDatabaseOf = (reader: Reader): LookAtDatabase => looks.get(reader) ?? (() => undefined)

/**
 * Registers how to read the version of the database behind `db`. `lookAtOthers` reads a number that changes with other
 * processes' commits. This process calls the returned function after it has committed something that an answer may
 * show.
 */
export function offerDatabaseVersion(db: Reader, lookAtOthers: () => number): () => void {
  let others = Number.NaN
  let seen = 0
  looks.set(db, () => {
    const now = lookOrNaN(lookAtOthers)
    if (now !== others) {
      others = now
      seen++
    }
    return seen
  })
  return () => void seen++
}

/** NaN, which differs from itself, if the version cannot be read: then nothing is cached. */
function lookOrNaN(look: () => number): number {
  try {
    return look()
  } catch {
    return Number.NaN
  }
}

/** Values read from the database, kept until the next commit of any process; the sum of their sizes is limited. */
export class UnchangedReads<V> {
  readonly #look: LookAtDatabase
  readonly #largest: number
  #values = new Map<string, V>()
  #underWay = new Map<string, Promise<V>>()
  #size = 0
  #version = 0

  constructor(look: LookAtDatabase, largest: number) {
    this.#look = look
    this.#largest = largest
  }

  /**
   * Returns the value of this name from the cache, from a read that is under way, or from `load`. It is never older
   * than `version`, which the request read when it arrived. A value above the limit is not cached.
   */
  async read(
    version: number | undefined,
    name: string,
    load: () => Promise<V>,
    sizeOf: (value: V) => number,
  ): Promise<V> {
    if (version === undefined) return load()
    this.#forgetBefore(version)
    const known = this.#values.get(name)
    if (known !== undefined) return known
    const underWay = this.#underWay.get(name)
    if (underWay !== undefined) return underWay
    // The first request gets the value first, so requests keep their order.
    const loading = this.#load(name, load, sizeOf)
    this.#underWay.set(name, loading)
    try {
      return await loading
    } finally {
      if (this.#underWay.get(name) === loading) this.#underWay.delete(name)
    }
  }

  async #load(name: string, load: () => Promise<V>, sizeOf: (value: V) => number): Promise<V> {
    const version = this.#look()
    if (version !== undefined) this.#forgetBefore(version)
    const value = await load()
    // The value may include part of a later change, so it is answered but not cached.
    if (this.#look() === version && version === this.#version) this.#keep(name, value, sizeOf(value))
    return value
  }

  #keep(name: string, value: V, size: number): void {
    if (size > this.#largest) return
    if (this.#size + size > this.#largest) this.#forget()
    this.#values.set(name, value)
    this.#size += size
  }

  #forgetBefore(version: number): void {
    if (version <= this.#version) return
    this.#forget()
    this.#version = version
  }

  /**
   * Creates new maps, because `clear()` leaves the old table pointing to the next one. Once one is in V8's old space,
   * all later ones stay until a full garbage collection, which takes ten times the memory.
   */
  #forget(): void {
    if (this.#values.size > 0) this.#values = new Map()
    if (this.#underWay.size > 0) this.#underWay = new Map()
    this.#size = 0
  }
}
