/** Lists the calls that change the metadata of a token. */
import { borshReader, borshString } from '../../src/solana/borsh.ts'
import { TOKEN_2022_PROGRAM } from '../../src/solana/program-ids.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
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
const UPDATING_FIELD = 'dde9312db5cadcc8'

export async function changesMetadata(of: Signing, asked: AskedMetadata): Promise<Call[]> {
  return asked.source === 'metaplex' ? changesMetaplex(of, asked) : changesExtension(of, asked)
}

/** Metaplex takes all texts at once, so those that were not requested are what the API says. */
async function changesMetaplex(of: Signing, asked: AskedMetadata): Promise<Call[]> {
  const isRenamed = TEXTS.some((text) => asked[text] !== undefined)
  for (const text of isRenamed ? TEXTS : []) {
    if (asked[text] === undefined) of.apiSays(`the ${text} stays ${JSON.stringify(asked.after[text])}`, `--${text}`)
  }
  const texts = Buffer.concat(TEXTS.map((text) => borshString(asked[text] ?? asked.after[text])))
  const start = isRenamed ? `0f01${texts.toString('hex')}` : '0f00'
  const end = `0000${asked.immutable ? '0100' : '00'}`
  return [
    {
      program: PROGRAMS.tokenMetadata.id,
      call: 'update_metadata_account_v2',
      fields: { metadata: await of.metadata(asked.mint), update_authority: of.payer },
      data(hex) {
        if (!hex.startsWith(start)) return false
        const rest = isRenamed ? afterKeptParts(of, hex.slice(start.length)) : hex.slice(start.length)
        return rest === end
      },
    },
  ]
}

/** What follows royalty, creators, collection and uses, which the update sends again; null if they are truncated. */
function afterKeptParts(of: Signing, hex: string): string | null {
  const bytes = Buffer.from(hex, 'hex')
  const fields = borshReader(bytes)
  let length = 2
  const option = (read: () => number) => {
    length += 1
    if (fields.u8() !== 0) length += read()
  }
  const taken = (count: number) => fields.take(count).length
  try {
    const royalty = fields.take(2).readUInt16LE()
    option(() => 4 + taken(fields.u32() * 34))
    option(() => taken(33))
    option(() => taken(17))
    // Two bytes of the royalty and a byte for each of the three others.
    if (royalty > 0 || length > 5) of.note('royalty, creators and collection are sent again, as the API has read them')
    return hex.slice(2 * length)
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

async function changesExtension(of: Signing, asked: AskedMetadata): Promise<Call[]> {
  const { mint, fields, removed, immutable } = asked
  const own = { program: TOKEN_2022_PROGRAM, fields: { metadata: mint, update_authority: of.payer } }
  const sets = (field: Buffer, value: string): Call => ({
    ...own,
    call: 'update_token_metadata_field',
    data: UPDATING_FIELD + Buffer.concat([field, borshString(value)]).toString('hex'),
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
    ...TEXTS.flatMap((text, i) => (asked[text] === undefined ? [] : [sets(Buffer.of(i), asked[text])])),
    ...fields.map(({ key, value }) => sets(Buffer.concat([Buffer.of(3), borshString(key)]), value)),
    ...(immutable
      ? (await revokes(of, { mint, type: 'metadata' })).filter(({ program }) => program === TOKEN_2022_PROGRAM)
      : []),
  ]
}
