/** Builds the burn of an asset by its owner. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { buildBurn, isFrozenByIssuer } from '../../chain/programs/metaplex-core/index.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { insertForeignNft } from '../assets/asset-rows.ts'
import { throwCoreRefusal } from '../assets/core-refusal.ts'
import { requireOwnedAsset } from '../assets/owned-asset.ts'
import { buildTransaction, trackingOf, unsignedAnswer } from '../building.ts'

type BurnNftRoute = Api['nfts']['burn']

export async function burnNft(context: Context, input: Input<BurnNftRoute>): Promise<Result<BurnNftRoute>> {
  const { asset: address, owner } = input
  const owned = await requireOwnedAsset(context, { ...input, param: 'owner' })
  const { asset, collection } = owned
  if (asset.freeze?.frozen) {
    throw badRequest(`The asset ${address} is frozen because it is staked: release it before you burn it`, {
      param: 'asset',
    })
  }
  if (isFrozenByIssuer(asset, collection)) {
    throw badRequest(`The asset ${address} is frozen by its issuer: it cannot be burned`, { param: 'asset' })
  }
  const built = await buildTransaction(context, {
    payer: owner,
    requiredProgram: PROGRAMS.core,
    // One and a half times the measured cost of a burn, 8,245 units.
    fallbackUnits: 15_000,
    build: (envelope) => buildBurn({ ...envelope, asset, collection }),
    onFailedTrial: throwCoreRefusal,
  })
  return context.commit(async (tx) => {
    await insertForeignNft(context, tx, owned)
    return { ...unsignedAnswer(built), tracked_resource: trackingOf('nft', address, ['nft.burned']) }
  })
}
