/** Assets of Metaplex Core: minting into collections, freezing in the owner's wallet as stakes, and burning. */
export { type AssetChange, assetChangesIn, collectionsCreatedIn } from './changes.ts'
export { buildBurn, buildCollectionCreation, buildCollectionHandover, buildMint } from './minting.ts'
export { buildFreeze, buildRelease, type Freeze } from './staking.ts'
export { isFrozen, isFrozenByIssuer, readAssetIn, readCollection, readCoreAsset } from './state.ts'
export type { AssetContent, AssetState, CollectionState, PluginAuthority } from './types.ts'
