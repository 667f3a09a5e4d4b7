/** Pools, newest first. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { pagePools } from '../../store/pools.ts'
import { pageOf, poolRecord } from '../records.ts'

type Route = Api['pools']['list']

export async function listPools({ store }: Context, input: Input<Route>): Promise<Result<Route>> {
  return pageOf(await pagePools(store.db, input), poolRecord)
}
