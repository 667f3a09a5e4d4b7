/** Assets and collections of Metaplex Core in nouns. */
import type { AssetV1, CollectionV1 } from '@metaplex-foundation/mpl-core'

/** Who may use a plugin: the owner, the update authority, one address, or nobody. */
export type PluginAuthority =
  | { type: 'Owner' }
  | { type: 'UpdateAuthority' }
  | { type: 'Address'; address: string }
  | { type: 'None' }

export interface AssetState {
  address: string
  owner: string
  /** Null outside of collections. */
  collection: string | null
  name: string
  uri: string
  /** The plugin that a stake is; null where the asset has none. */
  freeze: { frozen: boolean; authority: PluginAuthority } | null
  /** State of the asset's own plugin by which its issuer can freeze it for good. */
  permanentFreeze: boolean | null
  /** What the SDK needs of it again. */
  decoded: AssetV1
}

export interface CollectionState {
  address: string
  name: string
  uri: string
  updateAuthority: string
  /** Those who may mint beside the update authority, each once. */
  updateDelegates: string[]
  /** Assets that were ever minted into it. */
  minted: number
  /** Without those that are burned. */
  size: number
  /** State of the plugin by which its issuer can freeze all of it; null where it has none. */
  permanentFreeze: boolean | null
  decoded: CollectionV1
}

/** What stands at the address of an asset; a burned one leaves a single byte, so that nothing else is ever minted there. */
export type AssetFinding = { kind: 'absent' } | { kind: 'burned' } | { kind: 'asset'; asset: AssetState }
