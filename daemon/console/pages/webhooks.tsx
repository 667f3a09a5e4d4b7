/** /console/webhooks: the receivers of events, how they do, and each attempt with its request and its answer. */
import { api, type WebhookDelivery, type WebhookSubscription } from '../../../src/api/index.ts'
import { Act, SameDetails } from '../act.tsx'
import { Chart } from '../chart.tsx'
import type { ConsolePage } from '../page.ts'
import { sameAs } from '../same.ts'
import { linked, readTable, Table, tableOf } from '../table.tsx'
import { tablePage } from '../table-page.tsx'
import { Block, Fields } from '../values.tsx'

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
    'failing_since',
    'next_attempt_at',
    'last_status',
    'last_response_code',
    'disabled_reason',
  ],
})

type Attempt = WebhookDelivery & { subscription: string }

const ATTEMPTS = tableOf({
  title: 'Attempts',
  route: api.webhookSubscriptions.deliveries,
  async call(client, { id = '', ...query }) {
    const { data, meta } = await client.webhookSubscriptions.deliveries({ id, ...query })
    return { data: data.map((delivery): Attempt => ({ ...delivery, subscription: id })), meta }
  },
  empty: 'There are no attempts.',
  columns: [
    linked<Attempt>('id', ({ subscription, id }) => `/console/webhooks/${subscription}/${id}`),
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
      cell: ({ subscription, event_id }, view) => (
        <Act view={view} act="deliver-again" input={{ id: subscription, event_ids: [event_id] }} />
      ),
    },
  ],
})

/** The most attempts that a page of the API has. */
const NEWEST = '100'

const subscriptions = tablePage({
  path: '/console/webhooks',
  title: 'Webhooks',
  inNavigation: true,
  live: ['events', 'time'],
  table: SUBSCRIPTIONS,
})

const subscription: ConsolePage = {
  path: '/console/webhooks/{id}',
  title: 'Webhook',
  live: ['events', 'time'],
  async content(view) {
    const { id = '' } = view.params
    const calls = view.client.webhookSubscriptions
    const { data } = await calls.get({ id })
    const { data: stats } = await calls.stats({ id })
    const table = await readTable(view, ATTEMPTS, { id })
    return {
      title: data.url,
      table,
      body: (
        <>
          <div id="receiver" data-live>
            <Fields record={data} />
            {!data.active && <Act view={view} act="switch-on" input={{ id, active: true }} />}
            {data.failing_since !== null && data.active && (
              <Act view={view} act="retry" input={{ id, since: data.failing_since }} />
            )}
            <h2>The last 24 hours</h2>
            <Fields record={stats} />
            <SameDetails same={sameAs(view, api.webhookSubscriptions.stats, { id })} />
          </div>
          {latency((await calls.deliveries({ id, limit: NEWEST })).data)}
          <Table view={view} shown={table} />
        </>
      ),
    }
  },
}

/** How long the newest attempts took; a chart of one would be a dot. */
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

const attempt: ConsolePage = {
  path: '/console/webhooks/{id}/{delivery_id}',
  title: 'Attempt',
  async content(view) {
    const { id = '', delivery_id = '' } = view.params
    const { data } = await view.client.webhookSubscriptions.delivery({ id, delivery_id })
    const { request, response_body, ...record } = data
    return {
      body: (
        <>
          <Fields record={{ subscription_id: id, ...record }} />
          <Act view={view} act="deliver-again" input={{ id, event_ids: [data.event_id] }} />
          <h2>Request</h2>
          <Fields record={request.headers} />
          <Block text={JSON.stringify(request.body, null, 2)} />
          <h2>Answer</h2>
          {response_body === null ? <p class="none">There was no body.</p> : <Block text={response_body} />}
          <SameDetails same={sameAs(view, api.webhookSubscriptions.delivery, { id, delivery_id })} />
        </>
      ),
    }
  },
}

export const webhookPages = [subscriptions, subscription, attempt]
