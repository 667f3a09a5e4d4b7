/** Fee schedules: create, change, delete, read, list, and run outside their periods. */

import { type ScheduleTerms, termsFault } from '../../api/fee-schedules.ts'
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { findRunUnderWay, insertFeeScheduleRun, pageFeeScheduleRuns } from '../../store/fees/fee-schedule-runs.ts'
import {
  deleteFeeSchedule,
  type FeeScheduleRow,
  findFeeSchedule,
  insertFeeSchedule,
  lockFeeSchedule,
  pageFeeSchedules,
  updateFeeSchedule,
} from '../../store/fees/fee-schedules.ts'
import { newId } from '../../store/id.ts'
import { flagFilter, listOf, oneOf, recordPage, requireRecord } from '../api-records.ts'
import { requireMultisig } from '../proposals/squads/acting-vault.ts'
import { requireRecipients } from '../recipients.ts'
import { openCron } from './cron-times.ts'
import { auditSchedule, feeScheduleRecord, feeScheduleRunRecord, termsOf } from './records.ts'
import { stopRunUnderWay } from './runs.ts'

type Routes = Api['feeSchedules']

/**
 * The first period is the next one from now on. Throws bad_request naming `cron`, `timezone`, a split that pays no
 * wallet, or the vault of a known multisig, and not_found if there is no multisig.
 */
export async function createFeeSchedule(
  context: Context,
  input: Input<Routes['create']>,
): Promise<Result<Routes['create']>> {
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

/** Throws not_found, and bad_request naming fields that do not fit together or a vault. A current run keeps its terms. */
export async function updateFeeScheduleById(
  context: Context,
  input: Input<Routes['update']>,
): Promise<Result<Routes['update']>> {
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

function changedTerms(before: ScheduleTerms, input: Input<Routes['update']>): ScheduleTerms {
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

/** Removes a fee schedule and stops its current run. Records of its runs stay until they are too old. */
export function deleteFeeScheduleById(
  context: Context,
  { id }: Input<Routes['delete']>,
): Promise<Result<Routes['delete']>> {
  return context.commit(async (tx) => {
    const schedule = requireRecord(await lockFeeSchedule(tx, id), 'fee schedule', id)
    await stopRunUnderWay(context, tx, id, 'schedule_deleted')
    await deleteFeeSchedule(tx, id)
    await auditSchedule(context, tx, 'fee_schedule.deleted', schedule)
    return { id, deleted: true as const }
  })
}

/** Throws bad_request while another run of the schedule is active. */
export function runFeeSchedule(context: Context, { id }: Input<Routes['run']>): Promise<Result<Routes['run']>> {
  const now = context.clock.now()
  return context.commit(async (tx) => {
    const schedule = requireRecord(await lockFeeSchedule(tx, id), 'fee schedule', id)
    const other = await findRunUnderWay(tx, id)
    if (other !== null)
      throw badRequest(`The run ${other.id} of this schedule has not ended yet: start another one when it has`, {
        details: { run_id: other.id },
      })
    const run = await insertFeeScheduleRun(tx, {
      id: newId('fsr'),
      schedule_id: id,
      scheduled_at: null,
      status: 'running',
      reason: null,
      terms_json: schedule.terms_json,
      next_step_at: now,
      external_uid: context.externalUid ?? schedule.external_uid,
      metadata_json: context.metadata === undefined ? schedule.metadata_json : JSON.stringify(context.metadata),
      created_at: now,
    })
    await auditSchedule(context, tx, 'fee_schedule.run_requested', schedule)
    return feeScheduleRunRecord(run)
  })
}

export const getFeeSchedule = oneOf<Routes['get'], FeeScheduleRow>('fee schedule', findFeeSchedule, feeScheduleRecord)

export const listFeeSchedules = listOf<Routes['list'], FeeScheduleRow>(
  (reader, { active, ...page }) => pageFeeSchedules(reader, { ...page, ...flagFilter({ active }) }),
  feeScheduleRecord,
)

/** Throws not_found if neither the schedule nor one of its runs is stored. */
export async function listFeeScheduleRuns(
  { store }: Pick<Context, 'store'>,
  { id, ...page }: Input<Routes['runs']>,
): Promise<Result<Routes['runs']>> {
  const runs = await pageFeeScheduleRuns(store.db, { ...page, schedule_id: id })
  if (runs.rows.length === 0) requireRecord(await findFeeSchedule(store.db, id), 'fee schedule', id)
  return recordPage(runs, feeScheduleRunRecord)
}

/** Throws bad_request naming the first split that pays no wallet. */
async function requireSplitRecipients(
  context: Context,
  { splits, allow_programs }: Pick<ScheduleTerms, 'splits' | 'allow_programs'>,
): Promise<void> {
  const recipients = (splits ?? []).map(({ recipient }, i) => ({ param: `splits.${i}.recipient`, wallet: recipient }))
  await requireRecipients(context, recipients, { allowsPrograms: allow_programs })
}
