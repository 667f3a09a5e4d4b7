/** Notices a worker of which nothing has come for three periods, and tells why in its state, the metrics and the log. */
import type { Log } from '../../src/log.ts'
import type { Row } from '../../src/store/schema.ts'
import type { Metrics } from '../metrics.ts'
import type { WorkerState } from './state.ts'
import type { Schedule, Timing } from './timing.ts'

const PERIODS = 3
/** Shorter than this a busy machine alone may take. */
const LEAST_MS = 30_000

export interface Progress {
  /** A tick has ended well, this process's `own` or another's. */
  made(own: boolean): void
  /** Whether a daemon to which this one was refused is at it, or has done it since the last look. */
  isElsewhere(lease: Row<'leases'> | null, now: number): boolean
  /** Told how many milliseconds the stored lease lay ahead of what can be believed; 0 where it did not. */
  ahead(milliseconds: number): void
  /** Looks whether the worker is stalled by now; one that `isAtWork` has until its deadline. */
  check(isAtWork: boolean): void
}

export interface ProgressOptions {
  definition: { name: string; schedule: Schedule }
  state: WorkerState
  metrics: Pick<Metrics, 'stalled' | 'clockFault'>
  timing: Pick<Timing, 'elapsed'>
  log: Log
}

/** Measured by a clock that nobody sets: the one on the wall may be what is wrong. */
export function watchProgress({ definition, state, metrics, timing, log }: ProgressOptions): Progress {
  const { name, schedule } = definition
  const mostMs = Math.max(PERIODS * schedule.everyMs, LEAST_MS)
  let madeAt = timing.elapsed()
  let errorsThen = 0
  let wasAhead = false
  let doneThen = 0
  let refusals = 0

  function tell(reason: string | null): void {
    metrics.stalled(name, reason !== null)
    if (reason !== null && state.stalled_reason === null) log.error({ reason }, 'a worker is stalled')
    if (reason === null && state.stalled_reason !== null) log.info({}, 'a worker is no longer stalled')
    state.stalled_reason = reason
  }

  function reasonAfter(milliseconds: number): string {
    const nothing = `nothing has come of it for ${Math.floor(milliseconds / 1000)} s`
    if (state.errors_total > errorsThen) return `${nothing}: ${state.last_error}`
    if (refusals > 0) return `${nothing}: its lease was refused ${refusals} times, and no other daemon has done it`
    return `${nothing}: its ticks neither ended nor failed`
  }

  return {
    made(own) {
      madeAt = timing.elapsed()
      if (own) doneThen++
      errorsThen = state.errors_total
      refusals = 0
      tell(null)
    },
    isElsewhere(lease, now) {
      const { done = 0, until = 0 } = lease ?? {}
      const isElsewhere = done !== doneThen || until > now
      doneThen = done
      if (!isElsewhere) refusals++
      return isElsewhere
    },
    ahead(milliseconds) {
      const isAhead = milliseconds > 0
      if (isAhead) metrics.clockFault('lease', 1)
      if (isAhead && !wasAhead) {
        const seconds = Math.round(milliseconds / 1000)
        log.warn({ seconds }, 'a lease lies too far ahead to be believed: a clock was ahead, or this one is behind')
      }
      wasAhead = isAhead
    },
    check(isAtWork) {
      const passed = timing.elapsed() - madeAt
      if (passed <= mostMs || isAtWork) return
      tell(reasonAfter(passed))
    },
  }
}
