/** One airdrop, by the id of its tree. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { findAirdrop } from '../../store/airdrops.ts'
import { found } from '../found.ts'
import { airdropRecord } from '../records.ts'

type Route = Api['airdrops']['get']

export async function getAirdrop({ store }: Context, { id }: Input<Route>): Promise<Result<Route>> {
  return airdropRecord(found(await findAirdrop(store.db, id), 'airdrop', id))
}
