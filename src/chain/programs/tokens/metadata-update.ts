/** Changes a token's metadata: an account of Metaplex Token Metadata, or the metadata in a Token-2022 mint. */
import type { PublicKey, TransactionInstruction } from '@solana/web3.js'
import { borshReader, borshString } from '../../../solana/borsh.ts'
import { compileUnsigned, type Envelope, type UnsignedTransaction } from '../../sending/unsigned.ts'
import { decodeExtensionFields, extensionBytes, removeField, setField } from './metadata-extension.ts'
import { updateMetadata } from './metaplex.ts'
import { metadataRevocation } from './revocation.ts'
import type { OnChainToken } from './types.ts'

export interface MetadataTexts {
  name: string
  symbol: string
  uri: string
}

export interface MetadataUpdate extends Envelope {
  mint: string
  /** The token as read from the chain; the payer is its update authority. */
  token: OnChainToken
  texts: Partial<MetadataTexts>
  /** Additional fields of Token-2022. */
  fields: readonly { key: string; value: string }[]
  removed: readonly string[]
  immutable: boolean
  /** Data of the account of Metaplex, whose royalty, creators, collection and uses stay. */
  metaplex: Uint8Array | null
  /** Lamports that the mint needs for its growth. */
  topUp: bigint
}

export async function buildMetadataUpdate(input: MetadataUpdate): Promise<UnsignedTransaction> {
  const { PublicKey } = await import('@solana/web3.js')
  const [mint, payer] = [new PublicKey(input.mint), new PublicKey(input.payer)]
  const ofSource = input.token.metadata?.source === 'metaplex' ? metaplexUpdate : extensionUpdate
  return compileUnsigned(input, await ofSource(input, mint, payer))
}

const hasTexts = ({ texts }: MetadataUpdate) => Object.keys(texts).length > 0

async function metaplexUpdate(
  input: MetadataUpdate,
  mint: PublicKey,
  payer: PublicKey,
): Promise<TransactionInstruction[]> {
  const { token, texts, metaplex, immutable } = input
  if (metaplex === null || token.metadata === null) throw new Error('the metadata was read before')
  const { name, symbol, uri } = { ...token.metadata, ...texts }
  const all = [1, ...Buffer.concat([...[name, symbol, uri].map(borshString), keptParts(metaplex)])]
  // Update authority and primary sale stay.
  return [await updateMetadata(mint, payer, [...(hasTexts(input) ? all : [0]), 0, 0, ...(immutable ? [1, 0] : [0])])]
}

/** Royalty, creators, collection and uses, which an update of the texts replaces too. Throws RangeError. */
function keptParts(data: Uint8Array): Buffer {
  const fields = borshReader(data)
  fields.take(1 + 32 + 32)
  for (let n = 0; n < 3; n++) fields.string()
  const option = (read: () => Buffer): Buffer => {
    const flag = fields.take(1)
    return flag[0] === 1 ? Buffer.concat([flag, read()]) : Buffer.of(0)
  }
  const royalty = fields.take(2)
  const creators = option(() => {
    const count = fields.take(4)
    return Buffer.concat([count, fields.take(count.readUInt32LE() * 34)])
  })
  fields.take(2)
  // The bump of an edition, and the standard of the token.
  option(() => fields.take(1))
  option(() => fields.take(1))
  const collection = option(() => fields.take(33))
  return Buffer.concat([royalty, creators, collection, option(() => fields.take(17))])
}

async function extensionUpdate(
  input: MetadataUpdate,
  mint: PublicKey,
  payer: PublicKey,
): Promise<TransactionInstruction[]> {
  const { texts, fields, removed, immutable, topUp, token } = input
  const { SystemProgram } = await import('@solana/web3.js')
  return [
    ...(topUp > 0n ? [SystemProgram.transfer({ fromPubkey: payer, toPubkey: mint, lamports: topUp })] : []),
    ...(await Promise.all(removed.map((key) => removeField(mint, payer, key)))),
    ...(await Promise.all(
      [...Object.entries(texts).map(([key, value]) => ({ key, value })), ...fields].map((each) =>
        setField(mint, payer, each),
      ),
    )),
    ...(immutable ? await metadataRevocation({ tokenProgram: 'token2022', token }, payer, mint) : []),
  ]
}

/** The present additional fields, and the bytes by which the mint grows (negative if it shrinks). `data` is the extension's. */
export function metadataGrowth(
  data: Uint8Array,
  before: MetadataTexts,
  { texts, fields, removed }: Pick<MetadataUpdate, 'texts' | 'fields' | 'removed'>,
): { present: ReadonlyMap<string, string>; bytes: number } {
  const present = decodeExtensionFields(data)
  const after = new Map(present)
  for (const key of removed) after.delete(key)
  for (const { key, value } of fields) after.set(key, value)
  return { present, bytes: extensionBytes({ ...before, ...texts }, after) - extensionBytes(before, present) }
}
