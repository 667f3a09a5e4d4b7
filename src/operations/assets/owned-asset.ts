/** The asset of a request: there, in the collection that was named, and owned by who asks. */
import { type AssetState, type CollectionState, readAssetIn } from '../../chain/programs/metaplex-core/index.ts'
import type { Services } from '../../context.ts'
import { badRequest, notFound } from '../../errors.ts'

export interface OwnedAsset {
  /** Slot at which asset and collection were read. */
  slot: number
  asset: AssetState
  collection: CollectionState
}

interface OwnershipRequirement {
  asset: string
  collection: string
  /** Who must own it. */
  owner: string
  /** Field of the request that names the owner. */
  param: 'user' | 'owner'
}

/** Throws not_found where no asset is, bad_request naming the field where it is burned, elsewhere or another's. */
export async function requireOwnedAsset(
  { chain }: Pick<Services, 'chain'>,
  asked: OwnershipRequirement,
): Promise<OwnedAsset> {
  const { asset: address, param } = asked
  const { slot, found, collection } = await readAssetIn(await chain.connection(), address, asked.collection)
  if (found.kind === 'absent') throw notFound(`There is no asset at ${address}`, { param: 'asset' })
  if (found.kind === 'burned') throw badRequest(`The asset ${address} is burned`, { param: 'asset' })
  const { asset } = found
  if (asset.collection !== asked.collection || collection === null) {
    const where = asset.collection === null ? 'in no collection' : `in the collection ${asset.collection}`
    throw badRequest(`The asset ${address} is ${where}, not in ${asked.collection}`, {
      param: 'collection',
      details: { collection: asset.collection },
    })
  }
  if (asset.owner !== asked.owner) {
    throw badRequest(`The asset ${address} is owned by ${asset.owner}; only it can do this`, {
      param,
      details: { owner: asset.owner },
    })
  }
  return { slot, asset, collection }
}
