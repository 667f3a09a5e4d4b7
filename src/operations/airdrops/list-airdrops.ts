/** Airdrops, newest first: one for each stored tree. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { pageAirdrops } from '../../store/airdrops.ts'
import { airdropRecord, pageOf } from '../records.ts'

type Route = Api['airdrops']['list']

export async function listAirdrops({ store }: Context, input: Input<Route>): Promise<Result<Route>> {
  return pageOf(await pageAirdrops(store.db, input), airdropRecord)
}
