/** Lists the fee claims of one pool, newest first. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { hasClaims, pageFeeClaims } from '../../store/fees/fee-claims.ts'
import { findPool } from '../../store/resources/pools.ts'
import { feeClaimBooked, recordPage } from '../api-records.ts'
import { requirePool } from '../pools/on-chain.ts'

type ListPoolFeeClaimsRoute = Api['feeClaims']['listByPool']

/**
 * Throws not_found if neither the store nor the chain has the pool. The chain is read only if the store does not have
 * it.
 */
export async function listPoolFeeClaims(
  { store, chain }: Context,
  { address, ...page }: Input<ListPoolFeeClaimsRoute>,
): Promise<Result<ListPoolFeeClaimsRoute>> {
  const claims = await pageFeeClaims(store.db, { ...page, pool_address: address })
  const isKnown =
    claims.rows.length > 0 || (await hasClaims(store.db, address)) || (await findPool(store.db, address)) !== null
  if (!isKnown) await requirePool(chain, address)
  return recordPage(claims, feeClaimBooked)
}
