/** Lists fee schedules, newest first. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { pageFeeSchedules } from '../../store/fees/fee-schedules.ts'
import { recordPage } from '../api-records.ts'
import { feeScheduleRecord } from './fee-schedule-record.ts'

type ListFeeSchedulesRoute = Api['feeSchedules']['list']

export async function listFeeSchedules(
  { store }: Pick<Context, 'store'>,
  { active, ...page }: Input<ListFeeSchedulesRoute>,
): Promise<Result<ListFeeSchedulesRoute>> {
  const filters = active === undefined ? {} : { active: active ? 1 : 0 }
  return recordPage(await pageFeeSchedules(store.db, { ...page, ...filters }), feeScheduleRecord)
}
