/** One pool. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { findPool } from '../../store/pools.ts'
import { found } from '../found.ts'
import { poolRecord } from '../records.ts'

type Route = Api['pools']['get']

export async function getPool({ store }: Context, { address }: Input<Route>): Promise<Result<Route>> {
  return poolRecord(found(await findPool(store.db, address), 'pool', address))
}
