/** Forgets what is past its time, in bounded steps: expired Idempotency-Keys, attempts to deliver of a month ago, hits of a day ago. Hourly, and once at the start. */

import { pruneIdempotencyKeys } from '../../src/store/idempotency.ts'
import { inSteps } from '../../src/store/in-steps.ts'
import { pruneRateHits } from '../../src/store/rate-hits.ts'
import type { Tx } from '../../src/store/store.ts'
import { pruneDeliveries } from '../../src/store/webhook-deliveries.ts'
import { DAY_MS } from '../../src/timing.ts'
import type { WorkerDefinition } from './frame.ts'

const DELIVERIES_MS = 30 * DAY_MS

/** Every table that forgets: what is older than its time at `now` goes, up to `limit` rows at once. */
const PRUNED: Record<string, (tx: Tx, now: number, limit: number) => Promise<number>> = {
  idempotency_keys: pruneIdempotencyKeys,
  webhook_deliveries: (tx, now, limit) => pruneDeliveries(tx, now - DELIVERIES_MS, limit),
  rate_hits: (tx, now, limit) => pruneRateHits(tx, now - DAY_MS, limit),
}

export const housekeeping: WorkerDefinition = {
  name: 'housekeeping',
  schedule: { everyMs: 3_600_000, offsetMs: 1_020_000 },
  leaseMs: 60_000,
  // Millions of rows take their time; what is left at the end is the next tick's.
  deadlineMs: 600_000,
  async tick({ store, clock, log, signal, stopping }) {
    for (const [table, prune] of Object.entries(PRUNED)) {
      const count = await inSteps(store, (tx, limit) => prune(tx, clock.now(), limit), signal, stopping)
      log.debug({ table, count }, 'what is past its time was forgotten')
    }
  },
}
