/** Lists the calls that change the metadata of a token. */
import { bytesOfHex, hexOf } from '../../src/solana/bytes.ts'
import { TOKEN_2022_PROGRAM } from '../../src/solana/program-ids.ts'
import type { Variant } from '../../src/solana/programs/field-types.ts'
import { TOKEN_METADATA } from '../../src/solana/programs/token-metadata.ts'
import { TOKEN_METADATA_INTERFACE } from '../../src/solana/programs/token-metadata-interface.ts'
import { atMost, type Call, MOST_LAMPORTS, pays, type Signing } from './demand.ts'
import { revokes } from './demanded-tokens.ts'

export interface AskedMetadata {
  mint: string
  /** Where the API says that the metadata is. A false answer makes a transaction that the other program refuses. */
  source: 'metaplex' | 'extension'
  name?: string | undefined
  symbol?: string | undefined
  uri?: string | undefined
  fields: readonly { key: string; value: string }[]
  removed: readonly string[]
  immutable: boolean
  /** The texts after the change, as the API says. */
  after: { name: string; symbol: string; uri: string }
}

const TEXTS = ['name', 'symbol', 'uri'] as const
const FIELDS = {
  name: { name: 'Name', value: null },
  symbol: { name: 'Symbol', value: null },
  uri: { name: 'Uri', value: null },
}

export async function changesMetadata(of: Signing, asked: AskedMetadata): Promise<Call[]> {
  return asked.source === 'metaplex' ? changesMetaplex(of, asked) : changesExtension(of, asked)
}

/** Metaplex takes all texts at once, so those that were not requested are what the API says. */
async function changesMetaplex(of: Signing, asked: AskedMetadata): Promise<Call[]> {
  const isRenamed = TEXTS.some((text) => asked[text] !== undefined)
  for (const text of isRenamed ? TEXTS : []) {
    if (asked[text] === undefined) of.apiSays(`the ${text} stays ${JSON.stringify(asked.after[text])}`, `--${text}`)
  }
  const isKept = (parts: MetadataParts): boolean => {
    if (TEXTS.some((text) => parts[text] !== (asked[text] ?? asked.after[text]))) return false
    const { seller_fee_basis_points, creators, collection, uses } = parts
    if (seller_fee_basis_points > 0 || [creators, collection, uses].some((part) => part !== null))
      of.note('royalty, creators and collection are sent again, as the API has read them')
    return true
  }
  return [
    {
      program: TOKEN_METADATA.id,
      call: 'update_metadata_account_v2',
      fields: { metadata: await of.metadata(asked.mint), update_authority: of.payer },
      data(hex) {
        const args = TOKEN_METADATA.argsOf('update_metadata_account_v2', bytesOfHex(hex))
        if (args === null || args.new_update_authority !== null || args.primary_sale_happened !== null) return false
        if (args.is_mutable !== (asked.immutable ? false : null)) return false
        return isRenamed ? args.data !== null && isKept(args.data as MetadataParts) : args.data === null
      },
    },
  ]
}

/** The parts of metadata that an update of its texts sends again. */
type MetadataParts = Record<(typeof TEXTS)[number], string> & {
  seller_fee_basis_points: number
  creators: unknown
  collection: unknown
  uses: unknown
}

async function changesExtension(of: Signing, asked: AskedMetadata): Promise<Call[]> {
  const { mint, fields, removed, immutable } = asked
  const own = { program: TOKEN_2022_PROGRAM, fields: { metadata: mint, update_authority: of.payer } }
  const sets = (field: Variant, value: string): Call => ({
    ...own,
    call: 'update_token_metadata_field',
    data: hexOf(TOKEN_METADATA_INTERFACE.data('update_token_metadata_field', { field, value })),
  })
  return [
    { ...pays(of.payer, mint, atMost(MOST_LAMPORTS)), least: 0 },
    ...removed.map(
      (key): Call => ({
        ...own,
        call: 'remove_token_metadata_key',
        fields: { ...own.fields, idempotent: 0, key },
      }),
    ),
    ...TEXTS.flatMap((text) => (asked[text] === undefined ? [] : [sets(FIELDS[text], asked[text])])),
    ...fields.map(({ key, value }) => sets({ name: 'Key', value: [key] }, value)),
    ...(immutable
      ? (await revokes(of, { mint, type: 'metadata' })).filter(({ program }) => program === TOKEN_2022_PROGRAM)
      : []),
  ]
}
