/** /console/transactions: what was submitted or signed here, and one transaction whole. */
import { api, type StoredTransaction, type TransactionContent } from '../../../src/api/index.ts'
import { isoTime, SECOND_MS } from '../../../src/platform/timing.ts'
import { solText } from '../../../src/solana/amounts.ts'
import { CommandOf, SameDetails } from '../act.tsx'
import type { ConsolePage } from '../page.ts'
import { sameAs } from '../same.ts'
import { shownOf, waitingFor } from '../sections.tsx'
import { Records, tableOf } from '../table.tsx'
import { tablePage } from '../table-page.tsx'
import { Block, Copyable, clean, Fields, Value } from '../values.tsx'
import { linkTo, type View } from '../view.ts'

type Tracked = StoredTransaction['tracked_resource'] | undefined

/** Where the resources are that a transaction can act on. */
const RESOURCE_PAGES: Readonly<Record<string, string>> = {
  airdrop: '/console/airdrops/',
  lock: '/console/tokens/locks/',
  nft: '/console/tokens/nfts/',
  pool: '/console/launches/',
  proposal: '/console/proposals/',
  stake: '/console/tokens/stakes/',
  token: '/console/tokens/',
}

function Resource({ tracked }: { tracked: Tracked }) {
  if (!tracked) return <Value name="for" value={null} />
  const { resource_type: type, resource_id: id } = tracked
  const page = Object.hasOwn(RESOURCE_PAGES, type) && RESOURCE_PAGES[type]
  return (
    <>
      {clean(type)}{' '}
      {page ? (
        <a class="code" href={linkTo(page + encodeURIComponent(id))}>
          {clean(id)}
        </a>
      ) : (
        clean(id)
      )}
    </>
  )
}

const resourceText = (tracked: Tracked) => (tracked ? `${tracked.resource_type} ${tracked.resource_id}` : null)

const TRANSACTIONS = tableOf({
  title: 'Stored transactions',
  route: api.transactions.list,
  call: (client, query) => client.transactions.list(query),
  empty: 'There are no such transactions.',
  columns: [
    'created_at',
    'signature',
    'lifecycle',
    {
      head: 'For',
      cell: (row) => <Resource tracked={row.tracked_resource} />,
      text: (row) => resourceText(row.tracked_resource),
    },
    {
      head: 'Error',
      cell: ({ error }) => <Value name="error" value={error?.message} />,
      text: ({ error }) => error?.message,
    },
    'slot',
    'bundle_id',
    'external_uid',
  ],
})

const transactions = tablePage({
  path: '/console/transactions',
  title: 'Transactions',
  inNavigation: true,
  live: ['transactions'],
  table: TRANSACTIONS,
})

const transaction: ConsolePage = {
  path: '/console/transactions/{signature}',
  title: 'Transaction',
  live: ['transactions', 'events'],
  async content(view) {
    const { signature = '' } = view.params
    const { data } = await view.client.transactions.get({ signature })
    const { err, error, tracked_resource, ...status } = data
    const isWaiting = data.lifecycle === 'submitted' || data.lifecycle === 'processing'
    return {
      title: `Transaction, ${data.lifecycle}`,
      body: (
        <>
          <div id="life" data-live>
            {await waitingFor(view, { subject: signature })}
            <Fields record={status} />
            {tracked_resource && (
              <p>
                For: <Resource tracked={tracked_resource} />
              </p>
            )}
            {error && (
              <div role="alert">
                <p>{clean([error.program, error.name, error.message].filter((part) => part !== null).join(': '))}</p>
                {error.hint !== null && <p>{clean(error.hint)}</p>}
              </div>
            )}
            {await life(view, signature)}
          </div>
          {
            await shownOf(view.client.transactions.content({ signature }), (content) => (
              <Content view={view} content={content} isWaiting={isWaiting} />
            ))
          }
        </>
      ),
    }
  },
}

/** What was reported about it, oldest first. */
async function life({ client }: View, signature: string) {
  const about = { resource_type: 'transaction', resource_id: signature, order: 'asc' } as const
  const { data: events } = await client.events.list(about)
  const records = events.map(({ created, ...rest }) => ({ ...rest, at: isoTime(created * SECOND_MS) }))
  return (
    <>
      <h2>Life</h2>
      <Records
        title="Life"
        records={records}
        fields={['at', 'type', 'sequence']}
        empty="No event is stored about it."
      />
    </>
  )
}

interface ContentProps {
  view: View
  content: TransactionContent
  isWaiting: boolean
}

function Content({ view, content, isWaiting }: ContentProps) {
  const { signature, transaction, plan, fee, ...facts } = content
  return (
    <>
      <h2>What it does</h2>
      <Block text={plan.join('\n')} isWhole />
      <h2>Content</h2>
      <Fields record={{ ...facts, fee: solText(fee) }} />
      <SameDetails same={sameAs(view, api.transactions.content, { signature })} isOpen />
      <h2>Bytes</h2>
      {transaction === null ? (
        <p>They are shown once its bundle can no longer land.</p>
      ) : (
        <Copyable text={transaction} />
      )}
      {isWaiting && transaction !== null && (
        <>
          <p>Send the same bytes again. They are executed at most once, and nothing is signed.</p>
          <CommandOf view={view} route={api.transactions.submit} input={{ transaction }} />
        </>
      )}
    </>
  )
}

export const transactionPages = [transactions, transaction]
