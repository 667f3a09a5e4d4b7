/** /console/airdrops: the airdrops, and one of them: what was claimed when, what is left, who pays for claims. */
import type { AirdropUnclaimed } from '../../../src/api/airdrop-claims.ts'
import { type Airdrop, type AirdropClaimRecord, type AirdropStats, api } from '../../../src/api/index.ts'
import { solText } from '../../../src/solana/amounts.ts'
import { percentOf } from '../../../src/solana/launch-curve.ts'
import { CommandsOf, SameDetails, type SignedAct } from '../act.tsx'
import { Chart } from '../chart.tsx'
import type { ConsolePage } from '../page.ts'
import { sameAs } from '../same.ts'
import { amountText, decimalsOf, nullIfNotFound, shownOf, waitingFor } from '../sections.tsx'
import { type Column, linked, readTable, Table, tableOf } from '../table.tsx'
import { tablePage } from '../table-page.tsx'
import { Copyable, Fields, Value, wordsOf } from '../values.tsx'
import { linkTo, type View } from '../view.ts'

const AIRDROPS = tableOf({
  title: 'Airdrops',
  route: api.airdrops.list,
  call: (client, query) => client.airdrops.list(query),
  empty: 'There are no airdrops. `svc airdrops launch LIST` stores a list and creates one.',
  columns: [
    linked<Airdrop>('id', ({ id }) => `/console/airdrops/${id}`),
    'mint',
    'airdrop_count',
    'status',
    'leaf_count',
    { head: 'Total, raw units', cell: ({ total }) => <Value name="total" value={total} />, text: ({ total }) => total },
    'created_at',
  ],
})

type Amounts = Pick<AirdropClaimRecord, 'amount' | 'amount_locked'>

/** What pays at once, and what vests, in whole tokens. */
const amountsIn = (decimals: number | null): Column<Amounts>[] =>
  (['amount', 'amount_locked'] as const).map((field) => ({
    head: wordsOf(field),
    cell: (row) => <Value name={field} value={amountText(row[field], decimals)} />,
    text: (row) => amountText(row[field], decimals),
  }))

const claimsIn = (decimals: number | null) =>
  tableOf<AirdropClaimRecord>({
    title: 'Claims',
    route: api.airdrops.claims,
    call: (client, query) => client.airdrops.claims({ id: '', ...query }),
    empty: 'No claim is recorded here yet.',
    columns: ['claimed_at', 'wallet', ...amountsIn(decimals), 'signature'],
  })

const unclaimedIn = (decimals: number | null) =>
  tableOf<AirdropUnclaimed['wallets'][number]>({
    title: 'Largest unclaimed',
    route: api.airdrops.unclaimed,
    async call(client, query) {
      const { data, meta } = await client.airdrops.unclaimed({ id: '', ...query })
      return { data: data.wallets, meta: { ...meta, count: data.wallets.length, next_cursor: null, has_more: false } }
    },
    empty: 'Every wallet of the list has claimed.',
    columns: ['wallet', ...amountsIn(decimals)],
  })

const airdrops = tablePage({
  path: '/console/airdrops',
  title: 'Airdrops',
  inNavigation: true,
  live: ['events'],
  table: AIRDROPS,
})

const airdrop: ConsolePage = {
  path: '/console/airdrops/{id}',
  title: 'Airdrop',
  live: ['events', 'transactions'],
  async content(view) {
    const { id = '' } = view.params
    const { data } = await view.client.airdrops.get({ id })
    const decimals = await decimalsOf(view, data.mint)
    const table = await readTable(view, claimsIn(decimals), { id })
    return {
      title: `Airdrop ${data.airdrop_count} of ${data.mint}`,
      table,
      body: (
        <>
          <div id="airdrop" data-live>
            {await waitingFor(view, { subject: id })}
            <Fields record={inTokens(data, decimals)} />
            <SameDetails same={sameAs(view, api.airdrops.get, { id })} />
          </div>
          {await shownOf(view.client.airdrops.stats({ id }), (stats) => figures(view, stats, decimals))}
          <h2>Claim page</h2>
          <ClaimPage view={view} id={id} />
          <div id="sponsorship" data-live>
            <h2>Sponsorship</h2>
            {await sponsorship(view, id)}
            <CommandsOf view={view} acts={actsOn(data)} />
          </div>
          <Table view={view} shown={table} />
        </>
      ),
    }
  },
}

/** A page of its own, because it reads the whole list. */
const unclaimed: ConsolePage = {
  path: '/console/airdrops/{id}/unclaimed',
  title: 'Largest unclaimed',
  async content(view) {
    const { id = '' } = view.params
    const { data } = await view.client.airdrops.get({ id })
    const columns = unclaimedIn(await decimalsOf(view, data.mint))
    const table = await readTable(view, columns, { id, limit: MOST_UNCLAIMED })
    return {
      table,
      body: (
        <>
          <p>
            <a href={linkTo(`/console/airdrops/${id}`)}>{`Airdrop ${data.airdrop_count} of ${data.mint}`}</a>
          </p>
          <Table view={view} shown={table} />
        </>
      ),
    }
  },
}

const MOST_UNCLAIMED = '100'

export const airdropPages = [airdrops, airdrop, unclaimed]

const AMOUNTS = ['total', 'total_locked', 'vault_balance', 'vault_lacks', 'claimed_amount', 'left_amount']

function inTokens(record: object, decimals: number | null): object {
  const shown = ([name, value]: [string, unknown]) =>
    AMOUNTS.includes(name) && typeof value === 'string' ? [name, amountText(value, decimals)] : [name, value]
  return Object.fromEntries(Object.entries(record).map(shown))
}

/** What was claimed, and its charts by hour and day. */
function figures(view: View, stats: AirdropStats, decimals: number | null) {
  const { id, claimed_amount_share, claimed_count_share, left_count, left_amount, recorded, hours, days } = stats
  const share = (of: number | null) => (of === null ? null : percentOf(of))
  const { median_amount, amount, ...counts } = recorded
  return (
    <>
      <h2>Progress</h2>
      <div id="figures" data-live>
        <Fields
          record={{
            share_claimed: share(claimed_amount_share),
            share_of_wallets: share(claimed_count_share),
            left_amount: amountText(left_amount, decimals),
            left_count,
            recorded_amount: amountText(amount, decimals),
            median_amount: amountText(median_amount, decimals),
            ...counts,
            note: stats.note,
          }}
        />
        <SameDetails same={sameAs(view, api.airdrops.stats, { id })} />
        <p>
          <a href={linkTo(`/console/airdrops/${id}/unclaimed`)}>Largest unclaimed</a>
        </p>
        {recorded.claims > 0 && claimsOver('hour', hours)}
        {recorded.claims > 0 && claimsOver('day', days)}
      </div>
    </>
  )
}

const claimsOver = (span: 'hour' | 'day', windows: AirdropStats['hours']) => (
  <Chart
    title={`Claims in each ${span}, the last ${windows.length}`}
    x={{ label: `Begin of the ${span}`, isTime: true, values: windows.map(({ at }) => Date.parse(at) / 1000) }}
    series={[{ label: 'Claims', values: windows.map(({ claims }) => claims) }]}
  />
)

function ClaimPage({ view, id }: { view: View; id: string }) {
  if (view.config.values['claim-pages']) {
    return (
      <p>
        <a href={`./claim/${id}/`}>{`${view.api}/claim/${id}/`}</a>
      </p>
    )
  }
  return (
    <>
      <p>This service has no claim pages (setting `claim-pages`). This command writes one for any host:</p>
      <Copyable text={`svc airdrops page ${id} --out DIR`} />
    </>
  )
}

async function sponsorship(view: View, id: string) {
  const found = await nullIfNotFound(view.client.sponsorships.get({ id }))
  if (found === null) return <p class="none">Wallets pay for their claims themselves.</p>
  const { budget, used, left } = found
  const record = { ...found, budget: solText(budget), used: solText(used), left: solText(left) }
  return (
    <>
      <Fields record={record} />
      <SameDetails same={sameAs(view, api.sponsorships.get, { id })} />
    </>
  )
}

/** What an operator may do with an airdrop in its state. */
function actsOn({ id, mint, airdrop_count, root, status, vault_balance, clawed_back }: Airdrop): SignedAct[] {
  const input = { id }
  if (status === 'tree_built') {
    const body = { payer: 'YOUR_WALLET', mint, airdrop_count, merkle_root: root }
    return [{ route: api.airdrops.create, input, body }]
  }
  const sponsor = {
    route: api.sponsorships.update,
    input: { id, budget: 'SOL' },
    body: { id, budget: 'LAMPORTS' },
  }
  if (clawed_back || vault_balance === null || vault_balance === '0') return []
  const withdraw = { route: api.airdrops.withdraw, input, body: { id, amount: vault_balance } }
  return [sponsor, withdraw]
}
