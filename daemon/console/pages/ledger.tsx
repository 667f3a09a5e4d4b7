/** /console/ledger: what was moved month by month, the entries behind it, and their comparison with the chain. */
import { api, type LedgerEntry, type LedgerSum, type LedgerVerification } from '../../../src/api/index.ts'
import { decimalOf, groupedDecimalOf } from '../../../src/solana/amounts.ts'
import { SameDetails } from '../act.tsx'
import type { ConsolePage } from '../page.ts'
import { sameAs } from '../same.ts'
import { shownOf } from '../sections.tsx'
import { type Column, tableOf } from '../table.tsx'
import { tablePage } from '../table-page.tsx'
import { clean, Fields, Value } from '../values.tsx'
import { linkTo, type View } from '../view.ts'

const ROOT = '/console/ledger'
const ENTRIES = `${ROOT}/entries`
const PLACES = [
  { path: ROOT, title: 'Sums' },
  { path: ENTRIES, title: 'Entries' },
  { path: `${ROOT}/verification`, title: 'Verification' },
]

/** An amount in whole tokens, as the row's decimals say. */
const amount = <Row extends { decimals: number }>(head: string, raw: (row: Row) => string): Column<Row> => ({
  head,
  cell: (row) => <span class="number">{groupedDecimalOf(BigInt(raw(row)), row.decimals)}</span>,
  text: (row) => decimalOf(BigInt(raw(row)), row.decimals),
})

const TOKEN = {
  head: 'Token',
  cell: ({ symbol, token }: Pick<LedgerEntry, 'symbol' | 'token'>) =>
    symbol === null ? <Value name="token" value={token} /> : clean(symbol),
  text: ({ token }: Pick<LedgerEntry, 'token'>) => token,
}

const SUMS = tableOf<LedgerSum>({
  title: 'Sums',
  route: api.ledger.summary,
  call: (client, query) => client.ledger.summary(query),
  empty: 'The ledger has no such entries.',
  columns: [
    { head: 'Key', cell: (sum, view) => <Key sum={sum} view={view} />, text: ({ key }) => key },
    'party',
    TOKEN,
    'entries',
    amount('Received', ({ received }) => received),
    amount('Paid', ({ paid }) => paid),
    amount('Net', ({ net }) => net),
  ],
})

const FILTERS = ['pool', 'mint', 'party', 'kind']

/** Leads to the entries that a sum adds up. */
function Key({ sum: { key, party, token }, view: { query } }: { sum: LedgerSum; view: View }) {
  if (key === null) return <Value name="key" value={null} />
  const given = new Map([...query, ['party', party], ['mint', token], [query.get('by') || 'month', key]])
  const filters = [...given].filter(([name, value]) => FILTERS.includes(name) && value !== '')
  const link = linkTo(ENTRIES, { ...Object.fromEntries(filters), ...monthRange(given.get('month')) })
  return <a href={link}>{clean(key)}</a>
}

/** The times around a month in UTC, such as 2026-11. */
function monthRange(month: string | undefined): Record<string, string> {
  const start = new Date(`${month}-01T00:00:00Z`)
  if (Number.isNaN(start.getTime())) return {}
  const end = new Date(start)
  end.setUTCMonth(end.getUTCMonth() + 1)
  return { created_after: new Date(start.getTime() - 1).toISOString(), created_before: end.toISOString() }
}

const LEDGER_ENTRIES = tableOf<LedgerEntry>({
  title: 'Entries',
  route: api.ledger.list,
  call: (client, query) => client.ledger.list(query),
  empty: 'The ledger has no such entries.',
  columns: [
    'occurred_at',
    'kind',
    'party',
    amount('Amount', (entry) => entry.amount),
    TOKEN,
    'signature',
    'owner',
    'counterparty',
    'detail',
    'pool',
    'price',
    'price_currency',
  ],
})

/** Each step reads transactions from the chain again, so it has an address of its own. */
const verification: ConsolePage = {
  path: `${ROOT}/verification`,
  title: 'Verification of the ledger',
  siblings: PLACES,
  async content(view) {
    const cursor = view.query.get('cursor')
    const read = view.client.ledger.verify(cursor === null ? {} : { cursor })
    return {
      body: (
        <>
          {await shownOf(read, (step) => <Step view={view} step={step} />)}
          <SameDetails same={sameAs(view, api.ledger.verify, {})} isOpen />
        </>
      ),
    }
  },
}

const Step = ({ view, step: { next_cursor: next, faults, ...facts } }: { view: View; step: LedgerVerification }) => (
  <>
    {faults.length === 0 ? (
      <p role="status">This step found no difference.</p>
    ) : (
      <p role="alert">This step found differences: {faults.length}.</p>
    )}
    <Fields record={{ faults, ...facts }} />
    {next === null ? <p>This was the last step.</p> : <a href={linkTo(view.path, { cursor: next })}>Next step</a>}
  </>
)

const place = { siblings: PLACES, live: ['transactions'] } as const

export const ledgerPages: readonly ConsolePage[] = [
  tablePage({ ...place, path: ROOT, title: 'Ledger', inNavigation: true, table: SUMS }),
  tablePage({ ...place, path: ENTRIES, title: 'Entries of the ledger', table: LEDGER_ENTRIES }),
  verification,
]
