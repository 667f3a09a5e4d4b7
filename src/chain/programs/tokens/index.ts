/** Fungible tokens: SPL with Metaplex metadata, or Token-2022 with its metadata extension. */
export { type TokenChange, tokenChangesIn } from './changes.ts'
export {
  buildTokenCreation,
  mintBytes,
  TEXT_LIMITS,
  type TokenCreation,
  tokenCreationInstructions,
} from './creation.ts'
export { readHoldings, type WalletHolding, type WalletHoldings } from './holdings.ts'
export { metadataFrozenIn } from './metadata-changes.ts'
export { metadataAddress, metadataAddressOf } from './metaplex.ts'
export {
  type ReceivingFault,
  type ReceivingTerms,
  readReceivers,
  receivingFault,
  type TokenReceiver,
} from './receivers.ts'
export { type AuthorityRevocation, buildAuthorityRevocation } from './revocation.ts'
export { decodeTokenState, readTokenState, readTokens, tokenReadCalls, tokenStatus } from './state.ts'
export {
  buildTokenTransfers,
  decimalsProof,
  failedRecipient,
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
