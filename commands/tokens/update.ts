/** `svc tokens update`: changes name, symbol, URI and additional fields of a token's metadata, or makes it immutable. */
import { paths } from '../../src/api/paths.ts'
import type { MetadataUpdate } from '../../src/api/token-updates.ts'
import type { Client } from '../../src/client.ts'
import { bytesOfHex, hexOf } from '../../src/solana/bytes.ts'
import { TOKEN_2022_PROGRAM } from '../../src/solana/program-ids.ts'
import type { Variant } from '../../src/solana/programs/field-types.ts'
import { TOKEN_METADATA } from '../../src/solana/programs/token-metadata.ts'
import { TOKEN_METADATA_INTERFACE } from '../../src/solana/programs/token-metadata-interface.ts'
import { LAMPORT_DECIMALS, solOf } from '../cli/amounts.ts'
import { listOf, mintAddress, requiredUnless, text, toggle, verb } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { atMost, type Call, demanding, MOST_LAMPORTS, pays, type Sent, type Signing } from '../signing/demand.ts'
import { changesAuthority } from '../signing/demanded-tokens.ts'
import { previewLine } from '../signing/preview.ts'
import { ACT_CALLS, ACT_SIGNING, type Act, runAct } from '../signing/run-act.ts'
import { usage } from '../ui/problem.ts'
import { counted } from '../ui/words.ts'
import { warnOfHttp } from '../uri-warnings.ts'
import { FROM_MINTS, PROPOSALS_JOURNAL } from './act-inputs.ts'
import { actOnMints } from './mint-lists.ts'
import { readMintRows } from './mint-rows.ts'

/** The request, with where the API says that the metadata is, and its texts after the change. A false place makes a
 * transaction that the other program refuses. */
type MetadataChange = Sent<Client['tokens']['updateMetadata']> &
  Pick<Extract<MetadataUpdate, { mode: 'unsigned' }>, 'source' | 'metadata'>

const TEXTS = ['name', 'symbol', 'uri'] as const
const FIELDS = {
  name: { name: 'Name', value: null },
  symbol: { name: 'Symbol', value: null },
  uri: { name: 'Uri', value: null },
}

const demandsChange = demanding('changes this of the metadata, and nothing else', (of, asked: MetadataChange) =>
  asked.source === 'metaplex' ? changesMetaplex(of, asked) : changesExtension(of, asked),
)

/** Metaplex takes all texts at once, so those that were not requested are what the API says. */
async function changesMetaplex(of: Signing, asked: MetadataChange): Promise<Call[]> {
  const isRenamed = TEXTS.some((text) => asked[text] !== undefined)
  for (const text of isRenamed ? TEXTS : []) {
    if (asked[text] === undefined) of.apiSays(`the ${text} stays ${JSON.stringify(asked.metadata[text])}`, `--${text}`)
  }
  const isKept = (parts: MetadataParts): boolean => {
    if (TEXTS.some((text) => parts[text] !== (asked[text] ?? asked.metadata[text]))) return false
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

async function changesExtension(of: Signing, asked: MetadataChange): Promise<Call[]> {
  const { mint, fields = [], remove_fields: removed = [], immutable = false } = asked
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
      ? (await changesAuthority(of, { mint, type: 'metadata', new_authority: null })).filter(
          ({ program }) => program === TOKEN_2022_PROGRAM,
        )
      : []),
  ]
}

export const updateVerb = verb({
  about: 'Change the metadata of a token, or make it immutable',
  details:
    'Your keypair must hold the metadata authority. Only what you name changes. Additional fields are for Token-2022, whose mint grows with them: the preview shows the rent. With --immutable nobody can ever change the metadata again. With --from each row is mint,name,symbol,uri, and an empty cell stays as it is; run the same command again after any interruption.',
  calls: [paths.tokens.updateMetadata, ...ACT_CALLS],
  args: { mint: requiredUnless('from', mintAddress('Mint of the token, or its symbol')) },
  flags: {
    from: FROM_MINTS,
    journal: PROPOSALS_JOURNAL,
    name: text('New name, up to 32 bytes'),
    symbol: text('New symbol, up to 10 bytes'),
    uri: text('Where its metadata is from now on', { placeholder: 'URL' }),
    field: listOf('Additional field to set, like website=example.com', { placeholder: 'KEY=VALUE', field: 'fields' }),
    remove_field: listOf('Additional field to remove', { placeholder: 'KEY', field: 'remove_fields' }),
    immutable: toggle('Nobody can ever change the metadata again'),
    ...ACT_SIGNING,
  },
  needs: [['from', 'name', 'symbol', 'uri', 'field', 'remove_field', 'immutable']],
  examples: [
    'svc tokens update 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY --name "My Token" --symbol MTK --uri https://example.com/mtk.json',
    'svc tokens update 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY --field website=example.com --dry-run',
    'svc tokens update 9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY --immutable',
    'svc tokens update --from texts.csv --dry-run',
  ],
  async run(
    { mint, from, journal, name, symbol, uri, field, remove_field: removed = [], immutable, ...flags },
    session,
  ) {
    const fields = fieldsOf(field ?? [])
    const asked = textsOf({ name, symbol, uri })
    const actOf = metadataChange(session)
    if (from === undefined) {
      if (uri !== undefined) warnOfHttp(session, { '--uri': uri })
      return runAct(session, flags, actOf({ mint: mint ?? '', asked, fields, removed, immutable }))
    }
    const rows = await readMintRows(from, {
      columns: ['name', 'symbol', 'uri'],
      fault: (cells) =>
        Object.keys(cells).length > 0 ? null : { column: 'mint', message: 'the row has neither name, symbol nor uri' },
    })
    warnOfHttp(session, Object.fromEntries(rows.map(({ line, cells }) => [`${from}:${line}`, cells.uri])))
    return actOnMints(session, flags, {
      file: from,
      journal,
      verb: 'update',
      question: `Change the metadata of ${counted(rows.length, 'token')}`,
      done: 'changed',
      acts: rows.map(({ mint: each, line, cells }) => ({
        ...actOf({ mint: each, asked: cells, fields: [], removed: [], immutable: false }),
        mint: each,
        content: JSON.stringify([each, cells]),
        line,
        isDone: ({ details }) => details?.reason === 'no_change',
      })),
    })
  },
})

type Texts = Partial<Record<'name' | 'symbol' | 'uri', string>>

/** Those that were given. */
const textsOf = (texts: Record<keyof Texts, string | undefined>): Texts =>
  Object.fromEntries(Object.entries(texts).filter(([, value]) => value !== undefined))

interface Change {
  mint: string
  asked: Texts
  fields: { key: string; value: string }[]
  removed: string[]
  immutable: boolean
}

const metadataChange =
  ({ client: { tokens } }: Session) =>
  ({ mint, asked, fields, removed, immutable }: Change): Act<MetadataUpdate> => {
    const request = {
      mint,
      ...asked,
      ...(fields.length === 0 ? {} : { fields }),
      ...(removed.length === 0 ? {} : { remove_fields: removed }),
      ...(immutable ? { immutable } : {}),
    }
    return {
      what: `${immutable ? 'Make the metadata immutable' : 'Change the metadata'} of the token ${mint}`,
      call: (body, options) => tokens.updateMetadata({ ...request, ...body }, options),
      demand: (of, { source, metadata }) => demandsChange(of, { ...request, source, metadata }),
      preview: ({ rent_lamports: rent }) => [
        ...Object.entries(asked).map(([key, value]) => previewLine(key, value)),
        ...fields.map(({ key, value }) => previewLine('field', `${key}=${value}`)),
        ...removed.map((key) => previewLine('removed', key)),
        ...(rent === '0' ? [] : [previewLine('rent', `${solOf(BigInt(rent))} SOL, because the mint grows`)]),
        ...(immutable ? [previewLine('after this', 'nobody can ever change the metadata again')] : []),
      ],
      show: ({ metadata, is_mutable, rent_lamports }) => ({ mint, ...metadata, is_mutable, rent_lamports }),
      decimals: { rent_lamports: LAMPORT_DECIMALS },
    }
  }

/** Lists are divided at commas; a part without an equals sign goes on with the value before it. */
function fieldsOf(parts: readonly string[]): { key: string; value: string }[] {
  const fields: { key: string; value: string }[] = []
  for (const part of parts) {
    const at = part.indexOf('=')
    const last = fields.at(-1)
    if (at > 0) fields.push({ key: part.slice(0, at), value: part.slice(at + 1) })
    else if (last !== undefined) last.value += `,${part}`
    else throw usage(`--field must be KEY=VALUE, not ${part}`, { param: '--field' })
  }
  return fields
}
