/** Lists the runs of a fee schedule, newest first. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { pageFeeScheduleRuns } from '../../store/fees/fee-schedule-runs.ts'
import { findFeeSchedule } from '../../store/fees/fee-schedules.ts'
import { recordPage, requireRecord } from '../api-records.ts'
import { feeScheduleRunRecord } from './fee-schedule-record.ts'

type ListFeeScheduleRunsRoute = Api['feeSchedules']['runs']

/** Throws not_found if neither the schedule nor one of its runs is stored. */
export async function listFeeScheduleRuns(
  { store }: Pick<Context, 'store'>,
  { id, ...page }: Input<ListFeeScheduleRunsRoute>,
): Promise<Result<ListFeeScheduleRunsRoute>> {
  const runs = await pageFeeScheduleRuns(store.db, { ...page, schedule_id: id })
  if (runs.rows.length === 0) requireRecord(await findFeeSchedule(store.db, id), 'fee schedule', id)
  return recordPage(runs, feeScheduleRunRecord)
}
