/** Delivers events to webhook subscriptions within seconds. */
import { deliverRound } from '../../src/operations/webhook-deliveries/deliver.ts'
import type { WorkerDefinition } from './definition.ts'

export const webhookDeliveryWorker: WorkerDefinition = {
  name: 'webhook-delivery',
  schedule: { everyMs: 1_000 },
  // Nothing is delivered until the lease of a daemon that hangs has run out.
  leaseMs: 8_000,
  // A busy tick continues for a long time, because the end of a tick has to wait for every delivery under way.
  deadlineMs: 600_000,
  tick: (context) => deliverRound(context, context),
}
