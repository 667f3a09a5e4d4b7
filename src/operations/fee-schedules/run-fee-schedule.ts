/** Starts a run of a fee schedule outside its periods. The worker executes it. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { findRunUnderWay, insertFeeScheduleRun } from '../../store/fees/fee-schedule-runs.ts'
import { lockFeeSchedule } from '../../store/fees/fee-schedules.ts'
import { newId } from '../../store/id.ts'
import { requireRecord } from '../api-records.ts'
import { auditSchedule } from './audit-schedule.ts'
import { feeScheduleRunRecord } from './fee-schedule-record.ts'

type RunFeeScheduleRoute = Api['feeSchedules']['run']

/** Throws bad_request while another run of the schedule is active. */
export function runFeeSchedule(
  context: Context,
  { id }: Input<RunFeeScheduleRoute>,
): Promise<Result<RunFeeScheduleRoute>> {
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
