/** Finds the payments of pay requests on chain. */
import { followPayRequests } from '../../src/operations/pay-requests/follow-pay-requests.ts'
import type { WorkerDefinition } from './definition.ts'

export const payRequestsWorker: WorkerDefinition = {
  name: 'pay-requests',
  schedule: { everyMs: 2_000 },
  leaseMs: 8_000,
  tick: (context) => followPayRequests(context, context.signal),
}
