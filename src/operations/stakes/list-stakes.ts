/** Lists stakes, newest first. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { pageStakes } from '../../store/resources/stakes.ts'
import { recordPage, stakeRecord } from '../api-records.ts'

type ListStakesRoute = Api['stakes']['list']

export async function listStakes(
  { store }: Pick<Context, 'store'>,
  input: Input<ListStakesRoute>,
): Promise<Result<ListStakesRoute>> {
  return recordPage(await pageStakes(store.db, input), stakeRecord)
}
