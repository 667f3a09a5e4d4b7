/** Claims fees by the schedules: handles each period once, and continues unfinished runs. */
import { runFeeSchedules } from '../../src/operations/fee-schedules/run-schedules.ts'
import type { WorkerDefinition } from './definition.ts'

export const feeSchedulesWorker: WorkerDefinition = {
  name: 'fee-schedules',
  schedule: { everyMs: 5_000 },
  leaseMs: 60_000,
  // Allows for a round of claims with a slow node.
  deadlineMs: 300_000,
  tick: (context) => runFeeSchedules(context, context),
}
