/** Removes a fee schedule and stops its current run. Records of its runs stay until they are too old. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { deleteFeeSchedule, lockFeeSchedule } from '../../store/fees/fee-schedules.ts'
import { requireRecord } from '../api-records.ts'
import { auditSchedule } from './audit-schedule.ts'
import { stopRunUnderWay } from './end-run.ts'

type DeleteFeeScheduleRoute = Api['feeSchedules']['delete']

export function deleteFeeScheduleById(
  context: Context,
  { id }: Input<DeleteFeeScheduleRoute>,
): Promise<Result<DeleteFeeScheduleRoute>> {
  return context.commit(async (tx) => {
    const schedule = requireRecord(await lockFeeSchedule(tx, id), 'fee schedule', id)
    await stopRunUnderWay(context, tx, id, 'schedule_deleted')
    await deleteFeeSchedule(tx, id)
    await auditSchedule(context, tx, 'fee_schedule.deleted', schedule)
    return { id, deleted: true as const }
  })
}
