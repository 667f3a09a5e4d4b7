/** Types of a fungible token, for both token programs. */

import type { MintExtensions } from '../../../solana/token-extensions.ts'

export type TokenProgram = 'spl' | 'token2022'
export type TokenAuthority = 'mint' | 'freeze' | 'metadata'
export type AuthorityStatus = 'created' | 'mint_authority_revoked' | 'freeze_authority_revoked' | 'fully_immutable'

export interface OnChainMetadata {
  name: string
  symbol: string
  uri: string
  /** Update authority, or null when no one has it. */
  updateAuthority: string | null
  isMutable: boolean
  /** Location of the metadata: an account of Metaplex Token Metadata, or the Token-2022 mint itself. */
  source: 'metaplex' | 'extension'
  /** Additional fields of Token-2022, as many as are read; absent without any. */
  fields?: readonly { key: string; value: string }[]
  /** Whether there is more than was read. */
  hasMoreFields?: boolean
}

export interface OnChainToken {
  mint: string
  tokenProgram: TokenProgram
  decimals: number
  /** Supply in raw units. */
  supply: bigint
  mintAuthority: string | null
  freezeAuthority: string | null
  metadata: OnChainMetadata | null
  /** Authority that may move the metadata pointer of Token-2022. Null for SPL. */
  metadataPointerAuthority: string | null
  /** Address in the metadata pointer of Token-2022 if it is neither the mint nor Metaplex's account, else null. */
  metadataElsewhere: string | null
  /** The effects of Token-2022 extensions on its amounts and transfers. Null for SPL. */
  extensions: MintExtensions | null
}
