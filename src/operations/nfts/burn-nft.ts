/** Builds the burning of an asset by its owner. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { withComputeBudget } from '../../chain/compute-budget.ts'
import { buildBurn, isFrozenByIssuer } from '../../chain/programs/metaplex-core/index.ts'
import { requireProgram } from '../../chain/required-program.ts'
import { readLatestBlockhash } from '../../chain/rpc-reads.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../errors.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { requireOwned } from '../assets/owned-asset.ts'
import { throwRefused } from '../assets/refused.ts'
import { rememberNft } from '../assets/remember.ts'

type BurnNftRoute = Api['nfts']['burn']

/** Half more than a burn was measured at: 8,245. */
const FALLBACK_UNITS = 15_000

export async function burnNft(context: Context, input: Input<BurnNftRoute>): Promise<Result<BurnNftRoute>> {
  const { chain, config } = context
  const { asset: address, owner } = input
  const owned = await requireOwned(context, { ...input, param: 'owner' })
  const { asset, collection } = owned
  if (asset.freeze?.frozen) {
    throw badRequest(`The asset ${address} is frozen, as it is staked: release it before it is burned`, {
      param: 'asset',
    })
  }
  if (isFrozenByIssuer(asset, collection)) {
    throw badRequest(`The asset ${address} is frozen by its issuer: it cannot be burned`, { param: 'asset' })
  }
  await requireProgram(chain, PROGRAMS.core)
  const connection = await chain.connection()
  const recentBlockhash = await readLatestBlockhash(connection)
  const { transaction, requiredSigners } = await withComputeBudget(
    { connection, config },
    (before) => buildBurn({ payer: owner, asset, collection, recentBlockhash, before }),
    FALLBACK_UNITS,
    throwRefused,
  )
  return context.commit(async (tx) => {
    await rememberNft(context, tx, owned)
    return {
      mode: 'unsigned' as const,
      transaction: Buffer.from(transaction).toString('base64'),
      requiredSigners,
      tracked_resource: { resource_type: 'nft', resource_id: address, related_events: ['nft.burned' as const] },
    }
  })
}
