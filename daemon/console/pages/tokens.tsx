/** /console/tokens: tokens, NFTs, locks and stakes, each list and record, and one search over them. */
import { api, type Lock, type Nft, type Stake, type Token, type TokenReport } from '../../../src/api/index.ts'
import type { Client } from '../../../src/client.ts'
import { ApiError } from '../../../src/platform/errors.ts'
import { isAddress, looksBase58 } from '../../../src/solana/addresses.ts'
import { SameDetails } from '../act.tsx'
import type { ConsolePage } from '../page.ts'
import { sameAs } from '../same.ts'
import { shownOf } from '../sections.tsx'
import { linked, Records, Rows, type TableOf } from '../table.tsx'
import { tablePage } from '../table-page.tsx'
import { clean, Fields, Value } from '../values.tsx'
import { linkTo, type View } from '../view.ts'

const ROOT = '/console/tokens'
const [NFTS, LOCKS, STAKES] = [`${ROOT}/nfts`, `${ROOT}/locks`, `${ROOT}/stakes`]
const PLACES = [
  { path: ROOT, title: 'Tokens' },
  { path: NFTS, title: 'NFTs' },
  { path: LOCKS, title: 'Locks' },
  { path: STAKES, title: 'Stakes' },
]

const SearchForm = ({ view }: { view: View }) => (
  <search>
    <form class="filters" method="get" action={linkTo(`${ROOT}/search`)}>
      <div>
        <label for="search">Address, symbol or signature</label>
        <input id="search" name="text" value={view.query.get('text') ?? ''} required />
      </div>
      <button type="submit">Search</button>
    </form>
  </search>
)

/** The name or symbol in the metadata of a token, as the chain or a provider has it. */
function metadataOf({ raw }: Token, field: 'name' | 'symbol'): unknown {
  const { metadata, content } = (raw ?? {}) as Record<string, Record<string, Record<string, unknown>> | undefined>
  return metadata?.[field] ?? content?.metadata?.[field]
}

const labelColumn = (head: string, field: 'name' | 'symbol') => ({
  head,
  cell: (token: Token) => <Value name={field} value={metadataOf(token, field)} />,
  text: (token: Token) => metadataOf(token, field),
})

const lists = [
  listPage<Token>(ROOT, {
    title: 'Tokens',
    route: api.tokens.list,
    call: (client, query) => client.tokens.list(query),
    empty: 'There are no such tokens.',
    columns: ['mint', labelColumn('Symbol', 'symbol'), labelColumn('Name', 'name'), 'status'],
  }),
  listPage<Nft>(NFTS, {
    title: 'NFTs',
    route: api.nfts.list,
    call: (client, query) => client.nfts.list(query),
    empty: 'There are no such NFTs.',
    columns: ['asset', 'name', 'status', 'frozen', 'owner', 'collection', 'uri', 'created_at'],
  }),
  listPage<Lock>(LOCKS, {
    title: 'Locks',
    route: api.locks.list,
    call: (client, query) => client.locks.list(query),
    empty: 'There are no such locks. Without a filter they are those that the platform wallet made.',
    columns: [
      linked<Lock>('address', ({ address }) => `${LOCKS}/${address}`),
      'mint',
      'origin',
      'recipient',
      'creator',
      'amount',
      'claimed',
      'claimable',
      'locked',
      'ends_at',
      'cancelled_at',
    ],
  }),
  listPage<Stake>(STAKES, {
    title: 'Stakes',
    route: api.stakes.list,
    call: (client, query) => client.stakes.list(query),
    empty: 'There are no such stakes.',
    columns: [
      linked<Stake>('asset', ({ asset }) => `${STAKES}/${asset}`),
      'status',
      'owner',
      'collection',
      'platform_id',
    ],
  }),
]

function listPage<Row>(path: string, table: TableOf<Row>): ConsolePage {
  const place: Pick<ConsolePage, 'inNavigation'> = path === ROOT ? { inNavigation: true } : {}
  const above = (view: View) => <SearchForm view={view} />
  return tablePage({ path, title: table.title, ...place, siblings: PLACES, live: ['events'], table, above })
}

type Noun = 'tokens' | 'nfts' | 'locks' | 'stakes'
type Reads = Record<string, Record<'get' | 'list', (input: object) => Promise<{ data: object }>>>

const readsOf = (client: Client, noun: string) => (client as unknown as Reads)[noun]

/** The page of one record; `param` is the parameter in the path of its route. */
function recordPage(path: string, title: string, noun: Noun, param: string): ConsolePage {
  return {
    path: `${path}/{id}`,
    title,
    siblings: PLACES,
    async content(view) {
      const { id = '' } = view.params
      const found = await readsOf(view.client, noun)?.get({ [param]: id })
      return {
        body: (
          <>
            <Fields record={found?.data ?? {}} />
            <nav class="pages" aria-label="More about it">
              {path === ROOT && <a href={linkTo(`${ROOT}/${id}/report`)}>Report</a>}
              {path === ROOT && <a href={linkTo(LOCKS, { mint: id })}>Locks</a>}
              <a href={linkTo('/console/transactions', { resource_id: id })}>Transactions</a>
            </nav>
            <SameDetails same={sameAs(view, api[noun].get, { [param]: id })} />
          </>
        ),
      }
    },
  }
}

/** It asks the node up to 200 times, so it has an address of its own. */
const report: ConsolePage = {
  path: `${ROOT}/{id}/report`,
  title: 'Report of a token',
  siblings: PLACES,
  async content(view) {
    const { id: mint = '' } = view.params
    return {
      body: (
        <>
          {await shownOf(view.client.tokens.report({ mint }), (found) => <Report report={found} />)}
          <SameDetails same={sameAs(view, api.tokens.report, { mint })} />
        </>
      ),
    }
  },
}

const Report = ({ report: { risks, ...facts } }: { report: TokenReport }) => (
  <>
    <h2>Risks</h2>
    <Records title="Risks" records={risks} fields={['risk', 'level', 'finding', 'remedy']} empty="No risk is known." />
    <h2>Facts</h2>
    <Fields record={facts} />
  </>
)

/** What a text is looked for as: a record counts if it can be read, a list if it has a row. */
type Finder = readonly [what: string, path: string, noun: string, verb: 'get' | 'list', field: string]

/** Errors of a record that does not exist, or is of another kind. */
const ABSENT: readonly string[] = ['not_found', 'bad_request']
const LAUNCHES = '/console/launches'
const TRANSACTIONS = '/console/transactions'
const BY_SIGNATURE: readonly Finder[] = [['Transaction', TRANSACTIONS, 'transactions', 'get', 'signature']]
const BY_ADDRESS: readonly Finder[] = [
  ['Token', ROOT, 'tokens', 'get', 'mint'],
  ['NFT', NFTS, 'nfts', 'get', 'asset'],
  ['Lock', LOCKS, 'locks', 'get', 'address'],
  ['Launch', LAUNCHES, 'pools', 'get', 'address'],
  ['Launches of this token', LAUNCHES, 'pools', 'list', 'mint'],
  ['Launches of this creator', LAUNCHES, 'pools', 'list', 'creator'],
  ['Airdrops of this token', '/console/airdrops', 'airdrops', 'list', 'mint'],
  ['NFTs of this owner', NFTS, 'nfts', 'list', 'owner'],
  ['NFTs of this collection', NFTS, 'nfts', 'list', 'collection'],
  ['Stakes of this owner', STAKES, 'stakes', 'list', 'owner'],
  ['Locks of this token', LOCKS, 'locks', 'list', 'mint'],
  ['Locks for this recipient', LOCKS, 'locks', 'list', 'recipient'],
  ['Locks of this creator', LOCKS, 'locks', 'list', 'creator'],
  ['Transactions', TRANSACTIONS, 'transactions', 'list', 'resource_id'],
  ['Entries of the ledger', '/console/ledger/entries', 'ledger', 'list', 'account'],
]
const BY_SYMBOL: readonly Finder[] = [
  ['Tokens with this symbol', ROOT, 'tokens', 'list', 'symbol'],
  ['Launches with this symbol', LAUNCHES, 'pools', 'list', 'symbol'],
]

const search: ConsolePage = {
  path: `${ROOT}/search`,
  title: 'Search',
  siblings: PLACES,
  async content(view) {
    const text = (view.query.get('text') ?? '').trim()
    const finders = looksBase58(text) ? BY_SIGNATURE : isAddress(text) ? BY_ADDRESS : BY_SYMBOL
    const rows = text === '' ? [] : await Promise.all(finders.map((finder) => linkIn(view, finder, text)))
    const empty = `Nothing was found for ${clean(text)}.`
    return {
      body: (
        <>
          <SearchForm view={view} />
          <Rows title="Found" heads={['What', 'Where']} rows={rows.filter((row) => row !== null)} empty={empty} />
        </>
      ),
    }
  },
}

/** Null if nothing is there. What cannot be asked now has its message, so that it does not look absent. */
async function linkIn({ client }: View, [what, path, noun, verb, field]: Finder, text: string) {
  const isList = verb === 'list'
  try {
    const found = await readsOf(client, noun)?.[verb]({ [field]: text, ...(isList ? { limit: '1' } : {}) })
    if (Array.isArray(found?.data) && found.data.length === 0) return null
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return ABSENT.includes(error.code) ? null : [what, clean(error.message)]
  }
  const link = isList ? linkTo(path, { [field]: text }) : linkTo(`${path}/${text}`)
  return [
    what,
    <a class="code" href={link}>
      {clean(text)}
    </a>,
  ]
}

export const tokenPages = [
  ...lists,
  search,
  recordPage(NFTS, 'NFT', 'nfts', 'asset'),
  recordPage(LOCKS, 'Lock', 'locks', 'address'),
  recordPage(STAKES, 'Stake', 'stakes', 'asset'),
  recordPage(ROOT, 'Token', 'tokens', 'mint'),
  report,
]
