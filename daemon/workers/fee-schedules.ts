/** Claims fees by the schedules: takes each period once, and goes on with the runs under way. */
import { runFeeSchedules } from '../../src/operations/fee-schedules/run-schedules.ts'
import type { WorkerDefinition } from './definition.ts'

export const feeSchedulesWorker: WorkerDefinition = {
  name: 'fee-schedules',
  schedule: { everyMs: 5_000 },
  leaseMs: 60_000,
  // A round of claims at a slow node.
  deadlineMs: 300_000,
  tick: (context) => runFeeSchedules(context, context),
}
