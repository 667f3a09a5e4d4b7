/** Rolling rate limits per key: exact windows in memory that are also written to the store; on PostgreSQL the store counts. */

import type { Services } from '../../src/context.ts'
import { ApiError } from '../../src/errors.ts'
import { type Admission, addRateHits, admitShared, loadRateHits, type Window } from '../../src/store/rate-hits.ts'
import { DAY_MS, MINUTE_MS } from '../../src/timing.ts'
import type { KnownKey } from './bearer.ts'

const FLUSH_MS = 100
const REFUSALS = { minute: 'Too many requests this minute', day: 'Daily quota exceeded' } as const

type Limits = Pick<KnownKey, 'per_minute' | 'per_day'>

/** What remains of one of a key's quotas after this request. */
export interface Quota {
  limit: number
  remaining: number
  /** Seconds until the oldest counted request leaves the window. */
  reset: number
}
export interface Quotas {
  minute: Quota | null
  day: Quota | null
}

export interface RateLimiter {
  /** Counts the request, or throws rate_limited (with the quotas in `quotasOf(error)`) without counting it. */
  admit(key: KnownKey): Promise<Quotas>
  /** Writes the counts that are still in memory. */
  close(): Promise<void>
}

const refusals = new WeakMap<ApiError, Quotas>()
export const quotasOf = (error: ApiError): Quotas | undefined => refusals.get(error)

function refuseRate(message: string, quotas: Quotas): ApiError {
  const error = new ApiError('rate_limited', message)
  refusals.set(error, quotas)
  return error
}

/** The headers `RateLimit-Policy` and `RateLimit` (IETF draft) and, on a refusal, `Retry-After`. */
export function rateLimitHeaders({ minute, day }: Quotas, refused: boolean): Record<string, string> {
  const windows = [
    { name: 'minute', seconds: 60, quota: minute },
    { name: 'day', seconds: 86_400, quota: day },
  ].flatMap(({ quota, ...window }) => (quota ? [{ ...window, ...quota }] : []))
  if (windows.length === 0) return {}
  const waits = windows.filter(({ remaining }) => remaining === 0).map(({ reset }) => reset)
  return {
    'RateLimit-Policy': windows.map(({ name, limit, seconds }) => `"${name}";q=${limit};w=${seconds}`).join(', '),
    RateLimit: windows.map(({ name, remaining, reset }) => `"${name}";r=${remaining};t=${reset}`).join(', '),
    ...(refused ? { 'Retry-After': String(Math.max(1, ...waits)) } : {}),
  }
}

/** Admission times of one key, oldest first; both windows read the same list. */
export class RollingWindows {
  #times: number[] = []
  #dayHead = 0
  #minuteHead = 0

  /** Adds `count` requests admitted at `at`, which must not be earlier than those before. */
  add(at: number, count = 1): void {
    for (let i = 0; i < count; i++) this.#times.push(at)
  }

  /** Admits and counts a request at `now`, or returns which limit refused it. */
  admit(now: number, { per_minute, per_day }: Limits): Admission {
    this.#forget(now)
    const minute = this.#window(this.#minuteHead)
    const day = this.#window(this.#dayHead)
    if (per_minute !== null && minute.used >= per_minute) return { refused_by: 'minute', minute, day }
    if (per_day !== null && day.used >= per_day) return { refused_by: 'day', minute, day }
    this.add(now)
    return { refused_by: null, minute: this.#window(this.#minuteHead), day: this.#window(this.#dayHead) }
  }

  #window(head: number): Window {
    return { used: this.#times.length - head, oldest_at: this.#times[head] ?? null }
  }

  #forget(now: number): void {
    const times = this.#times
    // Times later than now were written while the clock was ahead, so they count as now.
    for (let i = times.length - 1; (times[i] ?? now) > now; i--) times[i] = now
    while ((times[this.#dayHead] ?? now) <= now - DAY_MS) this.#dayHead++
    this.#minuteHead = Math.max(this.#minuteHead, this.#dayHead)
    while ((times[this.#minuteHead] ?? now) <= now - MINUTE_MS) this.#minuteHead++
    if (this.#dayHead < 1024 || this.#dayHead * 2 < times.length) return
    this.#times = times.slice(this.#dayHead)
    this.#minuteHead -= this.#dayHead
    this.#dayHead = 0
  }
}

/** The quotas after an admission; throws rate_limited where a limit refused it. */
function quotasAfter(admission: Admission, { per_minute, per_day }: Limits, now: number): Quotas {
  const quota = (limit: number | null, { used, oldest_at }: Window, window: number): Quota | null =>
    limit === null
      ? null
      : {
          limit,
          remaining: Math.max(0, limit - used),
          reset: Math.max(1, Math.ceil(((oldest_at ?? now) + window - now) / 1000)),
        }
  const quotas = { minute: quota(per_minute, admission.minute, MINUTE_MS), day: quota(per_day, admission.day, DAY_MS) }
  if (admission.refused_by !== null) throw refuseRate(REFUSALS[admission.refused_by], quotas)
  return quotas
}

export async function createRateLimiter(services: Services): Promise<RateLimiter> {
  const counter = services.store.kind === 'postgres' ? sharedCounter(services) : await localCounter(services)
  return {
    async admit(key) {
      if (key.per_minute === null && key.per_day === null) return { minute: null, day: null }
      const now = services.clock.now()
      return quotasAfter(await counter.admit(key, now), key, now)
    },
    close: () => counter.close(),
  }
}

interface Counter {
  admit(key: KnownKey, now: number): Admission | Promise<Admission>
  close(): Promise<void>
}

/** Exact windows in memory; the requests that they admitted are written to the store every 100 ms. */
async function localCounter({ store, clock, log }: Services): Promise<Counter> {
  const windows = new Map<string, RollingWindows>()
  const windowsOf = (id: string): RollingWindows => {
    const keyWindows = windows.get(id) ?? new RollingWindows()
    windows.set(id, keyWindows)
    return keyWindows
  }
  const opened = clock.now()
  for (const { api_key_id, at, count } of await loadRateHits(store.db, opened - DAY_MS)) {
    windowsOf(api_key_id).add(Math.min(at, opened), count)
  }

  let unwritten = new Map<string, { at: number; count: number }>()
  const flush = async (): Promise<void> => {
    if (unwritten.size === 0) return
    const rows = [...unwritten].map(([api_key_id, hit]) => ({ api_key_id, ...hit }))
    unwritten = new Map()
    await store.write((tx) => addRateHits(tx, rows))
  }
  let timer: NodeJS.Timeout | undefined
  let flushing: Promise<void> = Promise.resolve()
  const scheduleFlush = () => {
    timer ??= setTimeout(() => {
      timer = undefined
      flushing = flush().catch((error) => log.error({ err: error }, 'rate limit counts were not written'))
    }, FLUSH_MS).unref()
  }
  return {
    admit(key, now) {
      const admission = windowsOf(key.id).admit(now, key)
      if (admission.refused_by === null) {
        unwritten.set(key.id, { at: now, count: (unwritten.get(key.id)?.count ?? 0) + 1 })
        scheduleFlush()
      }
      return admission
    },
    async close() {
      clearTimeout(timer)
      await flushing
      await flush()
    },
  }
}

/** Several daemons share one PostgreSQL database, so the counts live there, under a lock on the key's row. */
function sharedCounter({ store }: Services): Counter {
  return {
    admit: (key, now) => store.write((tx) => admitShared(tx, key.id, now, key.per_minute, key.per_day)),
    async close() {},
  }
}
