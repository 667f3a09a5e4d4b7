/** Builds the transactions that create a collection, give it to another authority, mint an asset into one, and burn an asset. */
import { compileUnsigned, type Envelope, type UnsignedTransaction } from '../../sending/unsigned.ts'
import { loadCore } from './sdk.ts'
import type { AssetState, CollectionState } from './types.ts'

interface NameAndUri {
  name: string
  uri: string
}

interface CollectionCreation extends Envelope, NameAndUri {
  /** Address of a fresh key that also signs. */
  collection: string
  /** Address that may mint into the collection and change it. It need not sign. */
  updateAuthority: string
}

export async function buildCollectionCreation(input: CollectionCreation): Promise<UnsignedTransaction> {
  const { core, context, signer, key, instructions } = await loadCore()
  const { collection, payer, updateAuthority, name, uri } = input
  const builder = core.createCollection(context, {
    collection: signer(collection),
    payer: signer(payer),
    updateAuthority: key(updateAuthority),
    name,
    uri,
  })
  return compileUnsigned(input, instructions(builder))
}

interface CollectionHandover extends Envelope {
  /** Address of a collection whose update authority is the payer. */
  collection: string
  /** Address that gets the update authority. It need not sign. */
  newAuthority: string
}

/** Changes the update authority of a collection and of all assets in it, and nothing else. */
export async function buildCollectionHandover(input: CollectionHandover): Promise<UnsignedTransaction> {
  const { core, context, signer, key, instructions } = await loadCore()
  const { collection, payer, newAuthority } = input
  const holder = signer(payer)
  const builder = core.updateCollectionV1(context, {
    collection: key(collection),
    payer: holder,
    authority: holder,
    newUpdateAuthority: key(newAuthority),
    newName: null,
    newUri: null,
  })
  return compileUnsigned(input, instructions(builder))
}

interface AssetMint extends Envelope, NameAndUri {
  /** Address of a fresh key that also signs. */
  asset: string
  collection: CollectionState
  /** Update authority or delegate of the collection, which signs. */
  authority: string
  owner: string
}

export async function buildMint(input: AssetMint): Promise<UnsignedTransaction> {
  const { core, context, signer, key, instructions } = await loadCore()
  const { asset, collection, authority, payer, owner, name, uri } = input
  const builder = core.create(context, {
    asset: signer(asset),
    collection: collection.decoded,
    authority: signer(authority),
    payer: signer(payer),
    owner: key(owner),
    name,
    uri,
  })
  return compileUnsigned(input, instructions(builder))
}

export interface Burn extends Envelope {
  /** The asset, whose owner is the payer. */
  asset: AssetState
  collection: CollectionState
}

/** The rent returns to the payer, except that of one byte that keeps the address occupied. */
export async function buildBurn(input: Burn): Promise<UnsignedTransaction> {
  const { core, context, signer, instructions } = await loadCore()
  const { asset, collection, payer } = input
  const owner = signer(payer)
  const builder = core.burn(context, {
    asset: asset.decoded,
    collection: collection.decoded,
    payer: owner,
    authority: owner,
  })
  return compileUnsigned(input, instructions(builder))
}
