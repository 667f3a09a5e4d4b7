/** Runs the ticks of one worker in this process, one at a time, and maintains its state. */
import type { Log } from '../../src/platform/log.ts'
import { inSpan } from '../../src/platform/telemetry/spans.ts'
import { errorLine, redactorOf } from '../../src/settings/redaction.ts'
import type { Row } from '../../src/store/schema.ts'
import { findLease } from '../../src/store/workers/leases.ts'
import type { Metrics } from '../metrics.ts'
import type { WorkerContext, WorkerDefinition, WorkerServices } from './definition.ts'
import { takeLease } from './lease.ts'
import { initialState, RecentTicks, type WorkerState } from './state.ts'
import type { Timing, WorkerSchedule } from './timing.ts'

/**
 * `idle`: another daemon has the lease or has done this slot. `busy`: the previous tick has not ended, so no tick was
 * started or counted.
 */
export type TickOutcome = 'done' | 'idle' | 'failed' | 'busy'

interface WorkerRunner {
  state: WorkerState
  /** The current state, with the reason if the worker is stalled. */
  currentState(): WorkerState
  run(slot?: number): Promise<TickOutcome>
  wake(): void
  /** Refuses further ticks; resolves when the current one has ended. */
  close(): Promise<void>
  /** Aborts the current tick; returns false if there is none. */
  abort(reason: Error): boolean
}

export interface WorkerRunnerOptions {
  /** The unique owner name of this process. */
  owner: string
  metrics: Pick<Metrics, 'tick' | 'stalled' | 'clockFault'>
  timing: Timing
  /** The workers of this process that have stalled. */
  stalled: NonNullable<WorkerContext['stalled']>
}

export function createWorkerRunner(
  services: WorkerServices,
  definition: WorkerDefinition,
  { owner, metrics, timing, stalled }: WorkerRunnerOptions,
): WorkerRunner {
  const { name } = definition
  const { config, store, vault, clock, chain, programs, signer, wake, ending, repeat } = services
  const log = workerLog(services.log, name)
  const state: WorkerState = { ...initialState(name), running: true }
  const recent = new RecentTicks()
  const stopper = new AbortController()
  const stopping = stopper.signal
  const wakeListeners = new Set<() => void>()
  const onWake = (listener: () => void) => void wakeListeners.add(listener)
  const report = (error: unknown) => {
    state.last_error = errorLine(error, redactorOf(config))
    state.last_error_at = new Date(clock.now()).toISOString()
  }
  const context = {
    report,
    config,
    store,
    vault,
    clock,
    log,
    chain,
    programs,
    signer,
    wake,
    ending,
    repeat,
    metrics,
    stopping,
    stalled: () => stalled().filter(({ worker }) => worker !== name),
    onWake,
    again(milliseconds: number) {
      cancelAgain?.()
      cancelAgain = isClosed ? undefined : timing.after(milliseconds, () => void runWoken())
    },
  }
  const progress: WorkerProgress = watchProgress({ definition, state, metrics, timing, log })
  let isClosed = false
  let cancelWake: (() => void) | undefined
  let cancelAgain: (() => void) | undefined
  let current: { controller: AbortController; ended: Promise<TickOutcome> } | undefined

  function record(startedAt: number, error?: unknown): void {
    const at = clock.now()
    const failed = error !== undefined
    recent.add(!failed)
    metrics.tick(name, { failed, seconds: Math.max(0, at - startedAt) / 1000, at })
    if (!failed) {
      state.ticks_total++
      state.last_tick_at = new Date(at).toISOString()
      return
    }
    state.errors_total++
    report(error)
    log.error({ err: error }, 'a tick failed')
  }

  const isAtWork = () => current !== undefined && !current.controller.signal.aborted

  async function runAndRecord(slot: number | undefined, controller: AbortController): Promise<TickOutcome> {
    const startedAt = clock.now()
    const { signal } = controller
    // A tick that ignores its signal is recorded as failed at the abort. It delays only its own worker, and its lease
    // expires.
    signal.addEventListener('abort', () => {
      state.running = false
      record(startedAt, signal.reason)
    })
    let outcome: Awaited<ReturnType<typeof runTick>>
    try {
      const tick = () => runTick({ definition, owner, context, timing, progress, slot, controller })
      outcome = await inSpan({ name: `worker ${name}`, attributes: { 'svc.worker': name }, isRoot: true }, tick)
    } catch (error) {
      if (!signal.aborted) record(startedAt, error ?? new Error('unknown error'))
      else if (error !== signal.reason) log.debug({ err: error }, 'an aborted tick ended')
      return 'failed'
    }
    // The lease was refused and no other daemon does the work, so no tick is counted.
    if (outcome === 'refused') return 'idle'
    progress.completed(outcome === 'done')
    record(startedAt)
    return outcome
  }

  function run(slot?: number): Promise<TickOutcome> {
    progress.check(isAtWork())
    if (current !== undefined || isClosed) return Promise.resolve('busy')
    const controller = new AbortController()
    wakeListeners.clear()
    cancelAgain?.()
    cancelAgain = undefined
    const ended = runAndRecord(slot, controller).finally(() => {
      current = undefined
      state.running = !isClosed
    })
    current = { controller, ended }
    return ended
  }

  async function runWoken(): Promise<void> {
    while (current !== undefined) await current.ended
    cancelWake = undefined
    await run()
  }

  return {
    state,
    currentState() {
      if (!isClosed) progress.check(isAtWork())
      state.healthy = state.running && state.stalled_reason === null && recent.areHealthy()
      return state
    },
    run,
    wake() {
      for (const listener of wakeListeners) listener()
      if (isClosed || cancelWake !== undefined) return
      cancelWake = timing.after(0, () => void runWoken())
    },
    async close() {
      isClosed = true
      stopper.abort()
      cancelWake?.()
      cancelAgain?.()
      await current?.ended
      state.running = false
    },
    abort(reason) {
      current?.controller.abort(reason)
      return current !== undefined
    },
  }
}

/** A log that adds the worker's name to every line. */
function workerLog(log: Log, worker: string): Log {
  return {
    debug: (fields, message) => log.debug({ worker, ...fields }, message),
    info: (fields, message) => log.info({ worker, ...fields }, message),
    warn: (fields, message) => log.warn({ worker, ...fields }, message),
    error: (fields, message) => log.error({ worker, ...fields }, message),
  }
}

// Runs one tick of a worker under its lease and its deadline.

const DEADLINE_MS = 60_000

/** Of a task that every process runs. */
const NO_LEASE = { end: async () => {} }

interface TickOptions {
  definition: WorkerDefinition
  /** The unique owner name of this process. */
  owner: string
  context: Omit<WorkerContext, 'signal'>
  timing: Timing
  progress: Pick<WorkerProgress, 'ahead' | 'isElsewhere'>
  /** Moment of the schedule, in Unix milliseconds; undefined for a tick outside the schedule. */
  slot: number | undefined
  /** Aborted at the deadline and when the lease is lost; an abort ends the tick. */
  controller: AbortController
}

/**
 * `idle`: another daemon has the lease or has done this slot. `refused`: the lease was refused, and no daemon is known
 * to do the work. Throws what the tick throws, and the reason of an abort.
 */
async function runTick(options: TickOptions): Promise<'done' | 'idle' | 'refused'> {
  const { definition, owner, context, timing, progress, slot, controller } = options
  const { name, leaseMs, deadlineMs = DEADLINE_MS, isOfProcess = false } = definition
  const { store, clock } = context
  const { ahead: onAhead } = progress
  const terms = { name, owner, leaseMs, slot, timing, controller, onAhead }
  const lease = isOfProcess ? NO_LEASE : await takeLease(context, terms)
  if (lease === null) {
    const row = await findLease(store.db, name)
    return progress.isElsewhere(row, clock.now()) ? 'idle' : 'refused'
  }
  const late = new Error(`the tick took longer than ${deadlineMs} ms`)
  const cancel = timing.after(deadlineMs, () => controller.abort(late))
  let done = false
  try {
    controller.signal.throwIfAborted()
    await definition.tick({ ...context, signal: controller.signal })
    controller.signal.throwIfAborted()
    done = true
    return 'done'
  } finally {
    cancel()
    await lease.end(done)
  }
}

// Detects a worker that has completed no tick for three periods, and reports the reason in its state, the metrics and
// the log.

const STALLED_PERIODS = 3
/** Milliseconds before any worker counts as stalled; a busy machine can delay one for almost as long. */
const LEAST_STALLED_MS = 30_000

interface WorkerProgress {
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

interface WorkerProgressOptions {
  definition: { name: string; schedule: WorkerSchedule }
  state: WorkerState
  metrics: Pick<Metrics, 'stalled' | 'clockFault'>
  timing: Pick<Timing, 'elapsed'>
  log: Log
}

/** Watches a worker by a monotonic clock, because the system clock may be the fault. */
function watchProgress({ definition, state, metrics, timing, log }: WorkerProgressOptions): WorkerProgress {
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
