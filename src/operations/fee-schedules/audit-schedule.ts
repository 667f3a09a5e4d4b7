/** Records in the audit log who made or changed a fee schedule, and its content, because it makes the platform wallet sign. */
import { hash } from 'node:crypto'
import type { AuditAction } from '../../api/audit-actions.ts'
import type { Context } from '../../context.ts'
import type { FeeScheduleRow } from '../../store/fees/fee-schedules.ts'
import type { Tx } from '../../store/store.ts'
import { audit } from '../signing/audit.ts'
import { termsOf } from './fee-schedule-record.ts'

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
