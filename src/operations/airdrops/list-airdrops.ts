/** Lists airdrops, newest first, one for each stored tree. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { pageAirdrops } from '../../store/airdrops/airdrops.ts'
import { airdropRecord, recordPage } from '../api-records.ts'

type ListAirdropsRoute = Api['airdrops']['list']

export async function listAirdrops(
  { store }: Pick<Context, 'store'>,
  input: Input<ListAirdropsRoute>,
): Promise<Result<ListAirdropsRoute>> {
  return recordPage(await pageAirdrops(store.db, input), airdropRecord)
}
