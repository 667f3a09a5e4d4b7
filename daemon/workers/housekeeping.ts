/** Deletes old rows in bounded steps: expired Idempotency-Keys, delivery attempts older than 30 days, rate hits older than a day. */
import { CLOCK_SLACK_MS } from '../../src/store/future-moments.ts'
import { pruneIdempotencyKeys } from '../../src/store/idempotency.ts'
import { inSteps } from '../../src/store/in-steps.ts'
import { pruneRateHits } from '../../src/store/rate-hits.ts'
import type { Tx } from '../../src/store/store.ts'
import { pruneDeliveries } from '../../src/store/webhook-deliveries.ts'
import { DAY_MS, HOUR_MS } from '../../src/timing.ts'
import type { WorkerDefinition } from './definition.ts'

const DELIVERY_RETENTION_MS = 30 * DAY_MS

/** How each table is pruned: rows that are too old at `now` are deleted, at most `limit` at once. */
const PRUNED_TABLES: Record<string, (tx: Tx, now: number, limit: number) => Promise<number>> = {
  idempotency_keys: pruneIdempotencyKeys,
  webhook_deliveries: (tx, now, limit) => pruneDeliveries(tx, now - DELIVERY_RETENTION_MS, limit),
  // The clock that counts them may be behind this one.
  rate_hits: (tx, now, limit) => pruneRateHits(tx, now - DAY_MS - CLOCK_SLACK_MS, limit),
}

export const housekeepingWorker: WorkerDefinition = {
  name: 'housekeeping',
  schedule: { everyMs: HOUR_MS, offsetMs: 1_020_000 },
  leaseMs: 60_000,
  // Millions of rows take a long time; rows that are left at the deadline are deleted by the next tick.
  deadlineMs: 600_000,
  async tick({ store, clock, log, signal, stopping }) {
    for (const [table, prune] of Object.entries(PRUNED_TABLES)) {
      const count = await inSteps(store, (tx, limit) => prune(tx, clock.now(), limit), signal, stopping)
      log.debug({ table, count }, 'what is past its time was forgotten')
    }
  },
}
