/** Looks which builds of its programs the cluster runs, and tries new ones in a process of their own. */
import { watchPrograms } from '../../src/operations/programs/watch-programs.ts'
import { MINUTE_MS } from '../../src/platform/timing.ts'
import type { WorkerDefinition } from './definition.ts'

export const programWatchWorker: WorkerDefinition = {
  name: 'program-watch',
  schedule: { everyMs: 5 * MINUTE_MS, offsetMs: 2 * MINUTE_MS },
  leaseMs: MINUTE_MS,
  // Fetching new builds and their trial.
  deadlineMs: 10 * MINUTE_MS,
  async tick(context) {
    const { chain, signal, stopping } = context
    // To look at it would open it.
    if (chain.isUnused()) return
    await watchPrograms(context, { signal: AbortSignal.any([signal, stopping]) })
  },
}
