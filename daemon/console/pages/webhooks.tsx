/** /console/webhooks: the receivers of events, and the attempts to deliver to each. */
import { api, type WebhookDelivery, type WebhookSubscription } from '../../../src/api/index.ts'
import { Act } from '../act.tsx'
import { Chart } from '../chart.tsx'
import type { ConsolePage } from '../page.ts'
import { linked, readTable, Table, tableOf } from '../table.tsx'
import { Fields } from '../values.tsx'

const SUBSCRIPTIONS = tableOf({
  title: 'Receivers',
  route: api.webhookSubscriptions.list,
  call: (client, query) => client.webhookSubscriptions.list(query),
  empty: 'There are no receivers. `svc webhooks create` adds one.',
  columns: [
    linked<WebhookSubscription>('id', ({ id }) => `/console/webhooks/${id}`),
    'url',
    'enabled_events',
    'active',
    'disabled_reason',
    'created_at',
  ],
})

const DELIVERIES = tableOf({
  title: 'Attempts',
  route: api.webhookSubscriptions.deliveries,
  call: (client, query) => client.webhookSubscriptions.deliveries({ id: '', ...query }),
  empty: 'Nothing was delivered yet.',
  columns: [
    'created_at',
    'event_id',
    'attempt',
    'status',
    'response_code',
    'duration_ms',
    'error',
    'next_attempt_at',
    {
      head: 'Act',
      cell: ({ event_id }, view) => (
        <Act view={view} act="deliver-again" input={{ id: view.params.id, event_ids: [event_id] }} />
      ),
    },
  ],
})

/** The most attempts that a page of the API has. */
const NEWEST = '100'

const subscriptions: ConsolePage = {
  path: '/console/webhooks',
  title: 'Webhooks',
  inNavigation: true,
  live: ['events', 'time'],
  async content(view) {
    const table = await readTable(view, SUBSCRIPTIONS)
    return { table, body: <Table view={view} shown={table} /> }
  },
}

const subscription: ConsolePage = {
  path: '/console/webhooks/{id}',
  title: 'Webhook',
  live: ['events', 'time'],
  async content(view) {
    const { id = '' } = view.params
    const { data } = await view.client.webhookSubscriptions.get({ id })
    const newest = (await view.client.webhookSubscriptions.deliveries({ id, limit: NEWEST })).data
    const table = await readTable(view, DELIVERIES, { id })
    return {
      title: data.url,
      table,
      body: (
        <>
          <div id="receiver" data-live>
            <Fields record={data} />
            {!data.active && <Act view={view} act="switch-on" input={{ id, active: true }} />}
            <p>{successText(newest)}</p>
          </div>
          {latency(newest)}
          <Table view={view} shown={table} />
        </>
      ),
    }
  },
}

/** How many of the newest attempts that have ended were accepted. */
function successText(newest: readonly WebhookDelivery[]): string {
  const ended = newest.filter(({ status }) => status !== 'pending')
  if (ended.length === 0) return 'No attempt has ended yet.'
  const accepted = ended.filter(({ status }) => status === 'succeeded').length
  return `Of the newest ${ended.length} attempts ${accepted} were accepted (${Math.round((100 * accepted) / ended.length)} %).`
}

function latency(newest: readonly WebhookDelivery[]) {
  const timed = newest.filter(({ duration_ms }) => duration_ms !== null).toReversed()
  if (timed.length < 2) return null
  return (
    <Chart
      title="How long the receiver took to answer"
      x={{ label: 'Time', isTime: true, values: timed.map(({ created_at }) => Date.parse(created_at) / 1000) }}
      series={[{ label: 'Milliseconds', values: timed.map(({ duration_ms }) => duration_ms) }]}
    />
  )
}

export const webhookPages = [subscriptions, subscription]
