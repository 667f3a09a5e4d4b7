/** The queries of what needs a person, by kind, over the tables of the records that it concerns. */
import { type ExpressionBuilder, sql } from 'kysely'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../platform/timing.ts'
import { lastEndedRun } from '../fees/fee-schedule-runs.ts'
import type { Placeholders } from '../queries/prepared.ts'
import type { Tables } from '../schema.ts'
import type { Reader } from '../store.ts'
import { failingSince } from '../webhooks/deliveries.ts'
import { UNTRIED, WAITING } from '../webhooks/queue.ts'
import { BY_REQUEST } from '../webhooks/subscriptions.ts'

const WEEK_MS = 7 * DAY_MS

/** Times that the queries compare with, in Unix milliseconds. */
export const timesAt = (now: number) => ({
  now,
  minuteAgo: now - MINUTE_MS,
  /** What waits since then may still go on by itself. */
  graceAgo: now - 10 * MINUTE_MS,
  hourAgo: now - HOUR_MS,
  dayAgo: now - DAY_MS,
  /** What ended before, and that nobody has dealt with, has left the list. */
  weekAgo: now - WEEK_MS,
  weekAhead: now + WEEK_MS,
})
export type Times = Placeholders<ReturnType<typeof timesAt>>

// Values that are not bound, because SQLite uses a partial index only for a literal.
const FAILED = sql.lit('failed' as const)
const YES = sql.lit(1)
const NO = sql.lit(0)

/** Proposals that wait for approvals and have not expired. */
export const waitingApprovals = (reader: Reader, { now }: Times) =>
  reader
    .selectFrom('proposals')
    .select(['id as subject', 'created_at as since', 'expires_at', 'what', 'needed'])
    .select(({ selectFrom }) =>
      selectFrom('proposal_decisions')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .whereRef('proposal_decisions.proposal_id', '=', 'proposals.id')
        .where('proposal_decisions.decision', '=', 'approved')
        .as('approvals'),
    )
    .where('status', '=', 'active')
    .where('fault', 'is', null)
    .where(({ eb, or }) => or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))

/** Proposals that are approved and not executed, that cannot go on, or that became stale and were not renewed. */
export const stuckProposals = (reader: Reader, { minuteAgo, weekAgo }: Times) =>
  reader
    .selectFrom('proposals')
    .select(['id as subject', 'updated_at as since', 'what', 'fault', 'status', 'kind as approver', 'expires_at'])
    .select(({ eb }) => eb('request', 'is not', null).as('is_renewable'))
    .where(({ eb, or, and }) =>
      or([
        and([eb('status', '=', 'active'), eb('fault', 'is not', null)]),
        and([
          eb('status', '=', 'approved'),
          // A rule executes by itself, in a moment.
          or([eb('kind', '=', 'squads'), eb('fault', 'is not', null), eb('updated_at', '<=', minuteAgo)]),
        ]),
        and([eb('status', '=', 'stale'), eb('renewed_by', 'is', null), eb('updated_at', '>', weekAgo)]),
      ]),
    )
    .where('status', 'in', ['active', 'approved', 'stale'])

/** Whether nothing was submitted later for the same resource. */
const isLastOfResource = ({ not, exists, selectFrom }: ExpressionBuilder<Tables, 'transactions'>) =>
  not(
    exists(
      selectFrom('transactions as later')
        .select('later.seq')
        .whereRef('later.tracked_id', '=', 'transactions.tracked_id')
        .whereRef('later.seq', '>', 'transactions.seq'),
    ),
  )

/** Transactions that failed alone and were not retried. */
export const failedTransactions = (reader: Reader, { weekAgo }: Times) =>
  reader
    .selectFrom('transactions')
    .select(['signature as subject', 'created_at as since', 'err_json', 'raw', 'tracked_resource_json'])
    .where('lifecycle', '=', FAILED)
    .where('created_at', '>', weekAgo)
    .where('bundle_id', 'is', null)
    .where('retried_at', 'is', null)
    .where(isLastOfResource)

/** Transactions that no node has shown for a day, so that nobody knows whether they landed. */
export const unknownTransactions = (reader: Reader, { dayAgo }: Times) =>
  reader
    .selectFrom('transactions')
    .select(['signature as subject', 'created_at as since', 'tracked_resource_json'])
    .where('lifecycle', '=', 'submitted')
    .where('created_at', '<=', dayAgo)
    .where('retried_at', 'is', null)
    .where(isLastOfResource)

/** Bundles that had no effect, without a later transaction for their resource. */
export const undoneBundles = (reader: Reader, { weekAgo }: Times) =>
  reader
    .selectFrom('transactions')
    .select(({ fn, ref }) => [
      sql<string>`${ref('bundle_id')}`.as('subject'),
      fn.min<number>('created_at').as('since'),
      fn.countAll<number>().as('transactions'),
      fn.min<string>('err_json').as('err_json'),
    ])
    .where('lifecycle', '=', FAILED)
    .where('created_at', '>', weekAgo)
    .where('bundle_id', 'is not', null)
    .groupBy('bundle_id')
    .having(({ not, exists, selectFrom, ref }) =>
      not(
        exists(
          selectFrom('transactions as later')
            .innerJoin('transactions as own', 'own.tracked_id', 'later.tracked_id')
            .select('later.seq')
            .where('own.bundle_id', '=', ref('transactions.bundle_id'))
            .whereRef('later.seq', '>', 'own.seq'),
        ),
      ),
    )

/** Launches whose last submitted transaction landed, and whose pool does not exist: another transaction is missing. */
export const unfinishedLaunches = (reader: Reader, { graceAgo, weekAgo }: Times) =>
  reader
    .selectFrom('pools')
    .innerJoin('transactions as landed', 'landed.signature', 'pools.submitted_signature')
    .select(['address as subject', 'landed.created_at as since', 'symbol'])
    .select([
      sql<string | null>`cast(null as text)`.as('raise_state'),
      sql<string | null>`cast(null as text)`.as('reason'),
    ])
    .where('pools.status', 'in', ['pending', 'failed'])
    .where('pools.created_at', '>', weekAgo)
    .where('landed.lifecycle', 'in', ['confirmed', 'finalized'])
    .where('landed.created_at', '<=', graceAgo)
    // A pool with the ticker of another one exists, although its launch counts as failed.
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('events')
            .select('events.sequence')
            .where('events.type', '=', 'pool.failed')
            .whereRef('events.resource_id', '=', 'pools.address')
            .where('events.object_json', 'like', '%"reason":"ticker_taken"%'),
        ),
      ),
    )
    .unionAll(unsettledRaises(reader, graceAgo))

/** Raises that have ended, and whose creator has taken nothing. */
const unsettledRaises = (reader: Reader, graceAgo: Times['graceAgo']) =>
  reader
    .selectFrom('raises')
    .select(['id as subject', 'ends_at as since', sql<string | null>`cast(null as text)`.as('symbol')])
    .select([sql<string | null>`state`.as('raise_state'), 'settle_error as reason'])
    // The index of this query has this condition.
    .where(sql<boolean>`withdrawn = 0`)
    .where('state', 'in', ['completed', 'failed'])
    .where('ends_at', '<=', graceAgo)

/** The time at which the curve was full, as its event says. */
const fullSince = ({ fn, selectFrom, ref }: ExpressionBuilder<Tables, 'pools'>) =>
  fn.coalesce(
    selectFrom('events')
      .select('events.created_at')
      .where('events.type', '=', 'pool.migration_triggered')
      .whereRef('events.resource_id', '=', 'pools.address')
      .orderBy('events.sequence', 'desc')
      .limit(1),
    ref('pools.created_at'),
  )

/** Full curves that nobody has migrated, and that the platform wallet has not failed to migrate. */
export const fullPools = (reader: Reader, { graceAgo }: Times) =>
  reader
    .selectFrom('pools')
    .select(['address as subject', 'symbol'])
    .select((pool) => fullSince(pool).as('since'))
    .where('status', '=', 'migration_triggered')
    .where('crank_failures', '=', 0)
    .where((pool) => pool(fullSince(pool), '<=', graceAgo))

/** Full curves that the platform wallet has failed to migrate. */
export const failedMigrations = (reader: Reader) =>
  reader
    .selectFrom('pools')
    .select(['address as subject', 'crank_error', 'next_check_at', 'symbol'])
    .select((pool) => pool.fn.coalesce('crank_failed_at', fullSince(pool)).as('since'))
    .where('status', '=', 'migration_triggered')
    .where('crank_failures', '>', 0)

type OfSubscription = ExpressionBuilder<Tables, 'webhook_subscriptions'>

const queuedOf = ({ selectFrom }: OfSubscription) =>
  selectFrom('webhook_queue as q')
    .whereRef('q.subscription_id', '=', 'webhook_subscriptions.id')
    .where('q.attempts', '>', UNTRIED)

/**
 * Active subscriptions whose receiver has accepted nothing since an attempt that failed, with an event to be sent again.
 * Each is found by one look into the index of those events, however many events and subscriptions there are.
 */
export const failingReceivers = (reader: Reader) =>
  reader
    .withRecursive('retried(id)', (db) =>
      db
        .selectFrom('webhook_queue as q')
        .select(({ fn }) => fn.min<string | null>('q.subscription_id').as('id'))
        .where('q.attempts', '>', UNTRIED)
        .unionAll(
          db
            .selectFrom('retried')
            .select(({ selectFrom, fn }) =>
              selectFrom('webhook_queue as q')
                .select(fn.min<string>('q.subscription_id' as never).as('next'))
                .whereRef('q.subscription_id', '>', 'retried.id')
                .where('q.attempts', '>', UNTRIED)
                .as('id'),
            )
            .where('retried.id', 'is not', null),
        ),
    )
    .selectFrom('retried')
    .innerJoin('webhook_subscriptions', 'webhook_subscriptions.id', 'retried.id')
    .select('webhook_subscriptions.id as subject')
    .select((of) => sql<number>`${failingSince(of)}`.as('since'))
    .where('webhook_subscriptions.active', '=', YES)
    .where((of) => of.exists(queuedOf(of).select('q.seq').where('q.state', '=', WAITING)))
    .where((of) => of(failingSince(of), 'is not', null))

/** Subscriptions that were switched off because their events failed. */
export const switchedOffReceivers = (reader: Reader) =>
  reader
    .selectFrom('webhook_subscriptions')
    .select(['id as subject', 'updated_at as since', 'disabled_reason', 'url'])
    .where('active', '=', 0)
    .where('disabled_reason', '!=', BY_REQUEST)

/** Subscriptions that are off and hold events that failed for the last time. */
export const exhaustedDeliveries = (reader: Reader) =>
  reader
    .selectFrom('webhook_subscriptions')
    .select(['id as subject', 'updated_at as since'])
    .where('active', '=', NO)
    .where((of) => of.exists(queuedOf(of).select('q.seq').where('q.state', '=', 'held')))

/** Active schedules whose last ended run had one of the reasons, or claims that were refused or failed. */
export const stoppedSchedules = (reader: Reader, reasons: readonly string[]) =>
  reader
    .selectFrom('fee_schedules as s')
    .innerJoin('fee_schedule_runs as r', 'r.schedule_id', 's.id')
    .select(['s.id as subject', 's.next_run_at', 'r.reason', 'r.skipped_json'])
    .select(({ fn }) => fn.coalesce('r.ended_at', 'r.created_at').as('since'))
    .where('s.active', '=', 1)
    .where('r.seq', '=', lastEndedRun)
    .where(({ eb, or }) =>
      or([
        eb('r.reason', 'in', reasons),
        eb('r.skipped_json', 'like', '%"reason":"policy"%'),
        eb('r.skipped_json', 'like', '%"reason":"error"%'),
      ]),
    )

/** Most keys whose spends are summed; an installation has one, and a few former ones. */
const MOST_SIGNERS = 100

/** What each key has spent of each asset in the day that its policy counts; the empty mint is lamports. */
export async function spendsOfDay(reader: Reader, now: number) {
  const columns = ['signer', 'policy_json', 'spend_mark'] as const
  const policies = await reader
    .selectFrom('signer_policies')
    .select(columns)
    .orderBy('signer')
    .limit(MOST_SIGNERS)
    .execute()
  const sums = policies.map(async ({ signer, policy_json, spend_mark }) => {
    const spends = reader
      .selectFrom('signer_spends')
      .select(['mint', sql<number>`sum(cast(amount as double precision))`.as('spent')])
      .select(({ fn }) => fn.min<number>('at').as('since'))
      .where('signer', '=', signer)
      .where('at', '>', now - DAY_MS)
      .where('seq', '>', spend_mark)
    return (await spends.groupBy('mint').execute()).map((spend) => ({ signer, policy_json, ...spend }))
  })
  return (await Promise.all(sums)).flat()
}

/** Stored trees without an airdrop on chain, and airdrops whose vault lacks tokens. */
export function unfinishedAirdrops(reader: Reader, { graceAgo, hourAgo, weekAgo }: Times) {
  const columns = ['mint', 'leaf_count', 'distributor', 'vault_lacks', 'mint_decimals'] as const
  const short = reader
    .selectFrom('merkle_trees')
    .select(['id as subject', sql<number>`vault_lacks_since`.as('since'), ...columns])
    .where('vault_lacks_since', '<=', graceAgo)
    .where('status', 'in', ['initialized', 'claiming'])
  return reader
    .selectFrom('merkle_trees')
    .select(['id as subject', 'created_at as since', ...columns])
    .where('status', '=', 'tree_built')
    .where('created_at', '<=', hourAgo)
    .where('created_at', '>', weekAgo)
    .unionAll(short)
}

/** Sponsorships whose budget pays for no further claim like the last one. */
export const spentSponsorships = (reader: Reader) =>
  reader
    .selectFrom('sponsorships')
    .innerJoin('merkle_trees as tree', 'tree.id', 'sponsorships.airdrop_id')
    .innerJoin('sponsored_claims as claim', 'claim.airdrop_id', 'sponsorships.airdrop_id')
    .select(['sponsorships.airdrop_id as subject', 'claim.created_at as since', 'budget', 'used', 'claim.lamports'])
    .where('enabled', '=', 1)
    .whereRef('tree.root', '=', 'sponsorships.root')
    .where('tree.status', 'not in', ['fully_claimed', 'vault_drained'])
    .where('claim.seq', '=', ({ selectFrom }) =>
      selectFrom('sponsored_claims as last')
        .select(({ fn }) => fn.max('last.seq').as('seq'))
        .whereRef('last.airdrop_id', '=', 'sponsorships.airdrop_id'),
    )
    .where(sql<boolean>`cast(budget as numeric) - cast(used as numeric) < cast(claim.lamports as numeric)`)

/** Active keys that expire within a week. */
export const expiringKeys = (reader: Reader, { now, weekAhead }: Times) =>
  reader
    .selectFrom('api_keys')
    .select(['id as subject', 'name', 'expires_at'])
    // A key that is made for less than a week is listed from its beginning.
    .select(({ eb }) =>
      eb
        .case()
        .when('created_at', '>', eb('expires_at', '-', WEEK_MS))
        .then(eb.ref('created_at'))
        .else(eb('expires_at', '-', WEEK_MS))
        .end()
        .$castTo<number>()
        .as('since'),
    )
    .where('status', '=', 'active')
    .where('expires_at', '>', now)
    .where('expires_at', '<=', weekAhead)

/** Refusals of sponsored claims that a person can lift, while they go on. */
export const refusedClaims = (reader: Reader, { dayAgo }: Times) =>
  reader
    .selectFrom('attention_observations as refusal')
    .innerJoin('sponsorships', 'sponsorships.airdrop_id', 'refusal.subject')
    .select(['refusal.subject', 'refusal.since', 'refusal.facts_json', 'refusal.observed_at', 'sponsorships.budget'])
    .where('refusal.kind', '=', 'sponsored_claims_refused')
    .where('refusal.observed_at', '>', dayAgo)
    .where('sponsorships.enabled', '=', 1)
