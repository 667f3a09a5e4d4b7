/** Deletes old rows in small steps: expired ones, and those older than the retention settings allow. */
import { DAY_MS, HOUR_MS } from '../../src/platform/timing.ts'
import type { Config, SettingName } from '../../src/settings/config.ts'
import { markDrained, pruneLeaves } from '../../src/store/airdrops/tree-retention.ts'
import { pruneCutEntries } from '../../src/store/audit/anchors.ts'
import { pruneEvents, pruneQueued } from '../../src/store/events/retention.ts'
import { pruneFeeScheduleRuns } from '../../src/store/fees/fee-schedule-runs.ts'
import { pruneProposalRequests } from '../../src/store/proposals/proposals.ts'
import { pruneConsoleSessions } from '../../src/store/requests/console-sessions.ts'
import { pruneIdempotencyKeys } from '../../src/store/requests/idempotency.ts'
import { pruneRateHits } from '../../src/store/requests/rate-hits.ts'
import { pruneUnfinishedAssets } from '../../src/store/resources/assets.ts'
import { pruneHolderSnapshots } from '../../src/store/resources/holder-snapshots.ts'
import { prunePayRequests } from '../../src/store/resources/pay-requests.ts'
import { pruneSignings } from '../../src/store/signing/signings.ts'
import type { Tx } from '../../src/store/store.ts'
import { pruneRefreshedMessages } from '../../src/store/transactions/refreshed-messages.ts'
import { pruneRawTransactions } from '../../src/store/transactions/transactions.ts'
import { pruneDeliveries } from '../../src/store/webhooks/deliveries.ts'
import { CLOCK_SLACK_MS } from '../../src/store/writing/future-moments.ts'
import {
  inSteps,
  type PrunedTable,
  removeInSteps,
  type StepRemoval,
  withPauses,
} from '../../src/store/writing/in-steps.ts'
import type { WorkerDefinition } from './definition.ts'

/**
 * Removes at most `limit` rows that are too old at `now`; returns the number, which is below `limit` when none is
 * left.
 */
type Prune = (tx: Tx, now: number, limit: number) => Promise<number | StepRemoval>

/** An Idempotency-Key is stored for at most 30 days, and a retry needs the signing that it started. */
const SHORTEST_SIGNING_DAYS = 31

/** Days after which no caller can still be waiting for the signature. */
const REFRESHED_DAYS = 30

/** Days after which nobody asks any more what became of a pay request. */
const PAY_REQUEST_DAYS = 30

/** Days after which nobody renews a proposal that has ended. */
const PROPOSAL_REQUEST_DAYS = 30

/** A step removes only a few assets, because each has several pieces. */
const ROWS_PER_ASSET = 50

const ALWAYS: readonly (readonly [PrunedTable, Prune])[] = [
  ['idempotency_keys', pruneIdempotencyKeys],
  ['console_sessions', pruneConsoleSessions],
  // The clock that counts them may be behind this one.
  ['rate_hits', (tx, now, limit) => pruneRateHits(tx, now - DAY_MS - CLOCK_SLACK_MS, limit)],
  [
    'assets',
    async (tx, now, limit) => {
      const removed = await pruneUnfinishedAssets(tx, now - DAY_MS, Math.ceil(limit / ROWS_PER_ASSET))
      return { used: ROWS_PER_ASSET * removed, removed }
    },
  ],
  ['pay_requests', (tx, now, limit) => prunePayRequests(tx, now - PAY_REQUEST_DAYS * DAY_MS, limit)],
  ['proposals', (tx, now, limit) => pruneProposalRequests(tx, now - PROPOSAL_REQUEST_DAYS * DAY_MS, limit)],
  ['webhook_queue', (tx, _, limit) => pruneQueued(tx, limit)],
  ['refreshed_messages', (tx, now, limit) => pruneRefreshedMessages(tx, now - REFRESHED_DAYS * DAY_MS, limit)],
]

type RetentionSetting = Extract<SettingName, `retention.${string}`>
type PruneByAge = (before: number, ...step: Parameters<Prune>) => ReturnType<Prune>

/** How each table is pruned by age: rows from before `before` are removed. */
const BY_AGE: Record<RetentionSetting, readonly [PrunedTable, PruneByAge]> = {
  'retention.events-days': ['events', (before, tx, _, limit) => pruneEvents(tx, before, limit)],
  'retention.deliveries-days': ['webhook_deliveries', (before, tx, _, limit) => pruneDeliveries(tx, before, limit)],
  'retention.transaction-bytes-days': [
    'transactions',
    (before, tx, now, limit) => pruneRawTransactions(tx, { before, now }, limit),
  ],
  'retention.trees-days': ['merkle_blobs', (before, tx, now, limit) => pruneLeaves(tx, { before, now }, limit)],
  'retention.signings-days': [
    'signings',
    (before, tx, now, limit) => pruneSignings(tx, Math.min(before, now - SHORTEST_SIGNING_DAYS * DAY_MS), limit),
  ],
  'retention.schedule-runs-days': [
    'fee_schedule_runs',
    (before, tx, _, limit) => pruneFeeScheduleRuns(tx, before, limit),
  ],
  'retention.holder-snapshots-days': [
    'holder_snapshots',
    (before, tx, _, limit) => pruneHolderSnapshots(tx, before, limit),
  ],
}

/** Zero days keep everything. */
function byAge({ values }: Config): (readonly [PrunedTable, Prune])[] {
  return (Object.keys(BY_AGE) as RetentionSetting[]).flatMap((name) => {
    const days = values[name]
    if (days === 0) return []
    const [table, prune] = BY_AGE[name]
    return [[table, (tx, now, limit) => prune(now - days * DAY_MS, tx, now, limit)] as const]
  })
}

export const housekeepingWorker: WorkerDefinition = {
  name: 'housekeeping',
  schedule: { everyMs: HOUR_MS, offsetMs: 1_020_000 },
  leaseMs: 60_000,
  // Millions of rows take long; the next tick deletes rows that are left at the deadline.
  deadlineMs: 600_000,
  async tick({ config, store, vault, clock, log, signal, stopping }) {
    const audit: Prune = (tx, _, limit) => pruneCutEntries(tx, vault, limit)
    await inSteps(store, (tx, limit) => markDrained(tx, clock.now(), limit), signal, stopping)
    const faults: unknown[] = []
    for (const [table, prune] of [...byAge(config), ...ALWAYS, ['audit_entries', audit] as const]) {
      const step = (tx: Tx, limit: number) => prune(tx, clock.now(), limit)
      try {
        const rows = await removeInSteps(store, table, step, signal, stopping)
        log.debug({ table, rows }, 'old rows were removed')
      } catch (error) {
        // One table must not keep the others from being pruned.
        log.error({ table, err: error }, 'old rows were not removed')
        faults.push(error)
      }
    }
    if (faults.length > 0) throw faults[0]
    await withPauses(() => store.reclaim(), signal, stopping)
  },
}
