/** One token. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { findToken } from '../../store/tokens.ts'
import { found } from '../found.ts'
import { tokenRecord } from '../records.ts'

type Route = Api['tokens']['get']

export async function getToken({ store }: Context, { mint }: Input<Route>): Promise<Result<Route>> {
  return tokenRecord(found(await findToken(store.db, mint), 'token', mint))
}
