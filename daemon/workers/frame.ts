/** The workers' frame: runs definitions on their schedules, each under a lease that other daemons respect. */
import type { Worker, WorkerName } from '../../src/api/service.ts'
import type { Services } from '../../src/context.ts'
import type { Log } from '../../src/log.ts'
import { redactorOf } from '../../src/redaction.ts'
import { findLease } from '../../src/store/leases.ts'
import type { Metrics } from '../metrics.ts'
import { takeLease } from './lease.ts'
import { type Progress, watchProgress } from './progress.ts'
import { errorLine, initialState, type WorkerState, workerStates } from './state.ts'
import { type Schedule, systemTiming, type Timing } from './timing.ts'

const DEADLINE_MS = 60_000
const STOP_MS = 8_000
/** What a tick is given to end in once a stop has run out of patience. */
const LAST_MS = 1_000

type FrameServices = Pick<
  Services,
  'config' | 'store' | 'vault' | 'clock' | 'log' | 'chain' | 'signer' | 'wake' | 'ending'
>

export interface WorkerContext extends FrameServices {
  metrics: Pick<Metrics, 'clockFault'>
  /** Aborted at the deadline, when the lease is lost and at a stop that waits no longer: end then, and write nothing more. */
  signal: AbortSignal
  /** Aborted as soon as a stop begins: begin nothing new then. */
  stopping: AbortSignal
}

export interface WorkerDefinition {
  /** One of the API's workers, or an internal task that it does not show. */
  name: WorkerName | 'housekeeping' | 'clock-repair'
  schedule: Schedule
  /** How long this process is believed to live without renewing. */
  leaseMs: number
  /** Longest a tick may take; a minute unless given. */
  deadlineMs?: number
  /** Idempotent and bounded: another process may do the same again after a crash. */
  tick(context: WorkerContext): Promise<void>
}

/** `idle`: another daemon has the lease or has done this slot; `busy`: the one before has not ended, nothing was counted. */
export type Outcome = 'done' | 'idle' | 'failed' | 'busy'

export interface Workers {
  status(): Worker[]
  /** Runs a tick soon, after the one that runs now; however often it is asked for, one. Unknown names do nothing. */
  wake(name: WorkerDefinition['name']): void
  /** Runs a tick now, for a moment of the schedule where `slot` is given; resolves when it has ended. Never rejects. */
  runOnce(name: WorkerDefinition['name'], slot?: number): Promise<Outcome>
  /** Starts no more ticks and waits for those that run, eight seconds and then one more after aborting them. */
  stop(): Promise<void>
}

export interface WorkersOptions {
  /** This process; unique to it. */
  owner: string
  metrics: Pick<Metrics, 'tick' | 'stalled' | 'clockFault'>
  timing?: Timing
}

/** Starts every worker: a tick soon, then by its schedule. */
export function startWorkers(
  services: FrameServices,
  definitions: readonly WorkerDefinition[],
  options: WorkersOptions,
): Workers {
  const { timing = systemTiming } = options
  const runners = new Map(
    definitions.map((definition) => [definition.name, createRunner(services, definition, options)]),
  )
  const all = [...runners.values()]
  const schedules = definitions.map(({ name, schedule }) =>
    timing.every(schedule, (slot) => void runners.get(name)!.run(slot)),
  )
  for (const runner of all) runner.wake()

  async function stop(): Promise<void> {
    for (const end of schedules) end()
    const ended = Promise.all(all.map((runner) => runner.close()))
    if (await within(timing, STOP_MS, ended)) return
    const late = all.filter((runner) => runner.abort(new Error('the daemon shuts down'))).map(({ state }) => state.name)
    services.log.warn({ workers: late }, 'workers were interrupted')
    await within(timing, LAST_MS, ended)
  }

  let stopping: Promise<void> | undefined
  return {
    status: () => workerStates(all.map((runner) => runner.look())),
    wake: (name) => runners.get(name)?.wake(),
    async runOnce(name, slot) {
      const runner = runners.get(name)
      return runner === undefined ? 'idle' : runner.run(slot)
    },
    stop: () => (stopping ??= stop()),
  }
}

/** True where `work` ends in time. */
function within(timing: Timing, milliseconds: number, work: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const cancel = timing.after(milliseconds, () => resolve(false))
    void work.finally(() => {
      cancel()
      resolve(true)
    })
  })
}

interface Runner {
  state: WorkerState
  /** The state as it is now, with why it is stalled. */
  look(): WorkerState
  run(slot?: number): Promise<Outcome>
  wake(): void
  /** Refuses further ticks; resolves when the last has ended. */
  close(): Promise<void>
  /** False where nothing runs. */
  abort(reason: Error): boolean
}

function createRunner(services: FrameServices, definition: WorkerDefinition, options: WorkersOptions): Runner {
  const { owner, metrics, timing = systemTiming } = options
  const { config, store, vault, clock, chain, signer, wake, ending } = services
  const { name, leaseMs, deadlineMs = DEADLINE_MS } = definition
  const log = logOf(services.log, name)
  const state: WorkerState = { ...initialState(name), running: true }
  const stopper = new AbortController()
  const progress: Progress = watchProgress({ definition, state, metrics, timing, log })
  let closed = false
  let woken: (() => void) | undefined
  let current: { controller: AbortController; ended: Promise<Outcome> } | undefined

  function record(startedAt: number, error?: unknown): void {
    const at = clock.now()
    const failed = error !== undefined
    metrics.tick(name, { failed, seconds: Math.max(0, at - startedAt) / 1000, at })
    if (!failed) {
      state.ticks_total++
      state.last_tick_at = new Date(at).toISOString()
      return
    }
    state.errors_total++
    state.last_error = errorLine(error, redactorOf(config))
    state.last_error_at = new Date(at).toISOString()
    log.error({ err: error }, 'a tick failed')
  }

  async function attempt(controller: AbortController, slot: number | undefined): Promise<Outcome | 'refused'> {
    const { ahead: onAhead } = progress
    const lease = await takeLease({ store, clock, log }, { name, owner, leaseMs, slot, timing, controller, onAhead })
    if (lease === null) {
      const row = await findLease(store.db, name)
      return progress.isElsewhere(row, clock.now()) ? 'idle' : 'refused'
    }
    const late = new Error(`the tick took longer than ${deadlineMs} ms`)
    const cancel = timing.after(deadlineMs, () => controller.abort(late))
    let done = false
    try {
      controller.signal.throwIfAborted()
      await definition.tick({
        config,
        store,
        vault,
        clock,
        log,
        chain,
        signer,
        wake,
        ending,
        metrics,
        signal: controller.signal,
        stopping: stopper.signal,
      })
      controller.signal.throwIfAborted()
      done = true
      return 'done'
    } finally {
      cancel()
      await lease.end(done)
    }
  }

  const isAtWork = () => current !== undefined && !current.controller.signal.aborted

  function run(slot?: number): Promise<Outcome> {
    progress.check(isAtWork())
    if (current !== undefined || closed) return Promise.resolve('busy')
    const startedAt = clock.now()
    const controller = new AbortController()
    const { signal } = controller
    // A tick that ignores its signal is told of now, holds up only itself, and has its lease run out.
    signal.addEventListener('abort', () => {
      state.running = false
      record(startedAt, signal.reason)
    })
    const ended = attempt(controller, slot)
      .then(
        (outcome): Outcome => {
          // Refused, and nobody else gets on with it: no tick, whatever it is that holds it up.
          if (outcome === 'refused') return 'idle'
          progress.made(outcome === 'done')
          record(startedAt)
          return outcome
        },
        (error): Outcome => {
          if (!signal.aborted) record(startedAt, error ?? new Error('unknown error'))
          else if (error !== signal.reason) log.debug({ err: error }, 'an aborted tick ended')
          return 'failed'
        },
      )
      .finally(() => {
        current = undefined
        state.running = !closed
      })
    current = { controller, ended }
    return ended
  }

  async function runWoken(): Promise<void> {
    while (current !== undefined) await current.ended
    woken = undefined
    await run()
  }

  return {
    state,
    look() {
      if (!closed) progress.check(isAtWork())
      return state
    },
    run,
    wake() {
      if (closed || woken !== undefined) return
      woken = timing.after(0, () => void runWoken())
    },
    async close() {
      closed = true
      stopper.abort()
      woken?.()
      await current?.ended
      state.running = false
    },
    abort(reason) {
      current?.controller.abort(reason)
      return current !== undefined
    },
  }
}

/** The log with the worker's name on every line. */
function logOf(log: Log, worker: string): Log {
  return {
    debug: (fields, message) => log.debug({ worker, ...fields }, message),
    info: (fields, message) => log.info({ worker, ...fields }, message),
    warn: (fields, message) => log.warn({ worker, ...fields }, message),
    error: (fields, message) => log.error({ worker, ...fields }, message),
  }
}
