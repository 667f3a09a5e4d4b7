/** Delivers events to webhook subscriptions, in seconds. */
import { deliverRound } from '../../src/operations/webhook-deliveries/deliver.ts'
import type { WorkerDefinition } from './definition.ts'

export const webhookDeliveryWorker: WorkerDefinition = {
  name: 'webhook-delivery',
  schedule: { everyMs: 1_000 },
  leaseMs: 30_000,
  // A busy tick goes on and on: between two, what is under way would have to end.
  deadlineMs: 600_000,
  tick: (context) => deliverRound(context, { signal: context.signal, stopping: context.stopping }),
}
