/** Encodes the two instructions of Token-2022's metadata extension that tokens require, and decodes its data in the mint. */
import { base58 } from '@scure/base'
import type { PublicKey, TransactionInstruction } from '@solana/web3.js'
import { borshReader, borshString } from '../../../solana/borsh.ts'
import type { OnChainMetadata } from './types.ts'

/** First eight bytes of the SHA-256 of `spl_token_metadata_interface:initialize_account`. */
const INITIALIZE = Buffer.from([210, 225, 30, 162, 88, 184, 77, 141])
/** First eight bytes of the SHA-256 of `spl_token_metadata_interface:update_the_authority`. */
const UPDATE_THE_AUTHORITY = Buffer.from([215, 228, 166, 228, 84, 100, 86, 123])
/** Type and length, two bytes each, before an extension's data. */
const EXTENSION_HEADER = 4
const NO_AUTHORITY = Buffer.alloc(32)

type MetadataTexts = Pick<OnChainMetadata, 'name' | 'symbol' | 'uri'>

/**
 * Returns the bytes by which the metadata extends its mint: authority, mint, three strings, an empty list of other
 * fields.
 */
export function extensionBytes({ name, symbol, uri }: MetadataTexts): number {
  const texts = [name, symbol, uri].map((text) => borshString(text).length)
  return EXTENSION_HEADER + 32 + 32 + texts.reduce((sum, length) => sum + length) + 4
}

/** Writes the metadata into the mint, which the program extends. The mint must already have the rent for it. */
export async function initializeMetadata(
  mint: PublicKey,
  authority: PublicKey,
  { name, symbol, uri }: MetadataTexts,
): Promise<TransactionInstruction> {
  const [{ TransactionInstruction }, spl] = await Promise.all([import('@solana/web3.js'), import('@solana/spl-token')])
  return new TransactionInstruction({
    programId: spl.TOKEN_2022_PROGRAM_ID,
    keys: [
      { pubkey: mint, isSigner: false, isWritable: true },
      // The accounts are update authority, mint and mint authority.
      { pubkey: authority, isSigner: false, isWritable: false },
      { pubkey: mint, isSigner: false, isWritable: false },
      { pubkey: authority, isSigner: true, isWritable: false },
    ],
    data: Buffer.concat([INITIALIZE, ...[name, symbol, uri].map(borshString)]),
  })
}

/** Sets the update authority to none. */
export async function dropUpdateAuthority(mint: PublicKey, authority: PublicKey): Promise<TransactionInstruction> {
  const [{ TransactionInstruction }, spl] = await Promise.all([import('@solana/web3.js'), import('@solana/spl-token')])
  return new TransactionInstruction({
    programId: spl.TOKEN_2022_PROGRAM_ID,
    keys: [
      { pubkey: mint, isSigner: false, isWritable: true },
      { pubkey: authority, isSigner: true, isWritable: false },
    ],
    data: Buffer.concat([UPDATE_THE_AUTHORITY, NO_AUTHORITY]),
  })
}

/** Throws RangeError for truncated data. */
export function decodeExtension(data: Uint8Array): OnChainMetadata {
  const fields = borshReader(data)
  const authority = fields.take(32)
  fields.take(32)
  const [name, symbol, uri] = [fields.string(), fields.string(), fields.string()]
  const updateAuthority = authority.equals(NO_AUTHORITY) ? null : base58.encode(authority)
  return { name, symbol, uri, updateAuthority, isMutable: updateAuthority !== null, source: 'extension' }
}
