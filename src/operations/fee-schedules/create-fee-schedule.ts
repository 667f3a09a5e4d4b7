/** Creates a fee schedule. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { insertFeeSchedule } from '../../store/fees/fee-schedules.ts'
import { newId } from '../../store/id.ts'
import { requireMultisig } from '../proposals/squads/acting-vault.ts'
import { auditSchedule } from './audit-schedule.ts'
import { openCron } from './cron-times.ts'
import { feeScheduleRecord } from './fee-schedule-record.ts'
import { requireSplitRecipients } from './split-recipients.ts'

type CreateFeeScheduleRoute = Api['feeSchedules']['create']

/**
 * The first period is the next one from now on. Throws bad_request naming `cron`, `timezone`, a split that pays no
 * wallet, or the vault of a known multisig, and not_found if there is no multisig.
 */
export async function createFeeSchedule(
  context: Context,
  input: Input<CreateFeeScheduleRoute>,
): Promise<Result<CreateFeeScheduleRoute>> {
  const { cron, timezone, active, kinds, beneficiary = null, threshold, splits = null, filter, allow_programs } = input
  const terms = { kinds, beneficiary, threshold, splits, filter, allow_programs, approver: input.approver ?? null }
  const now = context.clock.now()
  const times = await openCron(cron, timezone, now)
  await requireSplitRecipients(context, terms)
  if (terms.approver !== null) await requireMultisig(context, terms.approver)
  return context.commit(async (tx) => {
    const row = await insertFeeSchedule(tx, {
      id: newId('fsc'),
      cron: cron.trim(),
      timezone,
      terms_json: JSON.stringify(terms),
      active: active ? 1 : 0,
      next_run_at: active ? times.after(now) : null,
      planned_at: now,
      created_by: context.actor.apiKeyId,
      updated_by: context.actor.apiKeyId,
      external_uid: context.externalUid ?? null,
      metadata_json: context.metadata === undefined ? null : JSON.stringify(context.metadata),
      created_at: now,
      updated_at: now,
    })
    await auditSchedule(context, tx, 'fee_schedule.created', row)
    return feeScheduleRecord(row)
  })
}
