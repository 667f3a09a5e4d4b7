/** The state of a worker in this process: its ticks and its last error, as the API shows them. */
import type { Worker } from '../../src/api/service.ts'
import { WORKER_NAMES } from '../../src/api/worker-names.ts'

/** The state of one worker; `name` is a worker of the API, or an internal task. */
export interface WorkerState extends Omit<Worker, 'name'> {
  name: string
}

export const initialState = (name: string): WorkerState => ({
  name,
  running: false,
  healthy: false,
  last_tick_at: null,
  ticks_total: 0,
  errors_total: 0,
  last_error: null,
  last_error_at: null,
  stalled_reason: null,
})

/** Number of last ticks that decide about a worker's health. Older faults no longer count. */
const RECENT_TICKS = 5

/** The outcomes of a worker's last ticks, the oldest first. */
export class RecentTicks {
  readonly #succeeded: boolean[] = []

  add(succeeded: boolean): void {
    this.#succeeded.push(succeeded)
    if (this.#succeeded.length > RECENT_TICKS) this.#succeeded.shift()
  }

  /** Whether the last tick succeeded, and more of the last ones did than failed. */
  areHealthy(): boolean {
    const successes = this.#succeeded.filter((succeeded) => succeeded).length
    return this.#succeeded.at(-1) === true && successes > this.#succeeded.length - successes
  }
}

/**
 * The state of every worker of the API, in the API's order. A worker that was not started here has the initial state.
 */
export function workerStates(states: readonly WorkerState[]): Worker[] {
  return WORKER_NAMES.map((name) => ({
    ...(states.find((state) => state.name === name) ?? initialState(name)),
    name,
  }))
}
