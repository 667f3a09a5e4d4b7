/** NFTs of Metaplex Core: create, burn, read and list. */
import type { Api } from '../api/index.ts'
import type { Input, Result } from '../api/route.ts'
import { warningsOf } from '../api/uris.ts'
import {
  buildBurn,
  buildMint,
  type CollectionState,
  isFrozenByIssuer,
  readAssetIn,
} from '../chain/programs/metaplex-core/index.ts'
import type { Signer } from '../chain/signer/index.ts'
import type { Context } from '../context.ts'
import { badRequest, notFound } from '../platform/errors.ts'
import { PROGRAMS } from '../solana/programs.ts'
import { pageNfts } from '../store/resources/nfts.ts'
import type { Row } from '../store/schema.ts'
import { unsignedAct } from './act.ts'
import { listOf, nftRecord } from './api-records.ts'
import { insertForeignNft } from './assets/asset-rows.ts'
import { requireOwnedAsset } from './assets/owned-asset.ts'
import { readAssetWithRows } from './assets/read-asset.ts'
import { newKey, trackingOf } from './building.ts'
import { requireRecipients } from './recipients.ts'
import { throwCoreRefusal } from './refusals.ts'
import { requireSigner, trySigner } from './signing/require-signer.ts'

type Routes = Api['nfts']

/** Builds the mint of an asset into a collection. The platform wallet signs it if the collection is listed. */
export const createNft = unsignedAct<Routes['create']>(async (context, input) => {
  const { payer, owner = payer, name, uri } = input
  if ([payer, owner, input.collection].includes(input.asset ?? '')) throw notFresh()
  if (owner === PROGRAMS.core.id) {
    throw badRequest('owner is the address of Metaplex Core itself, which no asset can have', { param: 'owner' })
  }
  if (owner !== payer) {
    await requireRecipients(context, [{ param: 'owner', wallet: owner }], { allowsPrograms: input.allow_programs })
  }
  const { asset, secretKeys } = input.asset === undefined ? freshAsset(context) : { asset: input.asset, secretKeys: [] }
  const { content, isTaken, collection } = await readAssetIn(context.chain, asset, input.collection)
  if (collection === null) throw notFound(`There is no collection at ${input.collection}`, { param: 'collection' })
  if (content.kind !== 'absent') throw badRequest(`There is already an asset at ${asset}`, { param: 'asset' })
  if (isTaken) throw notFresh()
  const { authority, cosigner } = await readMintAuthority(context, collection, input)
  if (asset === authority) throw notFresh()
  const about = { asset, collection: collection.address, payer }
  return {
    payer,
    requiredProgram: PROGRAMS.core,
    // One and a half times the measured cost of a mint, 12,755 units.
    fallbackUnits: 20_000,
    build: async (envelope) => ({
      ...(await buildMint({ ...envelope, asset, collection, authority, owner, name, uri })),
      secretKeys,
    }),
    onFailedSimulation: throwCoreRefusal,
    summary: { asset, ...warningsOf({ uri }) },
    tracked: trackingOf('nft', asset, ['nft.created']),
    cosigning: cosigner && { signer: cosigner, operation: 'nft.create', about },
  }
})

/** Generates the key for the asset's address. It signs only the creation. */
function freshAsset(context: Context): { asset: string; secretKeys: Uint8Array[] } {
  const { address, secretKey } = newKey(context)
  return { asset: address, secretKeys: [secretKey] }
}

const notFresh = () =>
  badRequest('asset must be the address of a new key, without an account and without another role in this request', {
    param: 'asset',
  })

/**
 * Returns the signing authority of the collection: the requested one, the payer if permitted, the platform wallet if
 * it will sign, or the update authority.
 */
async function readMintAuthority(
  context: Context,
  collection: CollectionState,
  { payer, authority: requested }: Input<Routes['create']>,
): Promise<{ authority: string; cosigner: Signer | null }> {
  const { updateAuthority, updateDelegates, address } = collection
  const all = [updateAuthority, ...updateDelegates]
  if (requested !== undefined && !all.includes(requested)) {
    throw badRequest(
      `${requested} may not mint into the collection ${address}: its update authority is ${updateAuthority}, its delegates are ${updateDelegates.join(', ') || 'none'}`,
      { param: 'authority', details: { update_authority: updateAuthority, update_delegates: updateDelegates } },
    )
  }
  const expected = requested ?? (all.includes(payer) ? payer : null)
  if (expected !== payer && context.config.values['nfts.cosign-collections'].includes(address)) {
    // A request that names another authority requires no signer.
    const signer = expected === null ? await requireSigner(context) : await trySigner(context)
    const isAuthority = signer !== null && (expected === null ? all : [expected]).includes(signer.address)
    if (isAuthority) return { authority: signer.address, cosigner: signer }
  }
  return { authority: expected ?? updateAuthority, cosigner: null }
}

/** Builds the burn of an asset by its owner. */
export const burnNft = unsignedAct<Routes['burn']>(async (context, input) => {
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
  return {
    payer: owner,
    requiredProgram: PROGRAMS.core,
    // One and a half times the measured cost of a burn, 8,245 units.
    fallbackUnits: 15_000,
    build: (envelope) => buildBurn({ ...envelope, asset, collection }),
    onFailedSimulation: throwCoreRefusal,
    summary: {},
    tracked: trackingOf('nft', address, ['nft.burned']),
    record: (tx) => insertForeignNft(context, tx, owned),
  }
})

/** Reads one NFT from the chain, whoever minted it. */
export async function getNft(context: Context, { asset }: Input<Routes['get']>): Promise<Result<Routes['get']>> {
  const { kind, state, nft } = await readAssetWithRows(context, asset)
  if (kind === 'absent') throw notFound(`There is no asset at ${asset}`, { param: 'asset' })
  const record = nft === null ? null : nftRecord(nft)
  if (state === null) return record ?? { ...BURNED_NFT, asset }
  const { owner, collection, name, uri, frozen } = state
  return { asset, collection, owner, name, uri, status: 'minted', frozen, created_at: record?.created_at ?? null }
}

/** A burned asset has no data on chain. Only its record has its former content. */
const BURNED_NFT = {
  collection: null,
  owner: null,
  name: '',
  uri: '',
  status: 'burned' as const,
  frozen: false,
  created_at: null,
}

export const listNfts = listOf<Routes['list'], Row<'nfts'>>(pageNfts, nftRecord)
