/** Reads who may claim the fees of a wallet's positions in a pool. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { claimDelegateOf, permissionsOf, positionsOf } from '../../chain/programs/damm-v2/index.ts'
import type { Context } from '../../context.ts'
import { positionPage } from '../positions/position-page.ts'
import { largestFirst } from './delegate-fees.ts'
import { partnerOf, requirePositionPool } from './plan-positions.ts'

type FeeDelegationsRoute = Api['feeClaims']['delegations']

export async function listFeeDelegations(
  context: Context,
  { address, owner, ...page }: Input<FeeDelegationsRoute>,
): Promise<Result<FeeDelegationsRoute>> {
  const found = await requirePositionPool(context, address)
  const { pool } = found
  const holder = owner ?? (await partnerOf(context, found))
  const positions = largestFirst(await positionsOf(context.chain, pool.address, holder))
  const { shown, remaining, next_cursor } = positionPage(`fee_delegations:${pool.address}:${holder}`, positions, page)
  return {
    pool_address: pool.address,
    owner: holder,
    positions: shown.map((position) => ({
      position: position.position,
      liquidity: String(position.liquidity),
      delegate: position.delegate,
      permissions: permissionsOf(position),
      usable: claimDelegateOf(position) !== null,
    })),
    remaining_positions: remaining,
    next_cursor,
  }
}
