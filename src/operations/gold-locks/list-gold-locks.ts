/** Lists gold locks, newest first. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { pageGoldLocks } from '../../store/resources/gold-locks.ts'
import { goldLockRecord, recordPage } from '../api-records.ts'

type ListGoldLocksRoute = Api['goldLocks']['list']

export async function listGoldLocks(
  { store }: Pick<Context, 'store'>,
  input: Input<ListGoldLocksRoute>,
): Promise<Result<ListGoldLocksRoute>> {
  return recordPage(await pageGoldLocks(store.db, input), goldLockRecord)
}
