/** Fee claims of one pool, newest first. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { pageFeeClaims } from '../../store/fee-claims.ts'
import { feeClaimRecord, pageOf } from '../records.ts'

type Route = Api['feeClaims']['listByPool']

export async function listPoolFeeClaims(
  { store }: Context,
  { address, ...page }: Input<Route>,
): Promise<Result<Route>> {
  return pageOf(await pageFeeClaims(store.db, { ...page, pool_address: address }), feeClaimRecord)
}
