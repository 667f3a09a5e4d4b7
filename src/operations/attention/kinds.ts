/**
 * The one table of what needs a person: for each kind its query, its subject, its sentence, its command and its page.
 * A kind that a worker observes has no query: its rows are in `attention_observations` (`observed-kinds.ts`).
 */
import type { AttentionKind } from '../../api/attention-kinds.ts'
import type { FeeScheduleRun } from '../../api/fee-schedules.ts'
import { printableLine } from '../../platform/printable.ts'
import { isoTime } from '../../platform/timing.ts'
import type { Found, FoundQuery } from '../../store/attention/found.ts'
import {
  failedMigrations,
  stoppedSchedules,
  switchedOffReceivers,
  waitingApprovals,
} from '../../store/attention/kinds.ts'
import type { Reader } from '../../store/store.ts'
import { fromJson } from '../api-records.ts'

/** What a row is told as. Text of strangers in it is made printable. */
export interface Said {
  summary: string
  command: string
  /** When it ends by itself, in Unix milliseconds. */
  ends_at?: number | null
}

interface KindOf<R> {
  /** What it concerns. */
  subject: string
  /** Path of the page of a subject. */
  page(subject: string): string
  says(row: R): Said
}

export interface StoredKind<R extends Found> extends KindOf<R> {
  query(reader: Reader, now: number): FoundQuery<R>
}
const stored = <R extends Found>(kind: StoredKind<R>) => kind
// biome-ignore lint/suspicious/noExplicitAny: each kind has rows of its own
export type AnyStoredKind = StoredKind<any>

/** A kind that a worker observes; `F` are the facts that it stores. */
export type ObservedKind<F> = KindOf<Found & { facts: F }>
export const observed = <F>(kind: ObservedKind<F>) => kind
// biome-ignore lint/suspicious/noExplicitAny: each kind has facts of its own
export type AnyObservedKind = ObservedKind<any>

/** Longest text of a stranger in a sentence. */
const MOST = 200
const clean = (text: string) => printableLine(text, MOST)
export const timeText = (at: number) => isoTime(at).replace('.000', '')
const triedAgain = (at: number | null) => (at === null ? '' : `, and is tried again at ${timeText(at)}`)
const because = (reason: string) => clean(reason).replace(/\.$/, '')

/** Why a schedule does not run, by the reason of its last run, with the way out. */
const BLOCKED: Partial<Record<NonNullable<FeeScheduleRun['reason']>, string>> = {
  signer_paused: 'the signer is paused: `svc signer resume`',
  no_signer: 'there is no platform wallet: `svc config set signer …`',
  other_cluster: 'the signer signs for another cluster: `svc config set signer.cluster …`',
  policy: 'the policy refused its claims: `svc signer policy`',
}

/** Why the last run of a schedule claimed nothing. */
export function scheduleReason({ reason, skipped_json }: { reason: string | null; skipped_json: string }): string {
  const refused = fromJson<FeeScheduleRun['skipped']>(skipped_json).find(({ reason }) => reason === 'policy')
  return refused?.message ?? BLOCKED[reason as keyof typeof BLOCKED] ?? 'its last run says why'
}

/** Kinds that a query over stored records finds, in the order of the list. */
export const STORED_KINDS = {
  approval_waits: stored({
    subject: 'proposal',
    page: (id) => `/console/proposals/${id}`,
    query: waitingApprovals,
    says: ({ subject, what, needed, approvals, expires_at }) => ({
      summary: `The proposal ${subject} waits, ${approvals} of ${needed} approvals: ${clean(what)}.`,
      command: `svc proposals approve ${subject}`,
      ends_at: expires_at,
    }),
  }),
  migration_failed: stored({
    subject: 'pool',
    page: (pool) => `/console/launches/${pool}`,
    query: failedMigrations,
    says: ({ subject, crank_error, next_check_at }) => ({
      summary: `The migration of ${subject} waits${triedAgain(next_check_at)}: ${because(migrationReason(crank_error))}.`,
      command: `svc pools migrate ${subject}`,
    }),
  }),
  receiver_off: stored({
    subject: 'webhook_subscription',
    page: (id) => `/console/webhooks/${id}`,
    query: switchedOffReceivers,
    says: ({ subject, disabled_reason }) => ({
      summary: `The webhook subscription ${subject} waits: ${because(receiverReason(disabled_reason))}.`,
      command: `svc webhooks update ${subject} --active true`,
    }),
  }),
  schedule_stopped: stored({
    subject: 'fee_schedule',
    page: () => '/console/signer',
    query: (reader) => stoppedSchedules(reader, Object.keys(BLOCKED)),
    says: (row) => ({
      summary: `The fee schedule ${row.subject} waits${triedAgain(row.next_run_at)}: ${because(scheduleReason(row))}.`,
      command: `svc fees schedule run ${row.subject}`,
    }),
  }),
} satisfies Partial<Record<AttentionKind, AnyStoredKind>>

export const migrationReason = (error: string | null) => error ?? 'the log says why'
export const receiverReason = (reason: string | null) => reason ?? 'it was switched off'
