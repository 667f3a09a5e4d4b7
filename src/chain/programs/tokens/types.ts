/** A fungible token in nouns, for both token programs. */

export type TokenProgram = 'spl' | 'token2022'
export type TokenAuthority = 'mint' | 'freeze' | 'metadata'
export type AuthorityStatus = 'created' | 'mint_authority_revoked' | 'freeze_authority_revoked' | 'fully_immutable'

export interface OnChainMetadata {
  name: string
  symbol: string
  uri: string
  /** Null when nobody holds it. */
  updateAuthority: string | null
  isMutable: boolean
  /** Where it lives: in an account of Metaplex Token Metadata, or in the Token-2022 mint itself. */
  source: 'metaplex' | 'extension'
}

export interface OnChainToken {
  mint: string
  tokenProgram: TokenProgram
  decimals: number
  /** Raw units. */
  supply: bigint
  mintAuthority: string | null
  freezeAuthority: string | null
  metadata: OnChainMetadata | null
  /** Token-2022: who may say that the metadata is elsewhere. Null for SPL. */
  metadataPointerAuthority: string | null
  /** Token-2022: where the pointer says that the metadata is, when that is neither the mint nor Metaplex's account. */
  metadataElsewhere: string | null
}
