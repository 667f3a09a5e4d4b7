/** Types of assets and collections of Metaplex Core. */
import type { AssetV1, CollectionV1 } from '@metaplex-foundation/mpl-core'

/** The authority of a plugin: the owner, the update authority, one address, or no one. */
export type PluginAuthority =
  | { type: 'Owner' }
  | { type: 'UpdateAuthority' }
  | { type: 'Address'; address: string }
  | { type: 'None' }

export interface AssetState {
  address: string
  owner: string
  /** Collection of the asset, or null without one. */
  collection: string | null
  name: string
  uri: string
  /** The plugin that marks a stake, or null when the asset has none. */
  freeze: { frozen: boolean; authority: PluginAuthority } | null
  /** State of the asset's own plugin with which its issuer can freeze it permanently, or null without one. */
  permanentFreeze: boolean | null
  /** The decoded asset in the form that the SDK's builders require. */
  decoded: AssetV1
}

export interface CollectionState {
  address: string
  name: string
  uri: string
  updateAuthority: string
  /** Addresses that may mint beside the update authority, without duplicates. */
  updateDelegates: string[]
  /** Number of assets ever minted into the collection. */
  minted: number
  /** Number of assets without the burned ones. */
  size: number
  /** State of the plugin with which the issuer can freeze the whole collection, or null without one. */
  permanentFreeze: boolean | null
  decoded: CollectionV1
}

/**
 * The content of an asset's address. A burned asset leaves a single byte, so that no other asset can be minted there.
 */
export type AssetContent = { kind: 'absent' } | { kind: 'burned' } | { kind: 'asset'; asset: AssetState }
