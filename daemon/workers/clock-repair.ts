/** Corrects, at the start and once a minute, timestamps that a clock set ahead has written to the database. */
import { repairMoments } from '../../src/operations/clock-repair.ts'
import type { WorkerDefinition } from './definition.ts'

export const clockRepairWorker: WorkerDefinition = {
  name: 'clock-repair',
  schedule: { everyMs: 60_000 },
  leaseMs: 60_000,
  async tick({ metrics, ...context }) {
    const repaired = await repairMoments(context, context.signal)
    for (const [what, count] of repaired) metrics.clockFault(what, count)
  },
}
