/** Returns one fee schedule. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { findFeeSchedule } from '../../store/fees/fee-schedules.ts'
import { requireRecord } from '../api-records.ts'
import { feeScheduleRecord } from './fee-schedule-record.ts'

type GetFeeScheduleRoute = Api['feeSchedules']['get']

export async function getFeeSchedule(
  { store }: Pick<Context, 'store'>,
  { id }: Input<GetFeeScheduleRoute>,
): Promise<Result<GetFeeScheduleRoute>> {
  return feeScheduleRecord(requireRecord(await findFeeSchedule(store.db, id), 'fee schedule', id))
}
