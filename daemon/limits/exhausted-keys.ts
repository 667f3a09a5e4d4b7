/** Remembers which keys are over their limits, so that their requests are refused without the database. */
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../src/platform/timing.ts'
import type { Admission } from '../../src/store/requests/rate-hits.ts'
import type { LimitedKey } from './counter.ts'

/** Longest time to remember a key. It limits how long a revoked key still gets 429, and the effect of a clock jump. */
const MEMORY_MS = SECOND_MS
/** From this number on, keys that may have room again are removed. */
const MANY = 1_024

type HashedKey = LimitedKey & { hash: string }

interface Remembered {
  key: HashedKey
  admission: Admission
  since: number
  until: number
}

/** A full window stays full until its oldest request leaves it, because counted requests are never taken back. */
export class ExhaustedKeys {
  readonly #byHash = new Map<string, Remembered>()

  /** `since` must not be later than the request, or later requests are refused too long. */
  remember(key: HashedKey, admission: Admission, since: number): void {
    const { at, minute, day } = admission
    const moves = [
      ...(key.per_minute !== null && minute.used >= key.per_minute ? [(minute.oldest_at ?? at) + MINUTE_MS] : []),
      ...(key.per_day !== null && day.used >= key.per_day ? [(day.oldest_at ?? at) + DAY_MS] : []),
    ]
    const until = since + Math.min(MEMORY_MS, Math.max(...moves) - at)
    if (this.#byHash.size >= MANY) {
      for (const [hash, remembered] of this.#byHash) if (remembered.until <= since) this.#byHash.delete(hash)
    }
    this.#byHash.set(key.hash, { key, admission, since, until })
  }

  /** The key with this SHA-256 and its windows at `now`; undefined if it may have room again. */
  recall(hash: string, now: number): { key: HashedKey; admission: Admission } | undefined {
    const remembered = this.#byHash.get(hash)
    if (remembered === undefined) return undefined
    const { key, admission, since, until } = remembered
    if (now >= since && now < until) return { key, admission: { ...admission, at: admission.at + now - since } }
    this.#byHash.delete(hash)
    return undefined
  }
}
