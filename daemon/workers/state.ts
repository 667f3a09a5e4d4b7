/** The state of a worker in this process: its ticks and its last error, as the API shows them. */
import type { Worker } from '../../src/api/service.ts'
import { WORKER_NAMES } from '../../src/api/worker-names.ts'
import type { Redactor } from '../../src/settings/redaction.ts'

const MAX_ERROR_LENGTH = 300

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

/** Number of last ticks that decide about a worker's health, so that a past fault soon no longer counts. */
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

/**
 * An error on one line without credentials. It is shortened after redaction, so no part of a credential remains.
 */
export function errorLine(error: unknown, { text }: Redactor): string {
  const { message, name, code } = (error instanceof Error ? error : { message: String(error) }) as Error & {
    code?: unknown
  }
  const line = text(message).replace(/\s+/g, ' ').trim() || String(code ?? name ?? 'unknown error')
  return line.length > MAX_ERROR_LENGTH ? `${line.slice(0, MAX_ERROR_LENGTH - 1)}…` : line
}
