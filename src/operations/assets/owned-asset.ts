/** Checks the asset of a request: it exists, is in the named collection, and belongs to the requester. */
import { type AssetState, type CollectionState, readAssetIn } from '../../chain/programs/metaplex-core/index.ts'
import type { Services } from '../../context.ts'
import { badRequest, notFound } from '../../platform/errors.ts'

export interface OwnedAsset {
  /** Slot at which the asset and its collection were read. */
  slot: number
  asset: AssetState
  collection: CollectionState
}

interface OwnershipRequirement {
  asset: string
  collection: string
  /** Address that must own the asset. */
  owner: string
  /** Field of the request that names the owner. */
  param: 'user' | 'owner'
}

/**
 * Throws not_found without an asset. Throws bad_request naming the field if the asset is burned, in another
 * collection, or has another owner.
 */
export async function requireOwnedAsset(
  { chain }: Pick<Services, 'chain'>,
  requirement: OwnershipRequirement,
): Promise<OwnedAsset> {
  const { asset: address, param } = requirement
  const { slot, content, collection } = await readAssetIn(chain, address, requirement.collection)
  if (content.kind === 'absent') throw notFound(`There is no asset at ${address}`, { param: 'asset' })
  if (content.kind === 'burned') throw badRequest(`The asset ${address} is burned`, { param: 'asset' })
  const { asset } = content
  if (asset.collection !== requirement.collection || collection === null) {
    const where = asset.collection === null ? 'in no collection' : `in the collection ${asset.collection}`
    throw badRequest(`The asset ${address} is ${where}, not in ${requirement.collection}`, {
      param: 'collection',
      details: { collection: asset.collection },
    })
  }
  if (asset.owner !== requirement.owner) {
    throw badRequest(`The asset ${address} is owned by ${asset.owner}; only it can do this`, {
      param,
      details: { owner: asset.owner },
    })
  }
  return { slot, asset, collection }
}
