/** Encodes the two instructions of Metaplex Token Metadata that tokens require, and decodes the metadata account. */
import { base58 } from '@scure/base'
import type { PublicKey, TransactionInstruction } from '@solana/web3.js'
import { borshReader, borshString } from '../../../solana/borsh.ts'
import { PROGRAMS } from '../../../solana/programs.ts'
import { addressOfKey, openDeriver } from '../derived-addresses.ts'
import type { OnChainMetadata } from './types.ts'

const CREATE_METADATA_ACCOUNT_V3 = 33
const UPDATE_METADATA_ACCOUNT_V2 = 15
/** First byte of the account, `Key::MetadataV1`. */
const METADATA_V1 = 4

interface NewMetadata extends Pick<OnChainMetadata, 'name' | 'symbol' | 'uri'> {
  immutableMetadata?: boolean
}

/** Returns the address of a mint's metadata. */
export async function metadataAddress(mint: PublicKey): Promise<PublicKey> {
  const [{ PublicKey }, { find }] = await Promise.all([import('@solana/web3.js'), openDeriver()])
  const program = new PublicKey(PROGRAMS.tokenMetadata.id)
  return find([Buffer.from('metadata'), program.toBuffer(), mint.toBuffer()], program)[0]
}

/** Returns the address of a mint's metadata. Both addresses are base58. */
export async function metadataAddressOf(mint: string): Promise<string> {
  const { PublicKey } = await import('@solana/web3.js')
  return addressOfKey(await metadataAddress(new PublicKey(mint)))
}

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
  const { PublicKey, SystemProgram, TransactionInstruction } = await import('@solana/web3.js')
  const [none, isMutable] = [0, immutableMetadata ? 0 : 1]
  const updateAuthority = immutableMetadata ? PublicKey.default : authority
  return new TransactionInstruction({
    programId: new PublicKey(PROGRAMS.tokenMetadata.id),
    keys: [
      { pubkey: await metadataAddress(mint), isSigner: false, isWritable: true },
      { pubkey: mint, isSigner: false, isWritable: false },
      // The accounts are mint authority, payer and update authority.
      { pubkey: authority, isSigner: true, isWritable: false },
      { pubkey: authority, isSigner: true, isWritable: true },
      { pubkey: updateAuthority, isSigner: false, isWritable: false },
      { pubkey: SystemProgram.programId, isSigner: false, isWritable: false },
    ],
    data: Buffer.concat([
      Buffer.from([CREATE_METADATA_ACCOUNT_V3]),
      ...[name, symbol, uri].map(borshString),
      // The bytes are royalty (two), creators, collection, uses, the mutable flag and collection details.
      Buffer.from([0, 0, none, none, none, isMutable, none]),
    ]),
  })
}

/** Makes metadata permanently immutable, even for its update authority. */
export async function freezeMetadata(mint: PublicKey, authority: PublicKey): Promise<TransactionInstruction> {
  const { PublicKey, TransactionInstruction } = await import('@solana/web3.js')
  const [none, some, no] = [0, 1, 0]
  return new TransactionInstruction({
    programId: new PublicKey(PROGRAMS.tokenMetadata.id),
    keys: [
      { pubkey: await metadataAddress(mint), isSigner: false, isWritable: true },
      { pubkey: authority, isSigner: true, isWritable: false },
    ],
    // Data, update authority and primary sale are unchanged. Only `is_mutable` is set.
    data: Buffer.from([UPDATE_METADATA_ACCOUNT_V2, none, none, none, some, no]),
  })
}

/** Returns null for an account that is not metadata of this mint. Throws RangeError for truncated data. */
export function decodeMetaplex(data: Uint8Array, mint: string): OnChainMetadata | null {
  const fields = borshReader(data)
  if (data.length === 0 || fields.u8() !== METADATA_V1) return null
  const updateAuthority = base58.encode(fields.take(32))
  if (base58.encode(fields.take(32)) !== mint) return null
  const [name, symbol, uri] = [fields.string(), fields.string(), fields.string()]
  fields.take(2)
  if (fields.u8() === 1) fields.take(fields.u32() * 34)
  fields.take(1)
  return { name, symbol, uri, updateAuthority, isMutable: fields.u8() === 1, source: 'metaplex' }
}
