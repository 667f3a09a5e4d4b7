/** Reads assets and collections from the chain, and decodes them with the SDK. */

import type { AssetV1, CollectionV1, PluginAuthority as SdkAuthority } from '@metaplex-foundation/mpl-core'
import type { RpcAccount } from '@metaplex-foundation/umi'
import { badRequest, notFound } from '../../../platform/errors.ts'
import type { ChainAccount } from '../../../solana/accounts.ts'
import { METAPLEX_CORE } from '../../../solana/programs/metaplex-core.ts'
import type { NodeCalls } from '../../nodes/node-call.ts'
import { accountsAt, readWithSlots } from '../../sending/runs.ts'
import { storable } from './changes.ts'
import { loadCore } from './sdk.ts'
import type { AssetContent, AssetState, CollectionState, PluginAuthority } from './types.ts'

type CoreAccount = Pick<ChainAccount, 'data' | 'owner'> | null

/**
 * Takes one call at the node's commitment. `slot` is that of the node. Throws internal_error when the node fails.
 */
export async function readCoreAsset(
  node: NodeCalls,
  address: string,
): Promise<{ slot: number; content: AssetContent }> {
  const { oldest: slot, accounts } = await readWithSlots(node, [address])
  return { slot, content: await decodeAsset(address, accounts[0] ?? null) }
}

/** Throws not_found when the address has no collection. */
export async function readCollection(node: NodeCalls, address: string): Promise<CollectionState> {
  const [account = null] = await accountsAt(node, [address])
  return decodedCollection(address, account)
}

/**
 * Reads an asset and its collection in one call, so that both are from one slot. The collection is null when its
 * address has none; `isTaken` is true for any account.
 */
export async function readAssetIn(
  node: NodeCalls,
  asset: string,
  collection: string,
): Promise<{ slot: number; content: AssetContent; isTaken: boolean; collection: CollectionState | null }> {
  const { oldest: slot, accounts } = await readWithSlots(node, [asset, collection])
  return {
    slot,
    content: await decodeAsset(asset, accounts[0] ?? null),
    isTaken: (accounts[0] ?? null) !== null,
    collection: await decodeCollection(collection, accounts[1] ?? null),
  }
}

/** Throws bad_request for an asset that is compressed, or that this version of the SDK cannot decode. */
export async function decodeAsset(address: string, account: CoreAccount): Promise<AssetContent> {
  if (account === null || account.owner !== METAPLEX_CORE.id) return { kind: 'absent' }
  if (account.data.length === 1) return { kind: 'burned' }
  if (METAPLEX_CORE.is('hashed_asset', account)) {
    throw badRequest(`The asset ${address} is compressed: only its hash is on chain`, { param: 'asset' })
  }
  if (!METAPLEX_CORE.is('asset', account)) return { kind: 'absent' }
  const { core } = await loadCore()
  const decoded = await decodedBy(core.deserializeAssetV1, address, account, 'asset')
  const { freezeDelegate, permanentFreezeDelegate } = decoded
  const asset: AssetState = {
    address,
    owner: decoded.owner,
    collection: core.collectionAddress(decoded) ?? null,
    name: storable(decoded.name),
    uri: storable(decoded.uri),
    freeze:
      freezeDelegate === undefined
        ? null
        : { frozen: freezeDelegate.frozen, authority: pluginAuthorityOf(freezeDelegate.authority) },
    permanentFreeze: permanentFreezeDelegate?.frozen ?? null,
    decoded,
  }
  return { kind: 'asset', asset }
}

/** Returns null when there is no collection. Throws bad_request for one that this version of the SDK cannot decode. */
export async function decodeCollection(address: string, account: CoreAccount): Promise<CollectionState | null> {
  if (account === null || !METAPLEX_CORE.is('collection', account)) return null
  const { core } = await loadCore()
  const decoded = await decodedBy(core.deserializeCollectionV1, address, account, 'collection')
  return {
    address,
    name: storable(decoded.name),
    uri: storable(decoded.uri),
    updateAuthority: decoded.updateAuthority,
    updateDelegates: delegatesOf(decoded),
    minted: decoded.numMinted,
    size: decoded.currentSize,
    permanentFreeze: decoded.permanentFreezeDelegate?.frozen ?? null,
    decoded,
  }
}

/** Whether the asset cannot be transferred or burned. Its own plugin takes precedence over that of its collection. */
export function isFrozen({ freeze, permanentFreeze }: AssetState, collection: CollectionState | null): boolean {
  return freeze?.frozen === true || isFrozenByIssuer({ permanentFreeze }, collection)
}

/** Whether the issuer of the asset or its collection has frozen it. That is not a stake, and no release ends it. */
export const isFrozenByIssuer = (
  { permanentFreeze }: Pick<AssetState, 'permanentFreeze'>,
  collection: CollectionState | null,
): boolean => permanentFreeze ?? collection?.permanentFreeze ?? false

async function decodedCollection(address: string, account: CoreAccount): Promise<CollectionState> {
  const collection = await decodeCollection(address, account)
  if (collection === null) throw notFound(`There is no collection at ${address}`, { param: 'collection' })
  return collection
}

async function decodedBy<T extends AssetV1 | CollectionV1>(
  decode: (account: RpcAccount) => T,
  address: string,
  { data, owner }: NonNullable<CoreAccount>,
  what: 'asset' | 'collection',
): Promise<T> {
  const { key } = await loadCore()
  const account = {
    publicKey: key(address),
    owner: key(owner),
    // The lamports do not affect the decoding, so they are left at 0.
    lamports: { basisPoints: 0n, identifier: 'SOL', decimals: 9 },
    executable: false,
    data: Uint8Array.from(data),
  } as const
  try {
    return decode(account)
  } catch (cause) {
    const message = `The ${what} ${address} has parts that this version cannot read: upgrade svc`
    throw badRequest(message, { param: what, cause })
  }
}

function pluginAuthorityOf({ type, address }: SdkAuthority): PluginAuthority {
  if (type === 'Address') return { type, address: String(address) }
  return { type }
}

/** Returns the plugin's own authority if it is an address, and the delegates that it lists. */
function delegatesOf({ updateDelegate, updateAuthority }: CollectionV1): string[] {
  if (updateDelegate === undefined) return []
  const { authority, additionalDelegates } = updateDelegate
  const own = authority.type === 'Address' ? [String(authority.address)] : []
  return [...new Set([...own, ...additionalDelegates.map(String)])].filter((address) => address !== updateAuthority)
}
