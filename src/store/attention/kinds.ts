/** The queries of what needs a person, by kind, over the tables of the records that it concerns. */
import type { Reader } from '../store.ts'
import { BY_REQUEST } from '../webhooks/subscriptions.ts'

/** Proposals that wait for approvals and have not expired. */
export const waitingApprovals = (reader: Reader, now: number) =>
  reader
    .selectFrom('proposals')
    .select(['id as subject', 'created_at as since', 'expires_at', 'what', 'needed', 'kind as approver'])
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

/** Full curves that the platform wallet has failed to migrate. */
export const failedMigrations = (reader: Reader) =>
  reader
    .selectFrom('pools')
    .select(['address as subject', 'crank_error', 'next_check_at', 'symbol'])
    .select(({ fn }) => fn.coalesce('crank_failed_at', 'created_at').as('since'))
    .where('status', '=', 'migration_triggered')
    .where('crank_failures', '>', 0)

/** Active schedules whose last ended run had one of the reasons, or claims that the policy refused. */
export const stoppedSchedules = (reader: Reader, reasons: readonly string[]) =>
  reader
    .selectFrom('fee_schedules as s')
    .innerJoin('fee_schedule_runs as r', 'r.schedule_id', 's.id')
    .select(['s.id as subject', 's.next_run_at', 'r.reason', 'r.skipped_json'])
    .select(({ fn }) => fn.coalesce('r.ended_at', 'r.created_at').as('since'))
    .where('s.active', '=', 1)
    .where('r.seq', '=', ({ selectFrom }) =>
      selectFrom('fee_schedule_runs as ended')
        .select(({ fn }) => fn.max('ended.seq').as('seq'))
        .whereRef('ended.schedule_id', '=', 's.id')
        .where('ended.status', '!=', 'running'),
    )
    .where(({ eb, or }) => or([eb('r.reason', 'in', reasons), eb('r.skipped_json', 'like', '%"reason":"policy"%')]))

/** Subscriptions that were switched off because their events failed. */
export const switchedOffReceivers = (reader: Reader) =>
  reader
    .selectFrom('webhook_subscriptions')
    .select(['id as subject', 'updated_at as since', 'disabled_reason', 'url'])
    .where('active', '=', 0)
    .where('disabled_reason', '!=', BY_REQUEST)
