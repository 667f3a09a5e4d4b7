/** Runs one tick of a worker under its lease and its deadline. */
import { findLease } from '../../src/store/workers/leases.ts'
import type { WorkerContext, WorkerDefinition } from './definition.ts'
import { takeLease } from './lease.ts'
import type { WorkerProgress } from './progress.ts'
import type { Timing } from './timing.ts'

const DEADLINE_MS = 60_000

export interface TickOptions {
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
export async function runTick(options: TickOptions): Promise<'done' | 'idle' | 'refused'> {
  const { definition, owner, context, timing, progress, slot, controller } = options
  const { name, leaseMs, deadlineMs = DEADLINE_MS } = definition
  const { store, clock } = context
  const { ahead: onAhead } = progress
  const lease = await takeLease(context, { name, owner, leaseMs, slot, timing, controller, onAhead })
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
