/** Assets of Metaplex Core: minted into collections, frozen in their owner's wallet as stakes, burned. */
export { type AssetChange, assetChangesIn } from './changes.ts'
export { buildBurn, buildCollectionCreation, buildMint } from './minting.ts'
export { buildFreeze, buildRelease, type Freeze } from './staking.ts'
export { isFrozen, isFrozenByIssuer, readAssetIn, readCollection, readCoreAsset } from './state.ts'
export type { AssetFinding, AssetState, CollectionState, PluginAuthority } from './types.ts'
