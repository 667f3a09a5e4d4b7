/** Reads the state of the workers in other daemons from their leases in the database. */
import type { Worker } from '../../api/service.ts'
import { WORKER_NAMES } from '../../api/worker-names.ts'
import type { Row } from '../../store/schema.ts'
import type { Reader } from '../../store/store.ts'
import { findLeases } from '../../store/workers/leases.ts'

/** Every worker has three turns within this time, in milliseconds. */
const SILENT_MS = 30_000

/**
 * Reads the state of each worker at `now`, in Unix milliseconds. Errors are known only in the daemon where they
 * occurred.
 */
export async function workersElsewhere(reader: Reader, now: number): Promise<Worker[]> {
  const leases = await findLeases(reader, WORKER_NAMES)
  return WORKER_NAMES.map((name) =>
    workerOf(
      name,
      leases.find((lease) => lease.name === name),
      now,
    ),
  )
}

function workerOf(name: Worker['name'], lease: Row<'leases'> | undefined, now: number): Worker {
  const { slot = 0, until = 0, done = 0 } = lease ?? {}
  const isAtWork = until > now || now - slot <= SILENT_MS
  const since = slot === 0 ? 'ever' : `for ${Math.floor((now - slot) / 1000)} s`
  return {
    name,
    running: isAtWork,
    healthy: isAtWork,
    last_tick_at: slot === 0 ? null : new Date(slot).toISOString(),
    ticks_total: done,
    errors_total: 0,
    last_error: null,
    last_error_at: null,
    stalled_reason: isAtWork ? null : `no daemon has run it ${since}: start one with the role worker or all`,
  }
}
