/** Memory of what an unchanged SQLite database answered. */
import type { Reader } from '../store.ts'

/**
 * Returns the version of the database: a number that is larger after every commit of any process that an answer may show.
 * Undefined for a database that is a server, which tells nobody of its commits for free.
 */
export type LookAtDatabase = () => number | undefined

const looks = new WeakMap<Reader, LookAtDatabase>()

/** How the version of the database that a store's connection reads is looked at. */
export const lookAtDatabaseOf = (reader: Reader): LookAtDatabase => looks.get(reader) ?? (() => undefined)

/**
 * Offers the version of the database that `db` reads. `lookAtOthers` reads a number that other processes' commits change;
 * this process says with the returned function that it has committed something that an answer may show.
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

/** NaN, which differs from itself, where the database cannot be looked at: nothing is remembered of it then. */
function lookOrNaN(look: () => number): number {
  try {
    return look()
  } catch {
    return Number.NaN
  }
}

/** Values that were read from the database, until the next commit of any process; bounded by the sum of their sizes. */
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
   * The value of this name: remembered, of a read that is under way, or read by `load`. It is never older than `version`,
   * at which a request looked when it came. A value larger than the bound is not remembered.
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
    // Who asked first has the value first, so that requests keep their order.
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
    // What changed meanwhile may be in the value in part, so it is answered and not kept.
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
   * New maps, as `clear()` leaves the earlier table pointing to the next one: once one of them is in the old space of the
   * heap, every later one stays with what it held until a full garbage collection, ten times the memory of a commit a turn.
   */
  #forget(): void {
    if (this.#values.size > 0) this.#values = new Map()
    if (this.#underWay.size > 0) this.#underWay = new Map()
    this.#size = 0
  }
}
