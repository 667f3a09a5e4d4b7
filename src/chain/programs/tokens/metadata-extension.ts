/** Makes the instructions for the metadata in a Token-2022 mint that tokens require, and decodes its data in the mint. */
import type { PublicKey, TransactionInstruction } from '@solana/web3.js'
import { ByteReader, ShortData } from '../../../solana/byte-reader.ts'
import { SYSTEM_PROGRAM } from '../../../solana/program-ids.ts'
import { unpadded } from '../../../solana/programs/token-metadata.ts'
import {
  METADATA_FIELDS,
  METADATA_HEAD,
  readMetadataHead,
  TOKEN_METADATA_INTERFACE,
} from '../../../solana/programs/token-metadata-interface.ts'
import { sdkInstructions } from '../sdk-instruction.ts'
import type { OnChainMetadata } from './types.ts'

/** Type and length, two bytes each, before an extension's data. */
const EXTENSION_HEADER = 4
/** Fields with a place of their own; any other one is a key. */
const FIELDS: ReadonlyMap<string, string> = new Map([
  ['name', 'Name'],
  ['symbol', 'Symbol'],
  ['uri', 'Uri'],
])

type MetadataTexts = Pick<OnChainMetadata, 'name' | 'symbol' | 'uri'>

/**
 * Returns the bytes by which the metadata extends its mint: authority, mint, three strings, and the list of other
 * fields.
 */
export function extensionBytes(
  { name, symbol, uri }: MetadataTexts,
  additional: ReadonlyMap<string, string> = new Map(),
): number {
  const head = METADATA_HEAD.write({ update_authority: SYSTEM_PROGRAM, mint: SYSTEM_PROGRAM, name, symbol, uri })
  const fields = METADATA_FIELDS.write(Array.from(additional, ([key, value]) => ({ key, value })))
  return EXTENSION_HEADER + head.length + fields.length
}

/** Writes the metadata into the mint, which the program extends. The mint must already have the rent for it. */
export async function initializeMetadata(
  mint: PublicKey,
  authority: PublicKey,
  { name, symbol, uri }: MetadataTexts,
): Promise<TransactionInstruction> {
  const sdk = await sdkInstructions()
  const [of, by] = [mint.toBase58(), authority.toBase58()]
  const accounts = { metadata: of, update_authority: by, mint: of, mint_authority: by }
  return sdk(TOKEN_METADATA_INTERFACE.instruction('initialize_token_metadata', accounts, { name, symbol, uri }))
}

const changed = (mint: PublicKey, authority: PublicKey) => ({
  metadata: mint.toBase58(),
  update_authority: authority.toBase58(),
})

/** Sets the update authority, by default to none. */
export async function setUpdateAuthority(
  mint: PublicKey,
  authority: PublicKey,
  to: PublicKey | null = null,
): Promise<TransactionInstruction> {
  const sdk = await sdkInstructions()
  const args = { new_authority: to?.toBase58() ?? SYSTEM_PROGRAM }
  return sdk(TOKEN_METADATA_INTERFACE.instruction('update_token_metadata_authority', changed(mint, authority), args))
}

/** Sets name, symbol, uri or an additional field. The mint must already have the rent for its growth. */
export async function setField(
  mint: PublicKey,
  authority: PublicKey,
  { key, value }: { key: string; value: string },
): Promise<TransactionInstruction> {
  const sdk = await sdkInstructions()
  const args = { field: metadataField(key), value }
  return sdk(TOKEN_METADATA_INTERFACE.instruction('update_token_metadata_field', changed(mint, authority), args))
}

const metadataField = (key: string) => {
  const name = FIELDS.get(key)
  return name === undefined ? { name: 'Key', value: [key] } : { name, value: null }
}

/** Removes an additional field. The program refuses one that is not there. */
export async function removeField(mint: PublicKey, authority: PublicKey, key: string): Promise<TransactionInstruction> {
  const sdk = await sdkInstructions()
  const args = { idempotent: false, key }
  return sdk(TOKEN_METADATA_INTERFACE.instruction('remove_token_metadata_key', changed(mint, authority), args))
}

type AdditionalField = { key: string; value: string }
const bareField = ({ key, value }: AdditionalField) => ({ key: unpadded(key), value: unpadded(value) })

/** Returns the additional fields. Throws ShortData for truncated data. */
export function decodeExtensionFields(data: Uint8Array): Map<string, string> {
  const reader = new ByteReader(data)
  readMetadataHead(reader)
  const fields = METADATA_FIELDS.read(reader) as AdditionalField[]
  return new Map(fields.map(bareField).map(({ key, value }) => [key, value]))
}

/** The fields that are read of a mint, whose creator can write any number of them, and the characters of each. */
const MOST_FIELDS = 32
const MOST_KEY = 64
const MOST_VALUE = 1_000

/** Returns the first additional fields, cut to a length that can be shown; none for truncated data. */
function shownFields(reader: ByteReader): Pick<OnChainMetadata, 'fields' | 'hasMoreFields'> {
  const cut = (text: string, most: number) => (text.length > most ? `${text.slice(0, most)}…` : text)
  try {
    const fields = METADATA_FIELDS.read(reader) as AdditionalField[]
    if (fields.length === 0) return {}
    const shown = fields.slice(0, MOST_FIELDS).map(bareField)
    return {
      fields: shown.map(({ key, value }) => ({ key: cut(key, MOST_KEY), value: cut(value, MOST_VALUE) })),
      ...(fields.length > MOST_FIELDS ? { hasMoreFields: true } : {}),
    }
  } catch (error) {
    if (error instanceof ShortData || error instanceof TypeError) return {}
    throw error
  }
}

/** Throws ShortData for truncated data. */
export function decodeExtension(data: Uint8Array): OnChainMetadata {
  const reader = new ByteReader(data)
  const head = readMetadataHead(reader)
  return { ...head, isMutable: head.updateAuthority !== null, source: 'extension', ...shownFields(reader) }
}
