/** Encodes the two instructions of Token-2022's metadata extension that tokens require, and decodes its data in the mint. */
import { base58 } from '@scure/base'
import type { PublicKey, TransactionInstruction } from '@solana/web3.js'
import { borshReader, borshString } from '../../../solana/borsh.ts'
import type { OnChainMetadata } from './types.ts'

/** First eight bytes of the SHA-256 of `spl_token_metadata_interface:initialize_account`. */
const INITIALIZE = Buffer.from([210, 225, 30, 162, 88, 184, 77, 141])
/** First eight bytes of the SHA-256 of `spl_token_metadata_interface:update_the_authority`. */
const UPDATE_THE_AUTHORITY = Buffer.from([215, 228, 166, 228, 84, 100, 86, 123])
/** First eight bytes of the SHA-256 of `spl_token_metadata_interface:updating_field`, and of `…:remove_key_ix`. */
const UPDATING_FIELD = Buffer.from([221, 233, 49, 45, 181, 202, 220, 200])
const REMOVE_KEY = Buffer.from([234, 18, 32, 56, 89, 141, 37, 181])
/** Fields with a number of their own; any other one is a key, whose number is 3. */
const FIELDS: readonly string[] = ['name', 'symbol', 'uri']
const KEY = 3
/** Type and length, two bytes each, before an extension's data. */
const EXTENSION_HEADER = 4
const NO_AUTHORITY = Buffer.alloc(32)

type MetadataTexts = Pick<OnChainMetadata, 'name' | 'symbol' | 'uri'>

/**
 * Returns the bytes by which the metadata extends its mint: authority, mint, three strings, and the list of other
 * fields.
 */
export function extensionBytes(
  { name, symbol, uri }: MetadataTexts,
  additional: ReadonlyMap<string, string> = new Map(),
): number {
  const texts = [name, symbol, uri, ...[...additional].flat()].map((text) => borshString(text).length)
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

/** Sets the update authority, by default to none. */
export async function setUpdateAuthority(
  mint: PublicKey,
  authority: PublicKey,
  to: PublicKey | null = null,
): Promise<TransactionInstruction> {
  return changeMetadata(mint, authority, Buffer.concat([UPDATE_THE_AUTHORITY, to?.toBuffer() ?? NO_AUTHORITY]))
}

/** Sets name, symbol, uri or an additional field. The mint must already have the rent for its growth. */
export const setField = (
  mint: PublicKey,
  authority: PublicKey,
  { key, value }: { key: string; value: string },
): Promise<TransactionInstruction> => {
  const place = FIELDS.indexOf(key)
  const field = place === -1 ? Buffer.concat([Buffer.of(KEY), borshString(key)]) : Buffer.of(place)
  return changeMetadata(mint, authority, Buffer.concat([UPDATING_FIELD, field, borshString(value)]))
}

/** Removes an additional field. The program refuses one that is not there. */
export const removeField = (mint: PublicKey, authority: PublicKey, key: string): Promise<TransactionInstruction> =>
  changeMetadata(mint, authority, Buffer.concat([REMOVE_KEY, Buffer.of(0), borshString(key)]))

async function changeMetadata(mint: PublicKey, authority: PublicKey, data: Buffer): Promise<TransactionInstruction> {
  const [{ TransactionInstruction }, spl] = await Promise.all([import('@solana/web3.js'), import('@solana/spl-token')])
  return new TransactionInstruction({
    programId: spl.TOKEN_2022_PROGRAM_ID,
    keys: [
      { pubkey: mint, isSigner: false, isWritable: true },
      { pubkey: authority, isSigner: true, isWritable: false },
    ],
    data,
  })
}

/** Returns the additional fields. Throws RangeError for truncated data. */
export function decodeExtensionFields(data: Uint8Array): Map<string, string> {
  const fields = borshReader(data)
  fields.take(64)
  for (const _ of FIELDS) fields.string()
  const additional = new Map<string, string>()
  for (let left = fields.u32(); left > 0; left--) additional.set(fields.string(), fields.string())
  return additional
}

/** The fields that are read of a mint, whose creator can write any number of them, and the characters of each. */
const [MOST_FIELDS, MOST_KEY, MOST_VALUE] = [32, 64, 1_000]

/** Returns the first additional fields, cut to a length that can be shown; none for truncated data. */
function shownFields(fields: ReturnType<typeof borshReader>): Pick<OnChainMetadata, 'fields' | 'hasMoreFields'> {
  const shown: { key: string; value: string }[] = []
  const cut = (text: string, most: number) => (text.length > most ? `${text.slice(0, most)}…` : text)
  try {
    const count = fields.u32()
    while (shown.length < Math.min(count, MOST_FIELDS)) {
      shown.push({ key: cut(fields.string(), MOST_KEY), value: cut(fields.string(), MOST_VALUE) })
    }
    return { ...(count === 0 ? {} : { fields: shown }), ...(count > MOST_FIELDS ? { hasMoreFields: true } : {}) }
  } catch (error) {
    if (error instanceof RangeError) return {}
    throw error
  }
}

/** Throws RangeError for truncated data. */
export function decodeExtension(data: Uint8Array): OnChainMetadata {
  const fields = borshReader(data)
  const authority = fields.take(32)
  fields.take(32)
  const [name, symbol, uri] = [fields.string(), fields.string(), fields.string()]
  const updateAuthority = authority.equals(NO_AUTHORITY) ? null : base58.encode(authority)
  const isMutable = updateAuthority !== null
  return { name, symbol, uri, updateAuthority, isMutable, source: 'extension', ...shownFields(fields) }
}
