/** Fungible tokens: SPL with Metaplex metadata, or Token-2022 with its metadata extension. */
export { buildMintAct, buildWalletActs, type WalletAct } from './acts.ts'
export { type TokenChange, tokenChangesIn } from './changes.ts'
export {
  buildTokenCreation,
  mintBytes,
  TEXT_LIMITS,
  type TokenCreation,
  tokenCreationInstructions,
} from './creation.ts'
export { type LeftOutAccount, type Reclaimable, type ReclaimableAccount, readReclaimable } from './excess.ts'
export {
  buildExtensionUpdates,
  buildHarvest,
  buildWithheldWithdrawal,
  type ExtensionUpdates,
  MOST_GUARDED_WITHHELD,
  MOST_WITHHELD,
} from './extension-acts.ts'
export { readHoldings, type WalletHolding, type WalletHoldings } from './holdings.ts'
export { type MetadataChange, metadataChangesIn } from './metadata-changes.ts'
export { buildMetadataUpdate, metadataGrowth } from './metadata-update.ts'
export { metadataAddressOf } from './metaplex.ts'
export {
  type ReceivingFault,
  type ReceivingTerms,
  readReceivers,
  receivingFault,
  type TokenReceiver,
} from './receivers.ts'
export { buildReclaim, fittingReclaims, MOST_RECLAIMED, reclaimUnits } from './reclaim.ts'
export { type AuthorityTransfer, buildAuthorityTransfer } from './revocation.ts'
export {
  decodeTokenState,
  namedExtensions,
  readTokenAtTime,
  readTokenState,
  readTokens,
  tokenReadCalls,
  tokenStatus,
} from './state.ts'
export {
  buildTokenTransfers,
  decimalsProof,
  failedRecipient,
  MOST_GUARDED_RECIPIENTS,
  MOST_RECIPIENTS,
  type ProvenMint,
  type TokenTransfers,
  type TransferRecipient,
  transferUnits,
} from './transfers.ts'
export type {
  AuthorityStatus,
  OnChainMetadata,
  OnChainToken,
  TokenAuthority,
  TokenProgram,
} from './types.ts'
