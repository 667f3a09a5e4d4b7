/** Lists gold locks, newest first. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { pageGoldLocks } from '../../store/resources/gold-locks.ts'
import { goldLockRecord, recordPage } from '../api-records.ts'
import { pageOfChain } from '../chain-pages.ts'

type ListGoldLocksRoute = Api['goldLocks']['list']

export async function listGoldLocks(
  context: Pick<Context, 'store' | 'chain' | 'log'>,
  input: Input<ListGoldLocksRoute>,
): Promise<Result<ListGoldLocksRoute>> {
  const { db } = context.store
  const page = await pageOfChain(context, 'gold locks', (cursor = input.cursor) =>
    pageGoldLocks(db, { ...input, cursor }),
  )
  return recordPage(page, goldLockRecord)
}
