/**
 * Counts requests in the memory of the daemon that owns a SQLite database, and records them there before the answer.
 */
import type { Services } from '../../src/context.ts'
import { DAY_MS, MINUTE_MS } from '../../src/platform/timing.ts'
import {
  type Admission,
  forgetRateHits,
  loadRateHits,
  putRateHits,
  type Window,
} from '../../src/store/requests/rate-hits.ts'
import type { NewRow } from '../../src/store/schema.ts'
import type { Tx } from '../../src/store/store.ts'
import { CLOCK_SLACK_MS } from '../../src/store/writing/future-moments.ts'
import type { Counter, LimitedKey } from './counter.ts'

/** Milliseconds between two commits of a busy key. */
const SETTLE_MS = 100
/**
 * Milliseconds for which requests are recorded in advance; longer than `SETTLE_MS`, so that a late commit delays no
 * request.
 */
const ADVANCE_MS = 250
/** Milliseconds until a failed commit is retried if no request causes a commit earlier. */
const RETRY_MS = 1_000

interface KeyState {
  id: string
  windows: RollingWindows
  /** Cumulative count in the database. */
  written: number
  /** Time in the database of the row of requests that were recorded in advance; null without one. */
  advanceAt: number | null
  /** How many more requests that row covers. */
  advance: number
  /** When the key was last written, and the cumulative count at that time. */
  wroteAt: number
  /** Hits in the database later than this were written by a clock that was ahead, and must be deleted. */
  dropAfter: number | null
  /** Requests that the fuller of the two windows still allows after the last admission. */
  room: number
  waiting: (() => void)[]
}

type LocalServices = Pick<Services, 'store' | 'clock' | 'log'>

/**
 * Requests that arrive together are recorded by one commit before they are admitted. For a busy key some requests are
 * recorded in advance, with a time in the near future. They need no own commit, and a crash loses none.
 */
export async function localCounter({ store, clock, log }: LocalServices): Promise<Counter> {
  const states = await loadStates(store, clock.now())
  const unsettled = new Set<KeyState>()
  let isPlanned = false
  let isClosed = false
  let writing: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined

  const plan = () => {
    if (isPlanned || writing !== undefined) return
    isPlanned = true
    setImmediate(() => {
      isPlanned = false
      if (writing === undefined) void write()
    })
  }

  function write(): Promise<void> {
    const now = clock.now()
    const changes = [...unsettled].map((state) => takeChange(state, now, isClosed))
    unsettled.clear()
    writing = record(changes).finally(() => {
      writing = undefined
      if ([...unsettled].some(({ waiting }) => waiting.length > 0)) plan()
    })
    return writing
  }

  async function record(changes: readonly Change[]): Promise<void> {
    try {
      await store.write(
        async (tx) => {
          for (const change of changes) await writeChange(tx, change)
        },
        { isUnseen: true },
      )
      for (const { state, rows, advance } of changes) {
        state.written = rows.at(-1)?.total ?? state.written
        state.advanceAt = advance?.at ?? null
        state.advance = advance?.count ?? 0
        state.dropAfter = null
        if (advance !== null) unsettled.add(state)
      }
      scheduleWrite(SETTLE_MS)
    } catch (error) {
      // The windows in memory stay exact, so reads continue while the database accepts no writes.
      log.error({ err: error }, 'rate limit counts were not written')
      for (const { state } of changes) unsettled.add(state)
      scheduleWrite(RETRY_MS)
    }
    for (const { waiting } of changes) for (const admit of waiting) admit()
    for (const { state } of changes) useAdvance(state)
  }

  /** Admits requests that came during the commit and are covered by it. */
  function useAdvance(state: KeyState): void {
    while (state.waiting.length > 0 && covers(state, state.windows.newestAt ?? 0)) {
      state.advance--
      state.waiting.shift()?.()
    }
  }

  /** Replaces what was recorded in advance by what was used, even if no other request comes. */
  function scheduleWrite(inMs: number): void {
    if (unsettled.size === 0 || isClosed) return
    timer ??= setTimeout(() => {
      timer = undefined
      if (unsettled.size > 0) plan()
    }, inMs).unref()
  }

  function stateOf(id: string): KeyState {
    const state = states.get(id) ?? newState(id)
    states.set(id, state)
    return state
  }

  return {
    async admit(key, now) {
      const state = stateOf(key.id)
      const pulled = state.windows.pullBack(now)
      if (pulled !== null) {
        rewriteAfter(state, pulled)
        unsettled.add(state)
      }
      const admission = state.windows.admit(now, key)
      if (admission.refused_by !== null) return admission
      state.room = roomAfter(admission, key)
      unsettled.add(state)
      if (covers(state, admission.at)) {
        state.advance--
        return admission
      }
      return new Promise((resolve) => {
        state.waiting.push(() => resolve(admission))
        plan()
      })
    },
    async close() {
      isClosed = true
      clearTimeout(timer)
      await writing
      if (unsettled.size > 0) await write()
    },
  }
}

const covers = (state: KeyState, at: number): boolean =>
  state.advance > 0 && state.advanceAt !== null && at <= state.advanceAt

function newState(id: string, before = 0): KeyState {
  return {
    id,
    windows: new RollingWindows(before),
    written: before,
    advanceAt: null,
    advance: 0,
    wroteAt: 0,
    dropAfter: null,
    room: 0,
    waiting: [],
  }
}

/** Plans a write of the corrected hits, which replace the rows from the clock that was ahead. */
function rewriteAfter(state: KeyState, { after, total }: { after: number; total: number }): void {
  state.dropAfter = after
  state.written = Math.min(state.written, total)
  state.advance = 0
}

function roomAfter({ minute, day }: Admission, { per_minute, per_day }: LimitedKey): number {
  const left = (limit: number | null, used: number) => (limit === null ? Number.POSITIVE_INFINITY : limit - used)
  return Math.min(left(per_minute, minute.used), left(per_day, day.used))
}

/** One key's part of a commit. */
interface Change {
  state: KeyState
  rows: readonly NewRow<'rate_hits'>[]
  /** Row in the database that covered requests in advance until now. */
  settled: number | null
  dropAfter: number | null
  /** Row that covers requests from now on. */
  advance: NewRow<'rate_hits'> | null
  waiting: readonly (() => void)[]
}

function takeChange(state: KeyState, now: number, isClosed: boolean): Change {
  const { id: api_key_id, windows, advanceAt: settled, dropAfter } = state
  const rows = windows.since(state.written).map((hits) => ({ api_key_id, ...hits }))
  const used = windows.total - state.written
  const isBusy = used > 0 && now - state.wroteAt <= ADVANCE_MS
  // Reserve twice what the last interval used, so that the next commit comes later.
  const count = isBusy && !isClosed ? Math.min(2 * used, state.room) : 0
  const at = Math.max(now, windows.newestAt ?? now) + ADVANCE_MS
  const advance = count > 0 ? { api_key_id, at, count, total: windows.total + count } : null
  state.wroteAt = now
  // The earlier row no longer covers any request, because this commit deletes it.
  state.advance = 0
  return { state, rows, settled, dropAfter, advance, waiting: state.waiting.splice(0) }
}

async function writeChange(tx: Tx, { state, rows, settled, dropAfter, advance }: Change): Promise<void> {
  if (dropAfter !== null) await forgetRateHits(tx, state.id, dropAfter)
  if (settled !== null) await forgetRateHits(tx, state.id, settled - 1)
  await putRateHits(tx, advance === null ? rows : [...rows, advance])
}

/** The windows of the last day, from the database. */
async function loadStates(store: Services['store'], now: number): Promise<Map<string, KeyState>> {
  const states = new Map<string, KeyState>()
  for (const { api_key_id, at, count, total } of await loadRateHits(store.db, now - DAY_MS)) {
    const state = states.get(api_key_id) ?? newState(api_key_id, total - count)
    states.set(api_key_id, state)
    if (at > now + CLOCK_SLACK_MS) state.dropAfter = now + CLOCK_SLACK_MS
    else state.windows.add(at, count)
    state.written = state.windows.total
  }
  return states
}

// Exact rolling windows of one key in memory: times with cumulative counts, like the rows of the database.

interface Hits {
  at: number
  count: number
  /** Cumulative count of the key, including these hits. */
  total: number
}

/** Old times are removed in groups of at least this size. */
const FORGOTTEN_TOGETHER = 1_024

class RollingWindows {
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
