/** Changes a token's metadata: an account of Metaplex Token Metadata, or the metadata in a Token-2022 mint. */
import type { PublicKey, TransactionInstruction } from '@solana/web3.js'
import { badRequest } from '../../../platform/errors.ts'
import type { ChainAccount } from '../../../solana/accounts.ts'
import { TOKEN_METADATA } from '../../../solana/programs/token-metadata.ts'
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
  /** The account of Metaplex, whose royalty, creators, collection and uses stay. */
  metaplex: Pick<ChainAccount, 'owner' | 'data'> | null
  /** Lamports that the mint needs for its growth. */
  topUp: bigint
}

export async function buildMetadataUpdate(input: MetadataUpdate): Promise<UnsignedTransaction> {
  const { PublicKey } = await import('@solana/web3.js')
  const [mint, payer] = [new PublicKey(input.mint), new PublicKey(input.payer)]
  const ofSource = input.token.metadata?.source === 'metaplex' ? metaplexUpdate : extensionUpdate
  return compileUnsigned(input, await ofSource(input, mint, payer))
}

async function metaplexUpdate(
  input: MetadataUpdate,
  mint: PublicKey,
  payer: PublicKey,
): Promise<TransactionInstruction[]> {
  const hasTexts = Object.keys(input.texts).length > 0
  return [
    await updateMetadata(mint, payer, {
      ...(hasTexts ? { data: dataWithTexts(input) } : {}),
      ...(input.immutable ? { is_mutable: false } : {}),
    }),
  ]
}

/** An update of the texts replaces royalty, creators, collection and uses too, so it repeats their present values. */
function dataWithTexts({ mint, token, texts, metaplex }: MetadataUpdate) {
  const kept = TOKEN_METADATA.decode('whole_metadata', metaplex)
  if (kept === null || token.metadata === null) {
    throw badRequest(
      `The metadata account of ${mint} cannot be read to its end, so its texts cannot be changed without losing the rest`,
      { param: 'mint' },
    )
  }
  const { name, symbol, uri } = { ...token.metadata, ...texts }
  const { seller_fee_basis_points, creators, collection, uses } = kept
  return { name, symbol, uri, seller_fee_basis_points, creators, collection, uses }
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
    ...(immutable ? await metadataRevocation(token, payer, mint) : []),
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
