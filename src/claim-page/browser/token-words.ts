/** Name and symbol of a token as the chain has them. */
import type { ChainAccount } from '../../solana/accounts.ts'
import { ByteReader } from '../../solana/byte-reader.ts'
import { TOKEN_METADATA, unpadded } from '../../solana/programs/token-metadata.ts'
import { readMetadataHead } from '../../solana/programs/token-metadata-interface.ts'

type Account = Pick<ChainAccount, 'owner' | 'data'>

export interface ShownMetadata {
  name: string
  symbol: string
  authority: string | null
  isMutable: boolean
}

/** Metadata of Metaplex for the mint; null for any other account. */
export function metaplexOf(account: Account | null, mint: string): ShownMetadata | null {
  const fields = TOKEN_METADATA.decode('metadata', account)
  if (fields?.mint !== mint) return null
  const { name, symbol, update_authority: authority, is_mutable: isMutable } = fields
  return { name: unpadded(name), symbol: unpadded(symbol), authority, isMutable }
}

/** Metadata in a mint of Token-2022, from the data of its extension. */
export function ownMetadataOf(data: Uint8Array | undefined): ShownMetadata | null {
  if (data === undefined) return null
  try {
    const { name, symbol, updateAuthority: authority } = readMetadataHead(new ByteReader(data))
    return { name, symbol, authority, isMutable: authority !== null }
  } catch {
    return null
  }
}
