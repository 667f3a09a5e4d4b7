/** Fungible tokens: SPL with Metaplex metadata, or Token-2022 with its metadata extension. */
export { buildTokenCreation, mintBytes, TEXT_LIMITS, type TokenCreation } from './creation.ts'
export { metadataAddress } from './metaplex.ts'
export { type AuthorityRevocation, buildAuthorityRevocation } from './revocation.ts'
export { decodeToken, readToken, tokenStatus } from './state.ts'
export type {
  Envelope,
  TokenAuthority,
  TokenMetadata,
  TokenProgram,
  TokenState,
  TokenStatus,
  UnsignedTransaction,
} from './types.ts'
