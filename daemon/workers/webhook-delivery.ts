/** Delivers events to webhook subscriptions within seconds. */
import { deliverRound } from '../../src/operations/webhook-deliveries/deliver.ts'
import type { WorkerDefinition } from './definition.ts'

export const webhookDeliveryWorker: WorkerDefinition = {
  name: 'webhook-delivery',
  schedule: { everyMs: 1_000 },
  // Short, because nothing is delivered until the lease of a hanging daemon has expired.
  leaseMs: 8_000,
  // Long, because the end of a tick has to wait for every current delivery.
  deadlineMs: 600_000,
  tick: (context) => deliverRound(context, context),
}
