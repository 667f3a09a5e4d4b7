/** Encodes the instructions of Metaplex Token Metadata that tokens require, and decodes the metadata account. */
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

const [NONE, SOME, NO] = [0, 1, 0]

/** Makes metadata permanently immutable, even for its update authority. */
export const freezeMetadata = (mint: PublicKey, authority: PublicKey): Promise<TransactionInstruction> =>
  // Data, update authority and primary sale are unchanged. Only `is_mutable` is set.
  updateMetadata(mint, authority, [NONE, NONE, NONE, SOME, NO])

/** Makes another address the update authority of mutable metadata, and changes nothing else. */
export const handMetadata = (mint: PublicKey, authority: PublicKey, to: PublicKey): Promise<TransactionInstruction> =>
  updateMetadata(mint, authority, [NONE, SOME, ...to.toBytes(), NONE, NONE])

/** The changes follow the instruction's number: data, update authority, primary sale, whether it is mutable. */
export async function updateMetadata(
  mint: PublicKey,
  authority: PublicKey,
  changes: readonly number[],
): Promise<TransactionInstruction> {
  const { PublicKey, TransactionInstruction } = await import('@solana/web3.js')
  return new TransactionInstruction({
    programId: new PublicKey(PROGRAMS.tokenMetadata.id),
    keys: [
      { pubkey: await metadataAddress(mint), isSigner: false, isWritable: true },
      { pubkey: authority, isSigner: true, isWritable: false },
    ],
    data: Buffer.from([UPDATE_METADATA_ACCOUNT_V2, ...changes]),
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
