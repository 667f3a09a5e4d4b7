/**
 * The one table of what needs a person: for each kind its query, its subject, its sentence, its command and its page.
 * A kind that a worker observes has no query: its rows are in `attention_observations` (`observed-kinds.ts`).
 */
import type { AttentionKind } from '../../api/attention-kinds.ts'
import type { FeeScheduleRun } from '../../api/fee-schedules.ts'
import type { TrackedResource } from '../../api/payloads.ts'
import { failureWords } from '../../chain/sending/stored-errors.ts'
import { printableLine } from '../../platform/printable.ts'
import { DAY_MS, isoTime } from '../../platform/timing.ts'
import { decimalOf, groupedDecimalOf, solText } from '../../solana/amounts.ts'
import { SOL_DECIMALS } from '../../solana/constants.ts'
import type { Found, FoundQuery } from '../../store/attention/found.ts'
import {
  exhaustedDeliveries,
  expiringKeys,
  failedMigrations,
  failedTransactions,
  failingReceivers,
  fullPools,
  refusedClaims,
  spentSponsorships,
  stoppedSchedules,
  stuckProposals,
  switchedOffReceivers,
  type Times,
  undoneBundles,
  unfinishedAirdrops,
  unfinishedLaunches,
  unknownTransactions,
  waitingApprovals,
} from '../../store/attention/kinds.ts'
import type { Reader } from '../../store/store.ts'
import { fromJson, fromJsonOrNull } from '../api-records.ts'
import type { RefusedClaim } from '../sponsorships/refused-claims.ts'
import { LAMPORTS, nearlySpentLimits } from './spending-limits.ts'

/** What is said about a row. Text of strangers in it is made printable. */
export interface Said {
  summary: string
  command: string
  /** When it ends by itself, in Unix milliseconds. */
  ends_at?: number | null
  /** What it concerns, if that is not what its kind says. */
  about?: { subject: string; page(subject: string): string }
}

interface KindOf<R> {
  /** What it concerns. */
  subject: string
  /** Path of the page of a subject. */
  page(subject: string): string
  says(row: R): Said
}

/** A kind with a query, or with rows that are computed from what one query reads. */
type StoredKind<R extends Found> = KindOf<R> &
  ({ query(reader: Reader, times: Times): FoundQuery<R> } | { rows(reader: Reader, now: number): Promise<R[]> })
const stored = <R extends Found>(kind: StoredKind<R>) => kind
// biome-ignore lint/suspicious/noExplicitAny: each kind has rows of its own
export type AnyStoredKind = StoredKind<any>

/** A kind that a worker observes; `F` are the facts that it stores. */
type ObservedKind<F> = KindOf<Found & { facts: F }>
export const observed = <F>(kind: ObservedKind<F>) => kind
// biome-ignore lint/suspicious/noExplicitAny: each kind has facts of its own
export type AnyObservedKind = ObservedKind<any>

/** Longest text of a stranger in a sentence. */
const MOST = 200
const clean = (text: string) => printableLine(text, MOST)
export const timeText = (at: number) => isoTime(at).replace('.000', '')
const triedAgain = (at: number | null) => (at === null ? '' : `, and is tried again at ${timeText(at)}`)
export const unended = (text: string) => text.replace(/\.$/, '')
const because = (reason: string) => unended(clean(reason))
const launched = (pool: string, symbol: string | null) => (symbol === null ? pool : `${clean(symbol)} (${pool})`)

/** ` for the pool ADDRESS`, or nothing. */
function aboutText(tracked_resource_json: string | null): string {
  const tracked = fromJsonOrNull<TrackedResource>(tracked_resource_json)
  return tracked === null ? '' : ` for the ${tracked.resource_type.replaceAll('_', ' ')} ${clean(tracked.resource_id)}`
}

/** Why a schedule does not run, by the reason of its last run, with the way out. */
const BLOCKED: Partial<Record<NonNullable<FeeScheduleRun['reason']>, string>> = {
  signer_paused: 'the signer is paused: `svc signer resume`',
  no_signer: 'there is no platform wallet: `svc config set signer …`',
  other_cluster: 'the signer signs for another cluster: `svc config set signer.cluster …`',
  policy: 'the policy refused its claims: `svc signer policy`',
}

interface ScheduleEnd {
  reason: string | null
  skipped_json: string
}

const skipOf = ({ skipped_json }: ScheduleEnd, reason: 'policy' | 'error') =>
  fromJson<FeeScheduleRun['skipped']>(skipped_json).find((skip) => skip.reason === reason)

/** Why the last run of a schedule was refused; null if it was not. */
export const scheduleRefusal = (end: ScheduleEnd): string | null =>
  skipOf(end, 'policy')?.message ?? BLOCKED[end.reason as keyof typeof BLOCKED] ?? null

const scheduleReason = (end: ScheduleEnd): string =>
  scheduleRefusal(end) ?? skipOf(end, 'error')?.message ?? 'its last run says why'

export const migrationReason = (error: string | null) => error ?? 'the log says why'
export const receiverReason = (reason: string | null) => reason ?? 'it was switched off'

/** The next step of a proposal that does not go on by itself. */
function stuckProposal(row: {
  subject: string
  status: string
  fault: string | null
  approver: string
  is_renewable: boolean | number
}): { state: string; verb: string } {
  const { status, fault, approver, is_renewable } = row
  if (status === 'stale') return { state: 'is stale', verb: is_renewable ? 'renew' : 'show' }
  if (fault === null) return { state: 'is approved, and not executed', verb: 'execute' }
  const state = `is blocked (${because(fault)})`
  if (status === 'active') return { state, verb: 'reject' }
  return { state, verb: approver === 'rule' ? 'execute' : 'cancel' }
}

interface ShortVault {
  subject: string
  mint: string
  distributor: string | null
  lacks: bigint
  mint_decimals: number | null
}

/** Without the decimals of the mint, the command that shows the airdrop says how to fund it. */
function shortVault({ subject, mint, distributor, lacks, mint_decimals: decimals }: ShortVault): Said {
  const amount = decimals === null ? `${lacks} raw units` : groupedDecimalOf(lacks, decimals)
  return {
    summary: `The vault of the airdrop ${subject} lacks ${amount} of ${mint} for what can still be claimed.`,
    command:
      distributor === null || decimals === null
        ? `svc airdrops get ${subject}`
        : `svc wallet send ${distributor} ${decimalOf(lacks, decimals)} --mint ${mint} --allow-programs`,
  }
}

const RAISE = { subject: 'raise', page: (id: string) => `/raise/${id}` }

function unsettled(id: string, state: string, error: string | null): Said {
  const done = state === 'failed' ? 'failed, and its tokens wait in it' : 'is complete, and what was raised waits in it'
  const why = error === null ? '' : ` Its settlement was refused: ${because(error)}.`
  return { summary: `The raise ${id} ${done}.${why}`, command: `svc raises settle ${id}`, about: RAISE }
}

/** Rent and fee of a migration without vesting and priority fee; its dry run shows the exact cost. */
const MIGRATION_COST = '0.017 SOL'

/** Subjects of several kinds, with their pages. */
const PROPOSAL = { subject: 'proposal', page: (id: string) => `/console/proposals/${id}` }
const TRANSACTION = { subject: 'transaction', page: (signature: string) => `/console/transactions/${signature}` }
const POOL = { subject: 'pool', page: (pool: string) => `/console/launches/${pool}` }
const SUBSCRIPTION = { subject: 'webhook_subscription', page: (id: string) => `/console/webhooks/${id}` }
const AIRDROP = { subject: 'airdrop', page: (id: string) => `/console/airdrops/${id}` }

/** Kinds that are read from stored records, in the order of the list. */
export const STORED_KINDS = {
  approval_waits: stored({
    ...PROPOSAL,
    query: waitingApprovals,
    says: ({ subject, what, needed, approvals, expires_at }) => ({
      summary: `The proposal ${subject} waits, ${approvals} of ${needed} approvals: ${because(what)}.`,
      command: `svc proposals approve ${subject}`,
      ends_at: expires_at,
    }),
  }),
  proposal_waits: stored({
    ...PROPOSAL,
    query: stuckProposals,
    says(row) {
      const { state, verb } = stuckProposal(row)
      return {
        summary: `The proposal ${row.subject} ${state}: ${because(row.what)}.`,
        command: `svc proposals ${verb} ${row.subject}`,
        ends_at: row.status === 'stale' ? null : row.expires_at,
      }
    },
  }),
  transaction_failed: stored({
    ...TRANSACTION,
    query: failedTransactions,
    says: ({ subject, tracked_resource_json, ...row }) => ({
      summary: `The transaction ${subject}${aboutText(tracked_resource_json)} failed, and was not retried: ${because(failureWords(row))}.`,
      command: `svc tx get ${subject}`,
    }),
  }),
  transaction_unknown: stored({
    ...TRANSACTION,
    query: unknownTransactions,
    says: ({ subject, tracked_resource_json }) => ({
      summary: `No node has shown the transaction ${subject}${aboutText(tracked_resource_json)} for a day, and none has proven that it cannot land.`,
      command: `svc tx get ${subject}`,
    }),
  }),
  bundle_undone: stored({
    subject: 'bundle',
    page: (id) => `/console/transactions?bundle_id=${id}`,
    query: undoneBundles,
    says: ({ subject, transactions }) => ({
      summary: `The bundle ${subject} had no effect: its ${transactions} transactions failed.`,
      command: `svc tx list --bundle-id ${subject}`,
    }),
  }),
  launch_unfinished: stored({
    ...POOL,
    query: unfinishedLaunches,
    says: ({ subject, symbol, raise_state, reason }) =>
      raise_state !== null
        ? unsettled(subject, raise_state, reason)
        : {
            summary: `The launch of ${launched(subject, symbol)} stopped half-way: a transaction of it landed, and the pool does not exist. The \`svc pools create\` that began it goes on if it is run again.`,
            command: `svc pools verify ${subject}`,
          },
  }),
  pool_full: stored({
    ...POOL,
    query: fullPools,
    says: ({ subject, symbol }) => ({
      summary: `The curve of ${launched(subject, symbol)} is full and has not migrated. Any wallet may migrate it, and pays about ${MIGRATION_COST}.`,
      command: `svc pools migrate ${subject}`,
    }),
  }),
  migration_failed: stored({
    ...POOL,
    query: failedMigrations,
    says: ({ subject, crank_error, next_check_at }) => ({
      summary: `The migration of ${subject} waits${triedAgain(next_check_at)}: ${because(migrationReason(crank_error))}.`,
      command: `svc pools migrate ${subject}`,
    }),
  }),
  receiver_failing: stored({
    ...SUBSCRIPTION,
    query: failingReceivers,
    says: ({ subject, since }) => ({
      summary: `The receiver of the webhook subscription ${subject} has failed since ${timeText(since)}. Its events are sent again, seven times at most.`,
      command: `svc webhooks deliveries ${subject}`,
    }),
  }),
  receiver_off: stored({
    ...SUBSCRIPTION,
    query: switchedOffReceivers,
    says: ({ subject, disabled_reason }) => ({
      summary: `The webhook subscription ${subject} waits: ${because(receiverReason(disabled_reason))}.`,
      command: `svc webhooks update ${subject} --active true`,
    }),
  }),
  deliveries_exhausted: stored({
    ...SUBSCRIPTION,
    query: exhaustedDeliveries,
    says: ({ subject }) => ({
      summary: `Events of the webhook subscription ${subject} failed for the last time. They are sent again once it is switched on.`,
      command: `svc webhooks update ${subject} --active true`,
    }),
  }),
  schedule_stopped: stored({
    subject: 'fee_schedule',
    page: (id) => `/console/signer/schedules/${id}`,
    query: (reader) => stoppedSchedules(reader, Object.keys(BLOCKED)),
    says: (row) => ({
      summary: `The fee schedule ${row.subject} waits${triedAgain(row.next_run_at)}: ${because(scheduleReason(row))}.`,
      command: `svc fees schedule run ${row.subject}`,
    }),
  }),
  policy_nearly_spent: stored({
    subject: 'spending_limit',
    page: () => '/console/signer',
    rows: nearlySpentLimits,
    says: ({ signer, asset, limit, left, share }) => ({
      summary: `The platform wallet ${signer} has spent ${Math.floor(share * 100)} % of the ${limit} that may leave in 24 hours; ${left} are left.`,
      command: asset === LAMPORTS ? 'svc signer policy --per-day SOL' : 'svc signer policy',
    }),
  }),
  airdrop_unfinished: stored({
    ...AIRDROP,
    query: unfinishedAirdrops,
    says: ({ vault_lacks, subject, mint, leaf_count, ...row }) =>
      vault_lacks === null
        ? {
            summary: `The list ${subject} with ${leaf_count} wallets for ${mint} is stored, and its airdrop is not on chain.`,
            command: `svc airdrops init ${subject}`,
          }
        : shortVault({ ...row, subject, mint, lacks: BigInt(vault_lacks) }),
  }),
  sponsorship_spent: stored({
    ...AIRDROP,
    query: spentSponsorships,
    says: ({ subject, budget, used, lamports }) => ({
      summary: `The sponsorship of the airdrop ${subject} has ${leftText(budget, used)} of ${solText(budget)} left, and a claim costs ${solText(lamports)}.`,
      command: raiseBudget(subject, budget),
    }),
  }),
  sponsored_claims_refused: stored({
    ...AIRDROP,
    query: refusedClaims,
    says({ subject, facts_json, observed_at, budget }) {
      const { reason, why } = fromJson<RefusedClaim>(facts_json)
      return {
        summary: `Sponsored claims of the airdrop ${subject} are refused: ${because(why)}.`,
        command: reason === 'budget_exhausted' ? raiseBudget(subject, budget) : `svc airdrops claims ${subject}`,
        ends_at: observed_at + DAY_MS,
      }
    },
  }),
  key_expires: stored({
    subject: 'api_key',
    page: () => '/console/keys',
    query: expiringKeys,
    says: ({ subject, name, expires_at }) => ({
      summary: `The key ${subject} (${clean(name)}) expires at ${timeText(expires_at ?? 0)}.`,
      command: `svc keys update ${subject} --expires 90d`,
      ends_at: expires_at,
    }),
  }),
} satisfies Partial<Record<AttentionKind, AnyStoredKind>>

const leftText = (budget: string, used: string) =>
  solText(BigInt(budget) > BigInt(used) ? BigInt(budget) - BigInt(used) : 0n)
/** Twice the budget. */
const raiseBudget = (id: string, budget: string) =>
  `svc airdrops sponsor ${id} --budget ${decimalOf(BigInt(budget) * 2n, SOL_DECIMALS)}`
