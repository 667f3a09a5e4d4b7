/** Runs worker definitions on their schedules, each under a lease that other daemons respect. */

import { schedule } from 'node-cron'
import type { Worker } from '../../src/api/service.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/platform/timing.ts'
import type { WorkerDefinition, WorkerServices } from './definition.ts'
import { createWorkerRunner, type TickOutcome, type WorkerRunnerOptions } from './runner.ts'
import { workerStates } from './state.ts'
import type { Timing, WorkerSchedule } from './timing.ts'

/** Milliseconds that `stop` waits for running ticks. */
const STOP_TIMEOUT_MS = 8_000
/** Milliseconds that a tick has to end after `stop` has aborted it. */
const ABORTED_TIMEOUT_MS = 1_000

export interface Workers {
  status(): Worker[]
  /**
   * Runs one tick soon, after the current tick if there is one; repeated calls before it starts have no effect.
   * Unknown names are ignored; null means every worker.
   */
  wake(name: string | null): void
  /**
   * Runs a tick now, for the moment `slot` of the schedule if given; resolves when it has ended. Never rejects.
   */
  runOnce(name: WorkerDefinition['name'], slot?: number): Promise<TickOutcome>
  /**
   * Starts no more ticks and waits up to eight seconds for current ones, then aborts them and waits one more second.
   */
  stop(): Promise<void>
}

interface WorkersOptions extends Omit<WorkerRunnerOptions, 'timing' | 'stalled'> {
  timing?: Timing
}

interface WorkerAndRunner {
  definition: WorkerDefinition
  runner: ReturnType<typeof createWorkerRunner>
}

/** Starts every worker: one tick immediately, further ticks by its schedule. */
export function startWorkers(
  services: WorkerServices,
  definitions: readonly WorkerDefinition[],
  { timing = systemTiming, ...options }: WorkersOptions,
): Workers {
  const stalled = () =>
    runners.flatMap(({ definition, runner }) => {
      const reason = runner.currentState().stalled_reason
      return reason === null ? [] : [{ worker: definition.name, reason }]
    })
  const runners: WorkerAndRunner[] = definitions.map((definition) => ({
    definition,
    runner: createWorkerRunner(services, definition, { ...options, timing, stalled }),
  }))
  const runnerNamed = (name: string) => runners.find(({ definition }) => definition.name === name)?.runner
  const schedules = runners.map(({ definition, runner }) =>
    timing.every(definition.schedule, (slot) => void runner.run(slot)),
  )
  for (const { runner } of runners) runner.wake()

  async function stop(): Promise<void> {
    for (const end of schedules) end()
    const ended = Promise.all(runners.map(({ runner }) => runner.close()))
    if (await endsWithin(timing, STOP_TIMEOUT_MS, ended)) return
    const late = runners.filter(({ runner }) => runner.abort(new Error('the daemon shuts down')))
    services.log.warn({ workers: late.map(({ definition }) => definition.name) }, 'workers were interrupted')
    await endsWithin(timing, ABORTED_TIMEOUT_MS, ended)
  }

  let stopping: Promise<void> | undefined
  return {
    status: () => workerStates(runners.map(({ runner }) => runner.currentState())),
    wake(name) {
      for (const { definition, runner } of runners) if (name === null || definition.name === name) runner.wake()
    },
    async runOnce(name, slot) {
      const runner = runnerNamed(name)
      return runner === undefined ? 'idle' : runner.run(slot)
    },
    stop: () => (stopping ??= stop()),
  }
}

/** Resolves with true if `work` ends in time. */
function endsWithin(timing: Timing, milliseconds: number, work: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const cancel = timing.after(milliseconds, () => resolve(false))
    void work.finally(() => {
      cancel()
      resolve(true)
    })
  })
}

/** Milliseconds between checks of the clock, unless the next moment of the schedule is nearer. */
const CLOCK_CHECK_MS = 10_000
/** The clock is checked this long before each moment, in case it was just set. */
const CLOCK_CHECK_LEAD_MS = 2
/** A check that runs this many milliseconds early or late shows that the clock was set or the process was blocked. */
const CLOCK_CHECK_SLACK_MS = 1_000

/** The fields of a cron expression: the unit in milliseconds, and how many of them the next larger unit has. */
const CRON_FIELDS = [
  [SECOND_MS, 60],
  [MINUTE_MS, 60],
  [HOUR_MS, 24],
] as const

/**
 * The cron expression, in UTC and with seconds, that matches exactly the moments of a schedule; throws if there is
 * none.
 */
export function cronExpression({ everyMs, offsetMs = 0 }: WorkerSchedule): string {
  const fields = CRON_FIELDS.map(([unitMs, count]) => {
    const step = everyMs / unitMs
    const at = Math.floor(offsetMs / unitMs) % count
    if (step <= 1) return '*'
    if (!Number.isInteger(step)) return undefined
    if (step % count === 0) return `${at}`
    if (count % step === 0) return `${at % step}-${count - 1}/${step}`
    return undefined
  })
  const isWhole = everyMs >= 1_000 && everyMs <= DAY_MS && offsetMs >= 0 && offsetMs % 1_000 === 0
  if (!isWhole || fields.includes(undefined)) {
    throw new Error(`no cron expression comes every ${everyMs} ms, ${offsetMs} ms after each multiple`)
  }
  return `${fields.join(' ')} * * *`
}

/**
 * Runs `act` at every moment of a schedule. After the clock was set back, node-cron by itself sleeps for up to a day;
 * after a jump ahead it runs every missed moment. A timer, which the clock does not affect, checks for both.
 */
function everySlot(period: WorkerSchedule, act: (slot: number) => void, { after }: Pick<Timing, 'after'>): () => void {
  const { everyMs, offsetMs = 0 } = period
  const expression = cronExpression(period)
  // A busy process may run late, up to the next moment; this needs no warning.
  const options = { timezone: 'Etc/UTC', missedExecutionTolerance: everyMs, suppressMissedWarning: true }
  const slotAt = (at: number) => Math.floor((at - offsetMs) / everyMs) * everyMs + offsetMs
  let last = slotAt(Date.now())

  function reach(slot: number): void {
    if (slot === last) return
    last = slot
    act(slot)
  }

  const start = () => schedule(expression, ({ date }) => reach(date.getTime()), options)

  function checkClock(): void {
    const ahead = Date.now() + CLOCK_CHECK_LEAD_MS
    const due = Math.min(slotAt(ahead) + everyMs, ahead + CLOCK_CHECK_MS) - CLOCK_CHECK_LEAD_MS
    cancel = after(Math.max(1, due - Date.now()), () => {
      const now = Date.now()
      if (Math.abs(now - due) > CLOCK_CHECK_SLACK_MS) {
        void task.destroy()
        task = start()
        reach(slotAt(now))
      }
      checkClock()
    })
  }

  let task = start()
  let cancel = () => {}
  checkClock()
  return () => {
    cancel()
    void task.destroy()
  }
}

export const systemTiming: Timing = {
  after(milliseconds, act) {
    const timer = setTimeout(act, milliseconds)
    return () => clearTimeout(timer)
  },
  every: (schedule, act) => everySlot(schedule, act, systemTiming),
  elapsed: () => performance.now(),
}
