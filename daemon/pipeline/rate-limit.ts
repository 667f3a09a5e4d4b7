/** Rolling rate limits per key: their headers in answers, and the refusal of requests. */

import type { Services } from '../../src/context.ts'
import { ApiError } from '../../src/platform/errors.ts'
import { DAY_MS, MINUTE_MS } from '../../src/platform/timing.ts'
import type { Admission, Window } from '../../src/store/requests/rate-hits.ts'
import type { LimitedKey } from '../limits/counter.ts'
import { ExhaustedKeys } from '../limits/exhausted-keys.ts'
import { localCounter } from '../limits/local-counter.ts'
import { sharedCounter } from '../limits/shared-counter.ts'

const REFUSALS = { minute: 'Too many requests this minute', day: 'Daily quota exceeded' } as const

type LimiterServices = Pick<Services, 'store' | 'clock' | 'log'>

/** The rest of one of a key's quotas after this request. */
interface Quota {
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
  admit(key: LimitedKey & { hash: string }): Promise<Quotas>
  /**
   * Throws rate_limited for the SHA-256 of a key that is known to be over its limits, without a database query, and
   * sets its id in the record.
   */
  refuseKnown(hash: string, record: { keyId: string | null }): void
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

/** Adds the headers `RateLimit-Policy` and `RateLimit` (IETF draft) and, on a refusal, `Retry-After`. */
export function addRateLimits(headers: Record<string, string>, { minute, day }: Quotas, refused: boolean): void {
  if (minute === null && day === null) return
  headers['RateLimit-Policy'] = joined(
    minute && `"minute";q=${minute.limit};w=60`,
    day && `"day";q=${day.limit};w=86400`,
  )
  headers.RateLimit = joined(minute && remainingOf('minute', minute), day && remainingOf('day', day))
  if (refused) headers['Retry-After'] = String(Math.max(1, waitOf(minute), waitOf(day)))
}

const joined = (minute: string | null, day: string | null): string =>
  minute !== null && day !== null ? `${minute}, ${day}` : (minute ?? day ?? '')

const remainingOf = (name: string, { remaining, reset }: Quota) => `"${name}";r=${remaining};t=${reset}`

const waitOf = (quota: Quota | null): number => (quota?.remaining === 0 ? quota.reset : 0)

const UNLIMITED: Quotas = { minute: null, day: null }

/** The quotas after an admission; throws rate_limited if a limit refused it. */
function quotasAfter(admission: Admission, { per_minute, per_day }: LimitedKey): Quotas {
  const quota = (limit: number | null, { used, oldest_at }: Window, window: number): Quota | null =>
    limit === null
      ? null
      : {
          limit,
          remaining: Math.max(0, limit - used),
          reset: Math.max(1, Math.ceil(((oldest_at ?? admission.at) + window - admission.at) / 1000)),
        }
  const quotas = { minute: quota(per_minute, admission.minute, MINUTE_MS), day: quota(per_day, admission.day, DAY_MS) }
  if (admission.refused_by !== null) throw refuseRate(REFUSALS[admission.refused_by], quotas)
  return quotas
}

export async function createRateLimiter(services: LimiterServices): Promise<RateLimiter> {
  const counter = services.store.kind === 'postgres' ? sharedCounter(services) : await localCounter(services)
  const exhausted = new ExhaustedKeys()
  return {
    async admit(key) {
      if (key.per_minute === null && key.per_day === null) return UNLIMITED
      const now = services.clock.now()
      const admission = await counter.admit(key, now)
      if (admission.refused_by !== null) exhausted.remember(key, admission, now)
      return quotasAfter(admission, key)
    },
    refuseKnown(hash, record) {
      const known = exhausted.recall(hash, services.clock.now())
      if (known === undefined) return
      record.keyId = known.key.id
      quotasAfter(known.admission, known.key)
    },
    close: () => counter.close(),
  }
}
