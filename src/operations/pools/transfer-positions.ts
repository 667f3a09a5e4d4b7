/** Sends positions of a DAMM v2 pool to another wallet. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import {
  buildPositionTransfer,
  MOST_TRANSFERRED_POSITIONS,
  POSITION_TRANSFER_UNITS,
  positionsOf,
} from '../../chain/programs/damm-v2/index.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { buildTransaction, trackingOf, unsignedAnswer } from '../building.ts'
import { largestFirst } from '../fee-claims/delegate-fees.ts'
import { requirePositionPool, unheldPosition } from '../fee-claims/plan-positions.ts'
import { requireRecipients } from '../recipients.ts'

type TransferPositionsRoute = Api['pools']['transferPositions']

/** Throws bad_request if the payer holds no such position, and for a new owner that could never use one. */
export async function transferPositions(
  context: Context,
  { address, payer, new_owner, position, allow_programs }: Input<TransferPositionsRoute>,
): Promise<Result<TransferPositionsRoute>> {
  if (new_owner === payer) throw badRequest(`${new_owner} holds the positions already`, { param: 'new_owner' })
  await requireRecipients(context, [{ param: 'new_owner', wallet: new_owner }], { allowsPrograms: allow_programs })
  const { pool } = await requirePositionPool(context, address)
  const held = largestFirst(await positionsOf(context.chain, pool.address, payer))
  const asked = position === undefined ? held : held.filter((each) => each.position === position)
  if (asked.length === 0) {
    if (position !== undefined)
      throw await unheldPosition(context.chain, { position, holder: payer, pool: pool.address })
    throw badRequest(`${payer} has no positions in the pool ${pool.address}`, { param: 'payer' })
  }
  const positions = asked.slice(0, MOST_TRANSFERRED_POSITIONS)
  const built = await buildTransaction(context, {
    payer,
    fallbackUnits: POSITION_TRANSFER_UNITS * positions.length,
    build: (envelope) => buildPositionTransfer({ ...envelope, positions, newOwner: new_owner }),
  })
  return {
    pool_address: pool.address,
    owner: payer,
    new_owner,
    positions: positions.map((each) => ({
      position: each.position,
      nft_mint: each.nftMint,
      liquidity: String(each.liquidity),
    })),
    remaining_positions: asked.length - positions.length,
    tx: unsignedAnswer(built),
    tracked_resource: trackingOf('pool', pool.address, []),
  }
}
