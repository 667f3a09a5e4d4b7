/** Forgets what is past its time: expired Idempotency-Keys, attempts to deliver of a month ago. Hourly, and once at the start. */
import { pruneIdempotencyKeys } from '../../src/store/idempotency.ts'
import { pruneDeliveries } from '../../src/store/webhook-deliveries.ts'
import type { WorkerDefinition } from './frame.ts'

const DELIVERIES_MS = 30 * 86_400_000

export const housekeeping: WorkerDefinition = {
  name: 'housekeeping',
  schedule: { everyMs: 3_600_000, offsetMs: 1_020_000 },
  leaseMs: 60_000,
  async tick({ store, clock, log }) {
    const count = await store.write((tx) => pruneIdempotencyKeys(tx, clock.now()))
    log.debug({ count }, 'expired idempotency keys forgotten')
    const attempts = await store.write((tx) => pruneDeliveries(tx, clock.now() - DELIVERIES_MS))
    log.debug({ attempts }, 'old delivery attempts forgotten')
  },
}
