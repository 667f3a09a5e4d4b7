/** Transfers the role of a pool's creator to another wallet. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { buildCreatorTransfer, CREATOR_TRANSFER_UNITS } from '../../chain/programs/dbc/index.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { buildTransaction, trackingOf, unsignedAnswer } from '../building.ts'
import { requireRecipients } from '../recipients.ts'
import { isFull, requireCurve } from './on-chain.ts'

type TransferCreatorRoute = Api['pools']['transferCreator']

/** Throws bad_request for an address without a key, and while the curve waits for its migration. */
export async function transferCreator(
  context: Context,
  { address, payer, new_creator, allow_programs }: Input<TransferCreatorRoute>,
): Promise<Result<TransferCreatorRoute>> {
  const pool = await requireCurve(context.chain, address)
  const recipient = { param: 'new_creator', wallet: new_creator }
  if (new_creator === pool.creator)
    throw badRequest(`${new_creator} is the creator of ${address} already`, { param: recipient.param })
  // The program accepts any other address, even one that would lose the role forever.
  await requireRecipients(context, [recipient], { allowsPrograms: allow_programs })
  if (isFull(pool) && !pool.isMigrated) {
    throw badRequest(
      `The curve of ${address} is full and has not migrated: its creator can be changed again after the migration`,
      { param: 'address' },
    )
  }
  const built = await buildTransaction(context, {
    payer,
    fallbackUnits: CREATOR_TRANSFER_UNITS,
    build: (envelope) => buildCreatorTransfer({ ...envelope, pool, newCreator: new_creator }),
  })
  const { creatorQuoteFee, creatorSurplus, creatorMigrationFee } = pool
  return {
    pool_address: address,
    creator: pool.creator,
    new_creator,
    unclaimed_quote: String(creatorQuoteFee + creatorSurplus.claimable + creatorMigrationFee.claimable),
    unclaimed_base: String(pool.creatorBaseFee),
    quote_mint: pool.quoteMint,
    quote_decimals: pool.quoteDecimals,
    base_mint: pool.baseMint,
    base_decimals: pool.decimals,
    tx: unsignedAnswer(built),
    tracked_resource: trackingOf('pool', address, []),
  }
}
