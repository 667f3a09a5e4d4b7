/** Converts rows of fee schedules and of their runs to the records of the API, and to those of the audit log. */

import { hash } from 'node:crypto'
import type { AuditAction } from '../../api/audit-actions.ts'
import type { FeeSchedule, FeeScheduleRun, ScheduleRunReason, ScheduleTerms } from '../../api/fee-schedules.ts'
import type { Context } from '../../context.ts'
import { isoTime } from '../../platform/timing.ts'
import type { FeeScheduleRunRow } from '../../store/fees/fee-schedule-runs.ts'
import type { FeeScheduleRow } from '../../store/fees/fee-schedules.ts'
import type { Tx } from '../../store/store.ts'
import { fromJson, fromJsonOrNull, isoTimeOrNull } from '../api-records.ts'
import { audit } from '../signing/audit.ts'

/** Schedules from before `allow_programs` keep paying their vaults; those from before `approver` have none. */
export const termsOf = ({ terms_json }: Pick<FeeScheduleRow, 'terms_json'>): ScheduleTerms => {
  const { allow_programs = true, approver = null, ...terms } = fromJson<ScheduleTerms>(terms_json)
  return { ...terms, allow_programs, approver }
}

export const feeScheduleRecord = (row: FeeScheduleRow): FeeSchedule => ({
  id: row.id,
  cron: row.cron,
  timezone: row.timezone,
  ...termsOf(row),
  active: row.active === 1,
  next_run_at: isoTimeOrNull(row.next_run_at),
  external_uid: row.external_uid,
  metadata: fromJsonOrNull(row.metadata_json),
  created_by: row.created_by,
  updated_by: row.updated_by,
  created_at: isoTime(row.created_at),
  updated_at: isoTime(row.updated_at),
})

export const feeScheduleRunRecord = (row: FeeScheduleRunRow): FeeScheduleRun => ({
  id: row.id,
  schedule_id: row.schedule_id,
  scheduled_at: isoTimeOrNull(row.scheduled_at),
  status: row.status,
  reason: row.reason as ScheduleRunReason | null,
  missed:
    row.missed_from === null || row.missed_until === null
      ? null
      : { count: row.missed, from: isoTime(row.missed_from), until: isoTime(row.missed_until) },
  pools: row.pools,
  claimed: row.claimed,
  claims: fromJson(row.claims_json),
  skips: fromJson(row.skips_json),
  skipped: fromJson(row.skipped_json),
  external_uid: row.external_uid,
  metadata: fromJsonOrNull(row.metadata_json),
  started_at: isoTime(row.created_at),
  ended_at: isoTimeOrNull(row.ended_at),
})

type ScheduleAction = Extract<AuditAction, `fee_schedule.${string}`>

/**
 * The entry has the schedule after the change with its payees, so they are known even after its deletion. Named pools
 * are only counted, because a hundred of them would fill the log. The hash is over the stored terms.
 */
export async function auditSchedule(context: Context, tx: Tx, action: ScheduleAction, row: FeeScheduleRow) {
  await audit(context, tx, action, null, scheduleTerms(row))
}

export function scheduleTerms(row: FeeScheduleRow) {
  const { id, cron, timezone, terms_json } = row
  const { filter, ...terms } = termsOf(row)
  return {
    schedule: id,
    cron,
    timezone,
    active: row.active === 1,
    ...terms,
    filter: filter.pools === undefined ? filter : { pools: filter.pools.length },
    terms_sha256: hash('sha256', terms_json, 'hex'),
  }
}
