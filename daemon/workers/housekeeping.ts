/** Forgets what is past its time: expired Idempotency-Keys. Hourly, and once at the start. */
import { pruneIdempotencyKeys } from '../../src/store/idempotency.ts'
import type { WorkerDefinition } from './frame.ts'

export const housekeeping: WorkerDefinition = {
  name: 'housekeeping',
  schedule: '0 17 * * * *',
  leaseMs: 60_000,
  async tick({ store, clock, log }) {
    const count = await store.write((tx) => pruneIdempotencyKeys(tx, clock.now()))
    log.debug({ count }, 'expired idempotency keys forgotten')
  },
}
