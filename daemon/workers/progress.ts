/**
 * Detects a worker that has completed no tick for three periods, and reports the reason in its state, the metrics and
 * the log.
 */
import type { Log } from '../../src/platform/log.ts'
import type { Row } from '../../src/store/schema.ts'
import type { Metrics } from '../metrics.ts'
import type { WorkerState } from './state.ts'
import type { Timing, WorkerSchedule } from './timing.ts'

const STALLED_PERIODS = 3
/** Milliseconds before any worker counts as stalled; a busy machine can delay one for almost as long. */
const LEAST_STALLED_MS = 30_000

export interface WorkerProgress {
  /** Records a completed tick of this process (`isOwn`) or of another. */
  completed(isOwn: boolean): void
  /** Whether another daemon with the lease is running a tick, or has completed one since the last call. */
  isElsewhere(lease: Row<'leases'> | null, now: number): boolean
  /**
   * Records the milliseconds by which the stored lease ends implausibly far in the future; 0 if its end is plausible.
   */
  ahead(milliseconds: number): void
  /** Checks whether the worker has stalled; a worker that `isAtWork` has time until its deadline. */
  check(isAtWork: boolean): void
}

export interface WorkerProgressOptions {
  definition: { name: string; schedule: WorkerSchedule }
  state: WorkerState
  metrics: Pick<Metrics, 'stalled' | 'clockFault'>
  timing: Pick<Timing, 'elapsed'>
  log: Log
}

/** Watches a worker by a monotonic clock, because the system clock may be the fault. */
export function watchProgress({ definition, state, metrics, timing, log }: WorkerProgressOptions): WorkerProgress {
  const { name, schedule } = definition
  const limitMs = Math.max(STALLED_PERIODS * schedule.everyMs, LEAST_STALLED_MS)
  let completedAt = timing.elapsed()
  let errorsAtCompletion = 0
  let wasAhead = false
  let doneAtLastLook = 0
  let refusals = 0

  function setStalled(reason: string | null): void {
    metrics.stalled(name, reason !== null)
    if (reason !== null && state.stalled_reason === null) log.error({ reason }, 'a worker is stalled')
    if (reason === null && state.stalled_reason !== null) log.info({}, 'a worker is no longer stalled')
    state.stalled_reason = reason
  }

  function reasonAfter(milliseconds: number): string {
    const nothing = `no tick was completed for ${Math.floor(milliseconds / 1000)} s`
    if (state.errors_total > errorsAtCompletion) return `${nothing}: ${state.last_error}`
    if (refusals > 0) return `${nothing}: its lease was refused ${refusals} times, and no other daemon has done it`
    return `${nothing}: its ticks neither ended nor failed`
  }

  return {
    completed(isOwn) {
      completedAt = timing.elapsed()
      if (isOwn) doneAtLastLook++
      errorsAtCompletion = state.errors_total
      refusals = 0
      setStalled(null)
    },
    isElsewhere(lease, now) {
      const { done = 0, until = 0 } = lease ?? {}
      const isElsewhere = done !== doneAtLastLook || until > now
      doneAtLastLook = done
      if (!isElsewhere) refusals++
      return isElsewhere
    },
    ahead(milliseconds) {
      const isAhead = milliseconds > 0
      if (isAhead) metrics.clockFault('lease', 1)
      if (isAhead && !wasAhead) {
        const seconds = Math.round(milliseconds / 1000)
        log.warn({ seconds }, 'a lease ends implausibly far in the future: a clock was ahead, or this one is behind')
      }
      wasAhead = isAhead
    },
    check(isAtWork) {
      const passed = timing.elapsed() - completedAt
      if (passed <= limitMs || isAtWork) return
      setStalled(reasonAfter(passed))
    },
  }
}
