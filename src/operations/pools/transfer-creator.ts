/** Hands the role of a pool's creator over to another wallet. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { buildCreatorTransfer, CREATOR_TRANSFER_UNITS, type DbcPool } from '../../chain/programs/dbc/index.ts'
import { readWallets } from '../../chain/rpc-reads.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../errors.ts'
import { SYSTEM_PROGRAM } from '../../solana/program-ids.ts'
import { buildTransaction, trackingOf, unsignedAnswer } from '../building.ts'
import { isFull, requireCurve } from './on-chain.ts'

type TransferCreatorRoute = Api['pools']['transferCreator']

/** Throws bad_request for an address that nobody can sign for, and while the curve waits for its migration. */
export async function transferCreator(
  context: Context,
  { address, payer, new_creator }: Input<TransferCreatorRoute>,
): Promise<Result<TransferCreatorRoute>> {
  const pool = await requireCurve(context.chain, address)
  await requireNewCreator(context, pool, new_creator)
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

/** The program takes any other address, also one that loses the role for good. */
async function requireNewCreator({ chain }: Context, pool: DbcPool, newCreator: string): Promise<void> {
  const param = 'new_creator'
  if (newCreator === pool.creator)
    throw badRequest(`${newCreator} is the creator of ${pool.address} already`, { param })
  const [wallet] = await readWallets(await chain.connection(), [newCreator])
  if (newCreator !== SYSTEM_PROGRAM && wallet?.isWallet === true) return
  throw badRequest(`${param}: ${newCreator} is no wallet: the role and what it earns would be lost`, { param })
}
