/** Exact rolling windows of one key in memory: times with cumulative counts, like the rows of the database. */

import { DAY_MS, MINUTE_MS } from '../../src/platform/timing.ts'
import type { Admission, Window } from '../../src/store/requests/rate-hits.ts'
import { CLOCK_SLACK_MS } from '../../src/store/writing/future-moments.ts'
import type { LimitedKey } from './counter.ts'

export interface Hits {
  at: number
  count: number
  /** Cumulative count of the key, including these hits. */
  total: number
}

/** Old times are removed in groups of at least this size. */
const FORGOTTEN_TOGETHER = 1_024

export class RollingWindows {
  // Two plain arrays need a third of the memory of one object per time.
  #times: number[] = []
  #totals: number[] = []
  /** Cumulative count before the first time. */
  #before: number
  #dayHead = 0
  #minuteHead = 0

  /** `before` is the cumulative count before the first added hits. */
  constructor(before = 0) {
    this.#before = before
  }

  get total(): number {
    return this.#totals.at(-1) ?? this.#before
  }

  /** Time of the newest hits; null without any. */
  get newestAt(): number | null {
    return this.#times.at(-1) ?? null
  }

  /** Adds hits at `at`, which must not be earlier than previous hits. */
  add(at: number, count: number): void {
    const total = this.total + count
    if (this.newestAt === at) this.#totals[this.#totals.length - 1] = total
    else {
      this.#times.push(at)
      this.#totals.push(total)
    }
  }

  /** Admits and counts a request at `now`, or returns which limit refused it. Time never goes back for a key. */
  admit(now: number, { per_minute, per_day }: LimitedKey): Admission {
    const at = Math.max(now, this.newestAt ?? now)
    this.#advance(at)
    const minute = this.#window(this.#minuteHead)
    const day = this.#window(this.#dayHead)
    if (per_minute !== null && minute.used >= per_minute) return { refused_by: 'minute', at, minute, day }
    if (per_day !== null && day.used >= per_day) return { refused_by: 'day', at, minute, day }
    this.add(at, 1)
    return { refused_by: null, at, minute: this.#window(this.#minuteHead), day: this.#window(this.#dayHead) }
  }

  /** The hits that brought the cumulative count beyond `total`, the oldest first. */
  since(total: number): Hits[] {
    let first = this.#times.length
    while (first > 0 && this.#totalAt(first - 1) > total) first--
    return this.#times.slice(first).map((at, n) => {
      const reached = this.#totalAt(first + n)
      return { at, count: reached - this.#totalAt(first + n - 1), total: reached }
    })
  }

  /**
   * Moves hits that are implausibly far in the future to `now`: a clock was ahead, and they would block the key until
   * then. Returns the time after which they were and the cumulative count before them, or null.
   */
  pullBack(now: number): { after: number; total: number } | null {
    const after = now + CLOCK_SLACK_MS
    if ((this.newestAt ?? now) <= after) return null
    const reached = this.total
    while ((this.newestAt ?? now) > after) {
      this.#times.pop()
      this.#totals.pop()
    }
    const { total } = this
    this.add(Math.max(now, this.newestAt ?? now), reached - total)
    // The heads had moved with the wrong time.
    this.#dayHead = 0
    this.#minuteHead = 0
    return { after, total }
  }

  #totalAt(index: number): number {
    return this.#totals[index] ?? this.#before
  }

  #window(head: number): Window {
    return { used: this.total - this.#totalAt(head - 1), oldest_at: this.#times[head] ?? null }
  }

  #advance(at: number): void {
    const times = this.#times
    while ((times[this.#dayHead] ?? at) <= at - DAY_MS) this.#dayHead++
    this.#minuteHead = Math.max(this.#minuteHead, this.#dayHead)
    while ((times[this.#minuteHead] ?? at) <= at - MINUTE_MS) this.#minuteHead++
    if (this.#dayHead < FORGOTTEN_TOGETHER || this.#dayHead * 2 < times.length) return
    this.#before = this.#totalAt(this.#dayHead - 1)
    this.#times = times.slice(this.#dayHead)
    this.#totals = this.#totals.slice(this.#dayHead)
    this.#minuteHead -= this.#dayHead
    this.#dayHead = 0
  }
}
