/** Lists fee claims, of all pools or of one. */

import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { hasClaims, pageFeeClaims } from '../../store/fees/fee-claims.ts'
import { findPool } from '../../store/resources/pools.ts'
import type { Row } from '../../store/schema.ts'
import { feeClaimBooked, listOf, recordPage } from '../api-records.ts'
import { requirePool } from '../pools/on-chain.ts'

type Routes = Api['feeClaims']

export const listFeeClaims = listOf<Routes['list'], Row<'fee_claims'>>(pageFeeClaims, feeClaimBooked)

/**
 * Throws not_found if neither the store nor the chain has the pool. The chain is read only if the store does not have
 * it.
 */
export async function listPoolFeeClaims(
  { store, chain }: Context,
  { address, ...page }: Input<Routes['listByPool']>,
): Promise<Result<Routes['listByPool']>> {
  const claims = await pageFeeClaims(store.db, { ...page, pool_address: address })
  const isKnown =
    claims.rows.length > 0 || (await hasClaims(store.db, address)) || (await findPool(store.db, address)) !== null
  if (!isKnown) await requirePool(chain, address)
  return recordPage(claims, feeClaimBooked)
}
