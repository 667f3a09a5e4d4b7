/** Runs worker definitions on their schedules, each under a lease that other daemons respect. */
import type { Worker } from '../../src/api/service.ts'
import { systemTiming } from './cron.ts'
import type { WorkerDefinition, WorkerServices } from './definition.ts'
import { createWorkerRunner, type TickOutcome, type WorkerRunnerOptions } from './runner.ts'
import { workerStates } from './state.ts'
import type { Timing } from './timing.ts'

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

export interface WorkersOptions extends Omit<WorkerRunnerOptions, 'timing'> {
  timing?: Timing
}

/** Starts every worker: one tick immediately, further ticks by its schedule. */
export function startWorkers(
  services: WorkerServices,
  definitions: readonly WorkerDefinition[],
  { timing = systemTiming, ...options }: WorkersOptions,
): Workers {
  const runners = definitions.map((definition) => ({
    definition,
    runner: createWorkerRunner(services, definition, { ...options, timing }),
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
