/** New events in the queues of many subscriptions: each gets those that it has enabled, whatever becomes of another. */
import { describe, expect, it } from 'vitest'
import { fanOut } from '../../src/operations/webhook-deliveries/enqueuing.ts'
import { appendEvents } from '../../src/store/events/events.ts'
import { newId } from '../../src/store/id.ts'
import type { Store } from '../../src/store/store.ts'
import { insertWebhookDeliveries } from '../../src/store/webhooks/deliveries.ts'
import { enqueueNew, enqueueReplayed } from '../../src/store/webhooks/enqueuing.ts'
import { numbers } from '../store/databases.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { type Service, startService } from '../support/service.ts'

const postgres = await startPostgres()

const ENABLED = [['*'], ['pool.live'], ['token.created'], ['pool.live', 'token.created'], ['webhook.test_event']]

async function subscribe({ request }: Service, enabled_events: readonly string[]): Promise<string> {
  const body = { url: 'https://example.com/hooks', enabled_events }
  const { status, json, text } = await request('POST', '/v2/webhook-subscriptions', { body })
  expect(status, text).toBe(201)
  return json.data.id
}

/** One of each type about each resource. */
async function happen({ services: { store, clock } }: Service, resources: readonly string[]): Promise<void> {
  const types = ['pool.live', 'token.created', 'pool.failed', 'webhook.test_event']
  const events = types.flatMap((type) =>
    resources.map((resource_id) => ({
      id: newId('evt'),
      type,
      resource_type: 'pool',
      resource_id,
      object_json: '{}',
      external_uid: null,
      metadata_json: null,
      dedupe_key: newId('x'),
      created_at: clock.now(),
    })),
  )
  await store.write((tx) => appendEvents(tx, events))
}

const queued = ({ db }: Store) =>
  db
    .selectFrom('webhook_queue')
    .select(['subscription_id', 'event_id', 'sequence', 'resource', 'state', 'attempts', 'next_attempt_at'])
    .orderBy('subscription_id')
    .orderBy('sequence')
    .execute()

const onBoth = (settings: () => Promise<Record<string, unknown>>) => {
  it('are queued for each subscription that has enabled their type, once and in order', async () => {
    const service = await startService({ settings: await settings() })
    const { store } = service.services
    const ids: string[] = []
    for (const types of ENABLED) ids.push(await subscribe(service, types))
    await happen(service, [...ids, 'whs_nobody', 'pool-1'])
    expect(await fanOut(service.services)).toBe(false)
    const events = await store.db.selectFrom('events').selectAll().orderBy('sequence').execute()
    const expected = ids.flatMap((id, n) =>
      events
        // Only the subscription that a test event is about gets it.
        .filter(({ type, resource_id }) =>
          type === 'webhook.test_event'
            ? resource_id === id
            : ENABLED[n]!.some((each) => each === '*' || each === type),
        )
        .map(({ sequence }) => [id, sequence]),
    )
    const rows = await queued(store)
    expect(rows.map(({ subscription_id, sequence }) => [subscription_id, sequence])).toEqual(
      expected.toSorted(([a], [b]) => (a! < b! ? -1 : a! > b! ? 1 : 0)),
    )
    const byId = new Map(events.map((event) => [event.id, event]))
    const now = service.clock.now()
    for (const { event_id, sequence, resource, ...state } of rows) {
      const { resource_type, resource_id, ...event } = byId.get(event_id)!
      expect([sequence, resource]).toEqual([event.sequence, `${resource_type}:${resource_id}`])
      expect(state).toMatchObject({ state: 'waiting', attempts: 0, next_attempt_at: now })
    }
    const subscriptions = await store.db.selectFrom('webhook_subscriptions').select('cursor').execute()
    expect(new Set(subscriptions.map(({ cursor }) => cursor))).toEqual(new Set([events.at(-1)!.sequence]))
  })

  it('are queued by the next pass if the database refuses the write', async () => {
    const service = await startService({ settings: await settings() })
    const { store } = service.services
    await subscribe(service, ['*'])
    await happen(service, ['pool-1'])
    const refusing: Store = { ...store, write: () => Promise.reject(new Error('refused')) }
    expect(await fanOut({ ...service.services, store: refusing })).toBe(false)
    expect(await queued(store)).toEqual([])
    expect(await fanOut(service.services)).toBe(false)
    expect((await queued(store)).map(({ sequence }) => sequence)).toEqual([1, 2, 3])
  })

  it('are queued once, though two daemons found the same subscription behind', async () => {
    const service = await startService({ settings: await settings() })
    const { store } = service.services
    const id = await subscribe(service, ['*'])
    await happen(service, ['pool-1'])
    const now = service.clock.now()
    await store.write((tx) => enqueueNew(tx, [id], { after: 0, to: 3, now }))
    // They are delivered before the other daemon comes to them.
    await store.write((tx) => tx.deleteFrom('webhook_queue').execute())
    await store.write((tx) => enqueueNew(tx, [id], { after: 0, to: 3, now }))
    expect(await queued(store)).toEqual([])
  })

  it('that a replay queues again start again, but beyond its place none that is under way', async () => {
    const service = await startService({ settings: await settings() })
    const { store } = service.services
    const id = await subscribe(service, ['*'])
    await happen(service, ['pool-1'])
    const now = service.clock.now()
    await store.write((tx) => enqueueNew(tx, [id], { after: 0, to: 3, now }))
    await store.write((tx) =>
      tx
        .updateTable('webhook_queue')
        .set({ claimed_until: now + 1 })
        .execute(),
    )
    const replay = { subscription_id: id, since: 0, types_json: null, filter_json: null, come_to: 1, last: 3 }
    for (const through of [0, 1]) await store.write((tx) => enqueueReplayed(tx, { ...replay, through }, { now }))
    const claims = store.db.selectFrom('webhook_queue').select('claimed_until').orderBy('sequence')
    expect((await claims.execute()).map((row) => row.claimed_until)).toEqual([0, now + 1, now + 1])
  })

  it('that were attempted before a replay comes to them are not queued by it', async () => {
    const service = await startService({ settings: await settings() })
    const { store } = service.services
    const id = await subscribe(service, ['*'])
    await happen(service, ['pool-1'])
    const events = await store.db.selectFrom('events').select('id').orderBy('sequence').execute()
    const attempt = { subscription_id: id, attempt: 1, status: 'succeeded', response_code: 200, duration_ms: 1 }
    const rows = events.slice(0, 2).map((event) => ({
      ...attempt,
      id: newId('whd'),
      event_id: event.id,
      error: null,
      response_body: null,
      next_attempt_at: null,
      created_at: 1,
    }))
    await store.write((tx) => insertWebhookDeliveries(tx, rows))
    const replay = { subscription_id: id, since: 0, types_json: null, filter_json: null, come_to: 1, last: 3 }
    for (const through of [0, 1])
      await store.write((tx) => enqueueReplayed(tx, { ...replay, through }, { now: service.clock.now() }))
    expect((await queued(store)).map(({ sequence }) => sequence)).toEqual([1, 3])
  })

  it('wait while five hundred before them have not been tried', async () => {
    const service = await startService({ settings: await settings() })
    const { store } = service.services
    await subscribe(service, ['*'])
    await happen(
      service,
      numbers(200).map((n) => `pool-${n}`),
    )
    expect([await fanOut(service.services), (await queued(store)).length]).toEqual([true, 500])
    expect([await fanOut(service.services), (await queued(store)).length]).toEqual([false, 500])
    await store.write((tx) => tx.deleteFrom('webhook_queue').where('sequence', '=', 7).execute())
    expect([await fanOut(service.services), (await queued(store)).length]).toEqual([false, 599])
  })

  it('reach all others where the stored types of one subscription cannot be read', async () => {
    const service = await startService({ settings: await settings() })
    const { store } = service.services
    const ids = [await subscribe(service, ['*']), await subscribe(service, ['*']), await subscribe(service, ['*'])]
    const [, broken = ''] = ids
    await store.write((tx) =>
      tx.updateTable('webhook_subscriptions').set({ enabled_events_json: 'broken' }).where('id', '=', broken).execute(),
    )
    await happen(service, ['pool-1'])
    await fanOut(service.services)
    const reached = (await queued(store)).map(({ subscription_id }) => subscription_id)
    expect(new Set(reached)).toEqual(new Set(ids.filter((id) => id !== broken)))
  })
}

describe('new events, on SQLite', () => onBoth(async () => ({})))

if ('missing' in postgres) it.skip(`PostgreSQL cannot be run here (${postgres.missing})`, () => {})
else {
  const settings = async () => ({
    'postgres.pool-timeout-ms': 60_000,
    'database-url': await postgres.createMigratedDatabase(),
    'encryption-key': 'ab'.repeat(32),
  })
  describe('new events, on PostgreSQL', () => onBoth(settings))
}
