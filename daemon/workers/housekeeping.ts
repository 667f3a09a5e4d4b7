/** Deletes old rows in bounded steps: what is expired, and what is older than the retention settings say. */
import type { Config, SettingName } from '../../src/config.ts'
import { pruneUnfinishedAssets } from '../../src/store/assets.ts'
import { pruneCutEntries } from '../../src/store/audit-anchors.ts'
import { pruneEvents, pruneQueued } from '../../src/store/event-retention.ts'
import { CLOCK_SLACK_MS } from '../../src/store/future-moments.ts'
import { pruneIdempotencyKeys } from '../../src/store/idempotency.ts'
import { inSteps } from '../../src/store/in-steps.ts'
import { pruneRateHits } from '../../src/store/rate-hits.ts'
import { pruneSignings } from '../../src/store/signing-retention.ts'
import type { Tx } from '../../src/store/store.ts'
import { pruneRawTransactions } from '../../src/store/transaction-retention.ts'
import { markDrained, pruneLeaves } from '../../src/store/tree-retention.ts'
import { pruneDeliveries } from '../../src/store/webhook-deliveries.ts'
import { DAY_MS, HOUR_MS } from '../../src/timing.ts'
import type { WorkerDefinition } from './definition.ts'

/** Removes rows that are too old at `now`, at most `limit` at once; returns how many, below `limit` at the end. */
type Prune = (tx: Tx, now: number, limit: number) => Promise<number>

/** An Idempotency-Key lives at most 30 days, and its retry looks for the signing that it began. */
const SHORTEST_SIGNING_DAYS = 31

/** A step removes few assets, because each has several pieces. */
const ROWS_PER_ASSET = 50

const ALWAYS: Readonly<Record<string, Prune>> = {
  idempotency_keys: pruneIdempotencyKeys,
  // The clock that counts them may be behind this one.
  rate_hits: (tx, now, limit) => pruneRateHits(tx, now - DAY_MS - CLOCK_SLACK_MS, limit),
  merkle_trees: markDrained,
  assets: async (tx, now, limit) =>
    ROWS_PER_ASSET * (await pruneUnfinishedAssets(tx, now - DAY_MS, Math.ceil(limit / ROWS_PER_ASSET))),
  webhook_queue: (tx, _, limit) => pruneQueued(tx, limit),
}

type RetentionSetting = Extract<SettingName, `retention.${string}`>

/** How each table is pruned by age: rows from before `before` are removed. */
const BY_AGE: Record<RetentionSetting, (before: number, ...step: Parameters<Prune>) => Promise<number>> = {
  'retention.events-days': (before, tx, _, limit) => pruneEvents(tx, before, limit),
  'retention.deliveries-days': (before, tx, _, limit) => pruneDeliveries(tx, before, limit),
  'retention.transaction-bytes-days': (before, tx, now, limit) => pruneRawTransactions(tx, { before, now }, limit),
  'retention.trees-days': (before, tx, now, limit) => pruneLeaves(tx, { before, now }, limit),
  'retention.signings-days': (before, tx, now, limit) =>
    pruneSignings(tx, Math.min(before, now - SHORTEST_SIGNING_DAYS * DAY_MS), limit),
}

/** Zero days keep everything. */
function byAge({ values }: Config): [name: string, prune: Prune][] {
  return (Object.keys(BY_AGE) as RetentionSetting[]).flatMap((name) => {
    const days = values[name]
    if (days === 0) return []
    return [[name, (tx, now, limit) => BY_AGE[name](now - days * DAY_MS, tx, now, limit)]]
  })
}

export const housekeepingWorker: WorkerDefinition = {
  name: 'housekeeping',
  schedule: { everyMs: HOUR_MS, offsetMs: 1_020_000 },
  leaseMs: 60_000,
  // Millions of rows take a long time; rows that are left at the deadline are deleted by the next tick.
  deadlineMs: 600_000,
  async tick({ config, store, vault, clock, log, signal, stopping }) {
    const audit: Prune = (tx, _, limit) => pruneCutEntries(tx, vault, limit)
    for (const [what, prune] of [...byAge(config), ...Object.entries(ALWAYS), ['audit_entries', audit] as const]) {
      const count = await inSteps(store, (tx, limit) => prune(tx, clock.now(), limit), signal, stopping)
      log.debug({ what, count }, 'what is past its time was removed')
    }
    let isMore = true
    while (isMore && !signal.aborted && !stopping.aborted) isMore = await store.reclaim()
  },
}
