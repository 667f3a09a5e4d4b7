/** `svc nfts`: assets minted into a collection, one or a whole list, and burned. */

import type { NftCreated } from '../../src/api/nfts.ts'
import { paths } from '../../src/api/paths.ts'
import { uriWarnings } from '../../src/api/uris.ts'
import type { Client } from '../../src/client.ts'
import { walletFault, walletKey } from '../../src/merkle/base58.ts'
import type { ListForm } from '../../src/merkle/column-plan.ts'
import { METAPLEX_CORE } from '../../src/solana/programs/metaplex-core.ts'
import { solOf } from '../cli/amounts.ts'
import { type Noun, required, text, verb } from '../cli/command.ts'
import { listVerb, recordVerb } from '../cli/reads.ts'
import type { Session } from '../cli/session.ts'
import { type ColumnInputs, columnChoices, columnFlags, columnInputs } from '../lists/column-flags.ts'
import { type PlacedFault, type PlacedRow, readListRows } from '../lists/csv.ts'
import type { KeyedList } from '../lists/keyed-list.ts'
import type { KeyedKind } from '../lists/keyed-rows.ts'
import { makeAll } from '../lists/make-all.ts'
import { TRUST_JOURNAL } from '../lists/proof.ts'
import { refuseStandardInput } from '../lists/run.ts'
import { refuseOthersThanWallets } from '../lists/wallet-rows.ts'
import { readKey } from '../merkle/built-record.ts'
import { coreCall, NO_PLUGINS } from '../signing/core-calls.ts'
import { demanding, type Sent } from '../signing/demand.ts'
import { ALLOW_PROGRAMS, buildFields, programsField, SIGN_UNSEEN, SIGNING } from '../signing/flags.ts'
import { DEFAULT_PLATFORM, PLATFORM_ID } from '../signing/platform-flags.ts'
import { previewLine } from '../signing/preview.ts'
import { runSigned } from '../signing/run.ts'
import { usage } from '../ui/problem.ts'
import type { Ui } from '../ui/ui.ts'
import { counted } from '../ui/words.ts'
import { warnOfHttp } from '../uri-warnings.ts'

/** A list of NFTs has no amounts. */
const { amount_column: _, ...listColumnFlags } = columnFlags

const demandsBurn = demanding(
  'it burns this asset',
  ({ payer }, { asset, collection }: Sent<Client['nfts']['burn'], 'owner'>) => [
    coreCall('burn_v1', { asset, collection, payer, authority: payer }, METAPLEX_CORE.data('burn_v1', {})),
  ],
)

const { submit, get, simulate, forecast, batchFetch } = paths.transactions

export const nftsNoun: Noun = {
  verbs: {
    mint: verb({
      about: 'Mint an NFT into a collection, or one for every row of a CSV',
      details:
        'Your keypair must have the update authority of the collection, or be its delegate, unless the platform wallet signs for it. The columns of the CSV are name, uri and optionally owner. A journal is kept beside the CSV: run the same command again after an interruption, and every row is minted once. With --squads each row is a proposal.',
      calls: [
        paths.nfts.create,
        paths.collections.get,
        paths.accounts.batchFetch,
        paths.proposals.get,
        ...[simulate, forecast, submit, get, batchFetch],
      ],
      flags: {
        collection: required(text('Collection to mint into', { placeholder: 'ADDRESS' })),
        name: text('Name: 1 to 64 characters'),
        uri: text('Where its metadata is', { placeholder: 'URL' }),
        owner: text('Who owns it (default: your keypair)', { placeholder: 'WALLET' }),
        allow_programs: ALLOW_PROGRAMS,
        from: text('CSV with a row for each NFT, instead of --name and --uri', {
          placeholder: 'FILE',
          conflicts: ['name', 'uri', 'owner', 'build_only'],
        }),
        ...listColumnFlags,
        journal: text('Where the journal of --from is kept (default: beside the CSV)', {
          placeholder: 'FILE',
          needs: ['from'],
        }),
        sign_unseen: SIGN_UNSEEN,
        trust_journal: TRUST_JOURNAL,
        platform_id: PLATFORM_ID,
        ...SIGNING,
      },
      needs: [
        ['name', 'from'],
        ['uri', 'from'],
      ],
      examples: [
        'svc nfts mint --collection ABMB1euEnzBFRq4LmEkJgW2FZGTJnNkZhmPEF1fGynAq --name "Genesis #1" --uri https://example.com/1.json',
        'svc nfts mint --collection ABMB1euEnzBFRq4LmEkJgW2FZGTJnNkZhmPEF1fGynAq --from nfts.csv --yes',
      ],
      async run(input, session) {
        const {
          collection,
          name = '',
          uri = '',
          owner,
          from,
          journal,
          platform_id = DEFAULT_PLATFORM,
          ...flags
        } = input
        if (from !== undefined) {
          const columns = columnInputs(flags)
          const list = { file: from, journal, collection, platform_id, allow_programs: flags.allow_programs, columns }
          refuseStandardInput(from, '--from')
          return makeAll(session, flags, await mintList(session, list))
        }
        warnOfHttp(session, { '--uri': uri })
        const body = {
          platform_id,
          collection,
          name,
          uri,
          ...(owner === undefined ? {} : { owner }),
          ...programsField(flags),
        }
        return runSigned<NftCreated>(session, flags, {
          what: `Mint ${name} into ${collection}`,
          build: (payer) => session.client.nfts.create({ ...buildFields(flags), payer, ...body }),
          demand: (of, { asset }) => demandsMint(of, { ...body, asset }),
          show: ({ asset }) => ({ asset, collection }),
          next: (fields) => [`svc nfts get ${fields.asset}`],
        })
      },
    }),
    burn: verb({
      about: 'Burn an NFT of yours, for good',
      details: 'Its rent returns to you. A staked NFT must be released first.',
      calls: [paths.nfts.burn, paths.nfts.get, simulate, submit, get],
      args: { asset: required(text('Address of the asset')) },
      flags: { platform_id: PLATFORM_ID, ...SIGNING },
      examples: [
        'svc nfts burn GxsTJcnDEiPDwurRZ9RF49Hpz7UCJjs3pvTCJmHAL222',
        'svc nfts burn GxsTJcnDEiPDwurRZ9RF49Hpz7UCJjs3pvTCJmHAL222 --dry-run -k id.json',
      ],
      async run({ asset, platform_id = DEFAULT_PLATFORM, ...flags }, session) {
        const { collection, name, status } = (await session.client.nfts.get({ asset })).data
        if (status === 'burned') throw usage(`${asset} is burned already`, { param: '<asset>' })
        if (collection === null) throw usage(`${asset} is in no collection`, { param: '<asset>' })
        const body = { asset, platform_id, collection }
        return runSigned(session, flags, {
          what: `Burn ${name === '' ? asset : name} for good`,
          build: (owner) => session.client.nfts.burn({ ...body, owner, ...buildFields(flags) }),
          demand: (of) => demandsBurn(of, body),
          async show(_, confirmed) {
            const now = confirmed === null ? {} : { status: (await session.client.nfts.get({ asset })).data.status }
            return { asset, collection, ...now }
          },
        })
      },
    }),
    list: listVerb({
      about: 'List NFTs, newest first',
      at: paths.nfts.list,
      filters: {
        owner: text('Only those of this wallet', { placeholder: 'WALLET' }),
        collection: text('Only those of this collection', { placeholder: 'ADDRESS' }),
      },
      examples: ['svc nfts list', 'svc nfts list --owner 9FSvG6muq2NE2ZNZtgMrPe9mJ2wpcR45TaEwiUoHDJ9g --all'],
      columns: ['asset', 'name', 'status', 'frozen', 'owner', 'collection'],
      call: (client, query) => client.nfts.list(query),
    }),
    get: recordVerb({
      about: 'Read one NFT from the chain',
      at: paths.nfts.get,
      args: { asset: required(text('Address of the asset')) },
      examples: [
        'svc nfts get GxsTJcnDEiPDwurRZ9RF49Hpz7UCJjs3pvTCJmHAL222',
        'svc nfts get GxsTJcnDEiPDwurRZ9RF49Hpz7UCJjs3pvTCJmHAL222 --json',
      ],
      call: (client, input) => client.nfts.get(input),
    }),
  },
}

// Reads the CSV of `svc nfts mint --from`: a row for each NFT, and every fault with its line and column.

interface NftRow {
  name: string
  uri: string
  /** The owner's address; null for the payer. */
  owner: string | null
  line: number
}

const NFT_COLUMNS = ['name', 'uri', 'owner'] as const
type NftColumn = (typeof NFT_COLUMNS)[number]

const NFT_FORM: ListForm = { reads: ['name', 'uri', 'wallet'], needs: ['name', 'uri'] }
/** The owner is the wallet of the row. */
const ROLES = { name: 'name', uri: 'uri', owner: 'wallet' } as const

/** Throws a usage problem with one line `FILE:LINE:COLUMN: what` for each of the first hundred faults. */
async function readNftRows(ui: Ui, file: string, columns: ColumnInputs) {
  const check = await nftRowChecks()
  const format = {
    form: NFT_FORM,
    choices: columnChoices(columns),
    example: 'name,uri',
    withoutHeader: (cells: number) => (cells > 2 ? ['name', 'uri', 'wallet'] : ['name', 'uri']),
  }
  return readListRows(ui, file, format, (row, faults) => nftRow(row, check, faults))
}

type NftTexts = Record<NftColumn, string>
type NftRowChecks = Record<NftColumn | 'row', (row: NftTexts) => string | undefined>

/** The API's own checks, so that a row that passes here is not refused during the run. */
async function nftRowChecks(): Promise<NftRowChecks> {
  const [{ assetTexts, checkTextSize, nft }, { z }] = await Promise.all([
    import('../../src/api/nfts.ts'),
    import('@hono/zod-openapi'),
  ])
  const firstIssue = (schema: {
    safeParse(value: unknown): { error?: { issues: { message: string }[] } | undefined }
  }) => {
    return (value: unknown) => schema.safeParse(value).error?.issues[0]?.message
  }
  const [name, uri, owner] = [firstIssue(assetTexts.name), firstIssue(assetTexts.uri), firstIssue(nft.shape.asset)]
  const row = firstIssue(z.object(assetTexts).superRefine(checkTextSize))
  return {
    name: (of) => name(of.name),
    uri: (of) => uri(of.uri),
    owner: ({ owner: text }) => {
      if (text === '' || walletKey(text) !== undefined) return undefined
      return owner(text) ?? `is not a wallet: ${walletFault(text)}`
    },
    row: ({ name, uri }) => row({ name, uri }),
  }
}

/** The row, or none if it has a fault, which is added. */
function nftRow({ fields, offset, offsetOf }: PlacedRow, check: NftRowChecks, faults: PlacedFault[]) {
  const cell = (column: NftColumn) => String(fields.get(ROLES[column])?.value ?? '')
  const texts: NftTexts = { name: cell('name'), uri: cell('uri'), owner: cell('owner') }
  const found: PlacedFault[] = NFT_COLUMNS.flatMap((column) => {
    const message = cellFault(column, texts, check)
    return message === undefined ? [] : [{ offset: offsetOf(ROLES[column]), message: `the ${column} ${message}` }]
  })
  const message = found.length === 0 ? check.row(texts) : undefined
  if (message !== undefined) found.push({ offset: offsetOf('uri'), message: `the uri ${message}` })
  faults.push(...found)
  const { name, uri, owner } = texts
  return found.length > 0 ? [] : [{ name, uri, owner: owner === '' ? null : owner, offset }]
}

function cellFault(column: NftColumn, texts: NftTexts, check: NftRowChecks): string | undefined {
  if (column !== 'owner' && texts[column] === '') return 'is missing'
  return texts[column].includes('\uFFFD') ? 'is not UTF-8' : check[column](texts)
}

type NftBody = Sent<Client['nfts']['create']>

/** If the platform signs for a collection, its own wallet is the authority. */
const demandsMint = demanding(
  'this asset, to this owner, without plugins',
  ({ payer }, { asset, collection, owner = payer, name, uri }: Omit<NftBody, 'platform_id'> & { asset: string }) => [
    coreCall(
      'create_v2',
      { asset, collection, owner, payer, update_authority: METAPLEX_CORE.id },
      METAPLEX_CORE.data('create_v2', {
        data_state: { name: 'AccountState', value: null },
        name,
        uri,
        ...NO_PLUGINS,
      }),
    ),
  ],
)

interface NftList {
  file: string
  journal: string | undefined
  collection: string
  platform_id: string
  columns: ColumnInputs
  allow_programs: boolean
}

/** An account that Metaplex Core owns at an asset's address was minted, and remains after a burn. */
export const MINT_KIND: KeyedKind = {
  verb: 'mint',
  done: 'minted',
  doing: 'Minting',
  journal: 'svc-nft-mints',
  command: '`svc nfts mint --from`',
  label: 'name',
  nameOf: (name) => `"${name}"`,
  program: METAPLEX_CORE.id,
  accountOf: (_, key) => key,
}

type OwnedRow = NftRow & { owner: string }

const textsOf = ({ name, uri }: NftRow) => Buffer.byteLength(name) + Buffer.byteLength(uri)

async function mintList(session: Session, list: NftList): Promise<KeyedList<OwnedRow, NftCreated>> {
  const { collection, file, platform_id, allow_programs } = list
  readKey(collection, '--collection')
  const { rows: listed, notes } = await readNftRows(session.ui, file, list.columns)
  let collectionName = collection
  return {
    kind: MINT_KIND,
    file,
    place: list.journal,
    ending: '.mint.json',
    terms: (payer, cluster) => ({ collection, payer, cluster }),
    async read(payer) {
      ;({ name: collectionName } = await requireAuthority(session, collection, payer))
      const [insecure, ...others] = listed.flatMap(({ uri, line }) => uriWarnings({ [`${file}:${line}`]: uri }))
      if (insecure !== undefined)
        session.ui.warn(others.length === 0 ? insecure : `${insecure} (and ${others.length} more)`)
      const owners = listed.flatMap(({ owner, line }) => (owner === null ? [] : [{ wallet: owner, line }]))
      const foreign = owners.filter(({ wallet }) => wallet !== payer)
      await refuseOthersThanWallets(session, { file, allow_programs, whose: 'owner' }, foreign)
      return { rows: listed.map((row) => ({ ...row, owner: row.owner ?? payer })), notes }
    },
    contentOf: ({ name, uri, owner }) => [name, uri, owner],
    build: (body, { name, uri, owner }, asset) =>
      session.client.nfts.create({
        platform_id,
        collection,
        name,
        uri,
        owner,
        ...programsField(list),
        ...(asset === null ? {} : { asset }),
        ...body,
      }),
    demand: (of, { name, uri, owner }, { account: asset }) => demandsMint(of, { asset, collection, owner, name, uri }),
    accountIn: ({ asset }) => asset,
    question: (rows) => `Mint ${counted(rows.length, 'NFT')} into ${collectionName}`,
    // The asset with the longest texts pays the most rent.
    dearestFirst: (a, b) => textsOf(b) - textsOf(a),
    lines(_, { simulation, payer }) {
      const own = simulation.balance_changes.find(({ address, mint }) => address === payer && mint === null)
      return own === undefined ? [] : [previewLine('each', `${solOf(-BigInt(own.change))} SOL`)]
    },
    names: { rows: 'nfts', account: 'asset' },
    fields: () => ({ collection }),
    record: ({ name, owner }) => ({ name, owner }),
    columns: ['name'],
  }
}

/** Throws a usage problem if the payer may not mint into the collection; checked before anything is written. */
async function requireAuthority({ client }: Session, address: string, payer: string) {
  const collection = (await client.collections.get({ address })).data
  const { update_authority, update_delegates, cosigned } = collection
  if (cosigned || update_authority === payer || update_delegates.includes(payer)) return collection
  throw usage(`${update_authority} is the update authority of ${address}: ${payer} may not mint into it`, {
    param: '--collection',
    next: 'give its keypair with -k FILE, or have yours made a delegate of the collection',
  })
}
