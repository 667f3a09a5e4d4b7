/** Changes, pauses or resumes a fee schedule. A request without a change writes nothing. */
import { type ScheduleTerms, termsFault } from '../../api/fee-schedules.ts'
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { findFeeSchedule, lockFeeSchedule, updateFeeSchedule } from '../../store/fees/fee-schedules.ts'
import { requireRecord } from '../api-records.ts'
import { requireMultisig } from '../proposals/squads/acting-vault.ts'
import { auditSchedule } from './audit-schedule.ts'
import { openCron } from './cron-times.ts'
import { stopRunUnderWay } from './end-run.ts'
import { feeScheduleRecord, termsOf } from './fee-schedule-record.ts'
import { requireSplitRecipients } from './split-recipients.ts'

type UpdateFeeScheduleRoute = Api['feeSchedules']['update']

/** Throws not_found, and bad_request naming fields that do not fit together or a vault. A current run keeps its terms. */
export async function updateFeeScheduleById(
  context: Context,
  input: Input<UpdateFeeScheduleRoute>,
): Promise<Result<UpdateFeeScheduleRoute>> {
  const { id } = input
  const first = requireRecord(await findFeeSchedule(context.store.db, id), 'fee schedule', id)
  const now = context.clock.now()
  if (input.cron !== undefined || input.timezone !== undefined)
    await openCron(input.cron ?? first.cron, input.timezone ?? first.timezone, now)
  if (input.splits !== undefined || input.allow_programs !== undefined) {
    await requireSplitRecipients(context, changedTerms(termsOf(first), input))
  }
  if (input.approver !== undefined && input.approver !== null) await requireMultisig(context, input.approver)
  return context.commit(async (tx) => {
    const before = requireRecord(await lockFeeSchedule(tx, id), 'fee schedule', id)
    const terms = changedTerms(termsOf(before), input)
    const cron = input.cron?.trim() ?? before.cron
    const timezone = input.timezone ?? before.timezone
    const active = input.active === undefined ? before.active : input.active ? 1 : 0
    const isReplanned = cron !== before.cron || timezone !== before.timezone || active !== before.active
    const terms_json = JSON.stringify(terms)
    if (!isReplanned && terms_json === JSON.stringify(termsOf(before))) return feeScheduleRecord(before)
    if (active === 0 && before.active === 1) await stopRunUnderWay(context, tx, id, 'schedule_paused')
    const next = active === 1 && isReplanned ? (await openCron(cron, timezone, now)).after(now) : null
    const stored = await updateFeeSchedule(tx, id, {
      cron,
      timezone,
      terms_json,
      active,
      ...(isReplanned ? { next_run_at: next, planned_at: now } : {}),
      updated_by: context.actor.apiKeyId,
      updated_at: now,
    })
    const after = requireRecord(stored, 'fee schedule', id)
    await auditSchedule(context, tx, 'fee_schedule.updated', after)
    return feeScheduleRecord(after)
  })
}

function changedTerms(before: ScheduleTerms, input: Input<UpdateFeeScheduleRoute>): ScheduleTerms {
  const { kinds, beneficiary, threshold, splits, filter, allow_programs } = input
  const terms: ScheduleTerms = {
    kinds: kinds ?? before.kinds,
    beneficiary: beneficiary === undefined ? before.beneficiary : beneficiary,
    threshold: threshold ?? before.threshold,
    splits: splits === undefined ? before.splits : splits,
    filter: filter ?? before.filter,
    // The permission applies only to the splits that were sent with it.
    allow_programs: allow_programs ?? (splits === undefined && before.allow_programs),
    approver: input.approver === undefined ? before.approver : input.approver,
  }
  const fault = termsFault(terms)
  if (fault !== null) throw badRequest(`${fault.path.join('.')}: ${fault.message}`, { param: fault.path.join('.') })
  return terms
}
