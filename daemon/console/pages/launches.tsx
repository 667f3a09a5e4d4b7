/** /console/launches: the pools, and one pool: its curve, its trades, its migration, its earnings, its events. */
import { api, type Event, type Pool, type PoolEarnings, type PoolRead } from '../../../src/api/index.ts'
import type { PoolTrade } from '../../../src/api/pool-trades.ts'
import { isoTime, SECOND_MS } from '../../../src/platform/timing.ts'
import { decimalOf } from '../../../src/solana/amounts.ts'
import { SOL_DECIMALS } from '../../../src/solana/constants.ts'
import {
  groupedShortOf,
  percentOf,
  poolState,
  priceOf,
  raisedInAll,
  sqrtPriceAt,
} from '../../../src/solana/launch-curve.ts'
import { CommandsOf, SameDetails } from '../act.tsx'
import { Chart } from '../chart.tsx'
import type { ConsolePage } from '../page.ts'
import { sameAs } from '../same.ts'
import { amountText, shownOf, waitingFor } from '../sections.tsx'
import { type Column, linked, Rows, readTable, Table, tableOf } from '../table.tsx'
import { tablePage } from '../table-page.tsx'
import { Fields, Time, Value } from '../values.tsx'
import { linkTo, type View } from '../view.ts'

const filled = ({ curve_progress }: Pool) => (curve_progress === null ? null : percentOf(curve_progress))

const POOLS = tableOf({
  title: 'Pools',
  route: api.pools.list,
  call: (client, query) => client.pools.list(query),
  empty: 'There are no pools. `svc pools create` launches a token with its pool.',
  columns: [
    linked<Pool>('address', ({ address }) => `/console/launches/${address}`),
    'name',
    'symbol',
    'type',
    'status',
    { head: 'Filled', cell: (pool) => <Value name="filled" value={filled(pool)} />, text: filled },
    'creator',
    'created_at',
  ],
})

const happened = ({ created }: Event) => isoTime(created * SECOND_MS)
const signatureIn = ({ data }: Event) => data.object.signature

const EVENTS = tableOf({
  title: 'Events',
  route: api.events.list,
  call: (client, query) => client.events.list(query),
  empty: 'Nothing has happened yet.',
  columns: [
    { head: 'Time', cell: (event) => <Time at={happened(event)} />, text: happened },
    'type',
    'id',
    {
      head: 'Transaction',
      cell: (event) => <Value name="signature" value={signatureIn(event)} />,
      text: signatureIn,
    } satisfies Column<Event>,
  ],
})

const paid = ({ amount_in, decimals_in }: PoolTrade) => amountText(amount_in, decimals_in)
const received = ({ amount_out, decimals_out }: PoolTrade) => amountText(amount_out, decimals_out)

const TRADES = tableOf({
  title: 'Trades',
  route: api.pools.trades,
  call: (client, query) => client.pools.trades({ address: '', ...query }),
  empty: 'The newest transactions of this pool contain no trade.',
  columns: [
    'traded_at',
    'side',
    { head: 'Paid', cell: (trade) => <Value name="paid" value={paid(trade)} />, text: paid },
    { head: 'Received', cell: (trade) => <Value name="received" value={received(trade)} />, text: received },
    'price',
    'trader',
    'signature',
  ],
})

const launches = tablePage({
  path: '/console/launches',
  title: 'Launches',
  inNavigation: true,
  live: ['pools'],
  table: POOLS,
})

const launch: ConsolePage = {
  path: '/console/launches/{address}',
  title: 'Launch',
  // Trades by others are no events.
  live: ['pools', 'events', 'time'],
  async content(view) {
    const { address = '' } = view.params
    const { data: pool } = await view.client.pools.get({ address })
    const table = await readTable(view, EVENTS, { resource_id: address })
    const isFull = pool.migration !== undefined || pool.status === 'migration_triggered'
    return {
      title: pool.name === null ? address : `${pool.name} (${pool.symbol})`,
      table,
      body: (
        <>
          <div id="pool" data-live>
            {await waitingFor(view, { subject: address })}
            <Fields record={aboutPool(pool)} />
            <SameDetails same={sameAs(view, api.pools.get, { address })} />
          </div>
          <div id="curve" data-live>
            {curveOf(pool)}
          </div>
          <div id="migration" data-live>
            {isFull && migration(view, pool)}
          </div>
          <h2>Earnings</h2>
          <div id="earnings" data-live>
            {await shownOf(view.client.pools.earnings({ address }), earningsTable)}
          </div>
          <SameDetails same={sameAs(view, api.pools.earnings, { address })} />
          <h2>Newest trades</h2>
          <div id="trades" data-live>
            {await shownOf(newestTrades(view, address), (shown) => <Rows {...shown} />)}
          </div>
          <SameDetails same={sameAs(view, api.pools.trades, { address })} />
          <p>
            <a href={linkTo(`/console/launches/${address}/trades`)}>All trades of this pool</a>
          </p>
          <p>
            <a href={linkTo('/console/transactions', { resource_id: address })}>Transactions of this pool</a>
          </p>
          <Table view={view} shown={table} />
        </>
      ),
    }
  },
}

const trades: ConsolePage = {
  path: '/console/launches/{address}/trades',
  title: 'Trades',
  async content(view) {
    const { address = '' } = view.params
    const table = await readTable(view, TRADES, { address })
    return {
      title: `Trades of ${address}`,
      table,
      body: (
        <>
          <p>
            <a href={linkTo(`/console/launches/${address}`)}>The pool</a>
          </p>
          <Table view={view} shown={table} />
        </>
      ),
    }
  },
}

export const launchPages = [launches, launch, trades]

async function newestTrades(view: View, address: string) {
  const query = new URLSearchParams({ limit: NEWEST })
  return { data: await readTable({ ...view, query }, TRADES, { address }) }
}

/** The record without the raw state, which is shown as price, raised amount and curve. */
function aboutPool(pool: PoolRead): object {
  const { state, fee_metrics, curve_progress, name, symbol, migration, status, ...record } = pool
  const { price, curve, quote } = poolState(pool)
  const raised = curve && groupedShortOf(curve.raised, quote.decimals)
  const threshold = curve && groupedShortOf(curve.threshold, quote.decimals)
  return {
    status,
    ...(price === null ? {} : { price: `${price} ${quote.unit} for one token` }),
    ...(curve === null ? {} : { raised: `${raised} of ${threshold} ${quote.unit} (${filled(pool) ?? 'unknown'})` }),
    ...record,
  }
}

const NEWEST = '10'

const STEPS = 60
/** Significant digits of a price in the chart. */
const DIGITS = 6

/** The price over what was raised, and where the pool stands. */
function curveOf(pool: PoolRead) {
  const { curve, quote, price } = poolState(pool)
  const total = curve === null ? 0n : raisedInAll(curve.shape)
  if (curve === null || total === 0n) return null
  const { shape, raised } = curve
  const priceAt = (amount: bigint) => Number(priceOf(sqrtPriceAt(shape, amount), shape.decimals, DIGITS, quote))
  const inQuote = (amount: bigint) => Number(decimalOf(amount, quote.decimals))
  const amounts = Array.from({ length: STEPS + 1 }, (_, i) => (total * BigInt(i)) / BigInt(STEPS))
  const at = raised < total ? raised : total
  return (
    <Chart
      title="The curve"
      x={{ label: `${quote.unit} raised`, values: amounts.map(inQuote) }}
      series={[{ label: `${quote.unit} for one token`, values: amounts.map(priceAt) }]}
      mark={{ x: inQuote(at), y: priceAt(at), label: `the pool is at ${price ?? priceAt(at)} ${quote.unit}` }}
    />
  )
}

function migration(view: View, { address, migration }: PoolRead) {
  const input = { address }
  return (
    <>
      <h2>Migration</h2>
      <p>
        The curve is full. Any wallet may migrate it, and pays the rent of the new pool: `--dry-run` shows the exact
        sum.
      </p>
      {migration !== undefined && <Fields record={migration} />}
      <CommandsOf view={view} acts={[{ route: api.pools.migrate, input, body: { ...input, payer: 'YOUR_WALLET' } }]} />
    </>
  )
}

const EARNING_HEADS = ['Party', 'Source', 'Wallet', 'Paid in', 'Earned', 'Claimable', 'Claimed']
const AMOUNTS = ['accrued', 'claimable', 'claimed'] as const

/** One row for each party, source and token. */
function earningsTable({ parties, base_decimals, base_symbol, quote_decimals, ...pool }: PoolEarnings) {
  const decimals = { quote: quote_decimals, base: base_decimals, lamports: SOL_DECIMALS }
  const { quote } = poolState({ type: 'damm_v2', state: { quote_decimals }, quote_mint: pool.quote_mint })
  const units = { quote: quote.unit, base: base_symbol ?? 'token', lamports: 'SOL' }
  const tokens = ['quote', 'base', 'lamports'] as const
  const rows = parties.flatMap(({ party, sources }) =>
    sources.flatMap((source) =>
      tokens.flatMap((token) => {
        const amounts = source[token]
        if (amounts === null || (token !== 'quote' && AMOUNTS.every((name) => amounts[name] === '0'))) return []
        return [
          [
            party,
            source.kind,
            <Value name="wallet" value={source.wallet} />,
            <Value name="unit" value={units[token]} />,
            ...AMOUNTS.map((name) => <Value name={name} value={amountText(amounts[name], decimals[token])} />),
          ],
        ]
      }),
    ),
  )
  return (
    <>
      <Rows title="Earnings" heads={EARNING_HEADS} rows={rows} empty="This pool earns nobody anything." />
      {pool.damm_v2_address !== null && (
        <Fields record={{ launch_curve: pool.curve_address, pool_after_migration: pool.damm_v2_address }} />
      )}
    </>
  )
}
