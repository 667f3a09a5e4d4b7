/** Makes the instructions of Metaplex Token Metadata that tokens require, and decodes the metadata account. */
import type { PublicKey, TransactionInstruction } from '@solana/web3.js'
import type { ChainAccount } from '../../../solana/accounts.ts'
import { deriveAddress } from '../../../solana/program-addresses.ts'
import { SYSTEM_PROGRAM } from '../../../solana/program-ids.ts'
import { metadataSeeds, TOKEN_METADATA, unpadded } from '../../../solana/programs/token-metadata.ts'
import { sdkInstructions } from '../sdk-instruction.ts'
import type { OnChainMetadata } from './types.ts'

interface NewMetadata extends Pick<OnChainMetadata, 'name' | 'symbol' | 'uri'> {
  immutableMetadata?: boolean
}

/** Returns the address of a mint's metadata. */
export const metadataAddressOf = (mint: string): string =>
  deriveAddress(TOKEN_METADATA.id, ...metadataSeeds(mint)).address

/**
 * Creates metadata without royalties, creators or collection. The authority pays and may update mutable metadata.
 * Immutable metadata has the update authority 1111…, whose key no one has, because wallets and explorers check it
 * before the flag.
 */
export async function createMetadata(
  mint: PublicKey,
  authority: PublicKey,
  { name, symbol, uri, immutableMetadata = false }: NewMetadata,
): Promise<TransactionInstruction> {
  const sdk = await sdkInstructions()
  const [by, of] = [authority.toBase58(), mint.toBase58()]
  const accounts = {
    metadata: metadataAddressOf(of),
    mint: of,
    mint_authority: by,
    payer: by,
    update_authority: immutableMetadata ? SYSTEM_PROGRAM : by,
  }
  const content = { name, symbol, uri, seller_fee_basis_points: 0, is_mutable: !immutableMetadata }
  return sdk(TOKEN_METADATA.instruction('create_metadata_account_v3', accounts, content))
}

/** Makes metadata permanently immutable, even for its update authority. */
export const freezeMetadata = (mint: PublicKey, authority: PublicKey): Promise<TransactionInstruction> =>
  updateMetadata(mint, authority, { is_mutable: false })

/** Makes another address the update authority of mutable metadata, and changes nothing else. */
export const handMetadata = (mint: PublicKey, authority: PublicKey, to: PublicKey): Promise<TransactionInstruction> =>
  updateMetadata(mint, authority, { new_update_authority: to.toBase58() })

/** What is not among the changes stays. */
export async function updateMetadata(
  mint: PublicKey,
  authority: PublicKey,
  changes: { data?: object; new_update_authority?: string; is_mutable?: boolean },
): Promise<TransactionInstruction> {
  const sdk = await sdkInstructions()
  const accounts = { metadata: metadataAddressOf(mint.toBase58()), update_authority: authority.toBase58() }
  return sdk(TOKEN_METADATA.instruction('update_metadata_account_v2', accounts, changes))
}

/** Returns null for an account that is not metadata of this mint, or cannot be read. */
export function decodeMetaplex(
  account: Pick<ChainAccount, 'owner' | 'data'> | null,
  mint: string,
): OnChainMetadata | null {
  const fields = TOKEN_METADATA.decode('metadata', account)
  if (fields?.mint !== mint) return null
  const { update_authority: updateAuthority, is_mutable: isMutable } = fields
  const [name, symbol, uri] = [unpadded(fields.name), unpadded(fields.symbol), unpadded(fields.uri)]
  return { name, symbol, uri, updateAuthority, isMutable, source: 'metaplex' }
}
