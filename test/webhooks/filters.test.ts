/** Filters of subscriptions: what they match, what is refused, and that queues, replays and final events respect them. */
import fc from 'fast-check'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { objectOf, sampleObject } from '../../src/api/event-catalog.ts'
import { EVENT_TYPES } from '../../src/api/event-types.ts'
import type { WebhookFilter } from '../../src/api/webhook-filters.ts'
import { deliverRound } from '../../src/operations/webhook-deliveries/deliver.ts'
import { advanceReplays, fanOut } from '../../src/operations/webhook-deliveries/enqueuing.ts'
import { releaseFinal } from '../../src/operations/webhook-deliveries/finality.ts'
import { appendEvents } from '../../src/store/events/events.ts'
import { newId } from '../../src/store/id.ts'
import { migrationNames } from '../../src/store/schema.ts'
import { compileFilter, ReadEvent } from '../../src/store/webhooks/filter-match.ts'
import { migratedUpTo, numbers, postgres as onPostgres, opened, sqlite } from '../store/databases.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { startReceiver } from '../support/receiver.ts'
import type { Service } from '../support/service.ts'
import { DATABASES, queued, replay, startOn } from './replaying.ts'

const postgres = await startPostgres()
const [MINT, OTHER] = ['9sNJThXNZWCSQp3kUCwm7TegQwNc1WMLH73GtUzdbjY', '7NsngNMtXJNdHgeK4znQDZ5PJ19ykVvQvEF7BT5KFjMv']

interface Happening {
  type?: string
  about?: [string, string]
  object?: object
  uid?: string | undefined
  metadata?: object | undefined
}

const rowOf = ({ type = 'pool.live', about = ['pool', MINT], object = {}, uid, metadata }: Happening) => ({
  type,
  resource_type: about[0],
  resource_id: about[1],
  object_json: JSON.stringify(object),
  external_uid: uid ?? null,
  metadata_json: metadata === undefined ? null : JSON.stringify(metadata),
})

const happen = ({ services: { store, clock } }: Service, happenings: readonly Happening[]) =>
  store.write((tx) =>
    appendEvents(
      tx,
      happenings.map((each) => ({
        ...rowOf(each),
        id: newId('evt'),
        dedupe_key: newId('x'),
        created_at: clock.now(),
      })),
    ),
  )

const create = ({ request }: Service, filter: unknown, over: object = {}) =>
  request('POST', '/v2/webhook-subscriptions', {
    body: { url: 'http://127.0.0.1:9/hook', enabled_events: ['*'], filter, ...over },
  })

async function subscribe(service: Service, filter: WebhookFilter | null, over: object = {}): Promise<string> {
  const { status, json, text } = await create(service, filter, over)
  expect(status, text).toBe(201)
  return json.data.id
}

/** Everything with a symbol, by its number. */
const symbols = (names: string): Happening[] => [...names].map((symbol) => ({ object: { symbol } }))
const ofSymbol = (...values: string[]): WebhookFilter => ({ fields: [{ field: 'data.symbol', values }] })

describe('A filter', () => {
  const matches = (filter: WebhookFilter, happening: Happening, enabled = ['*']) =>
    compileFilter(enabled, filter)(new ReadEvent(rowOf(happening)))

  it('takes types by name or by kind, and only enabled ones', () => {
    const wanted = (types: string[], enabled = ['*']) =>
      EVENT_TYPES.filter((type) => matches({ types }, { type }, enabled))
    expect(wanted(['pool.*'])).toEqual(EVENT_TYPES.filter((type) => type.startsWith('pool.')))
    expect(wanted(['token.created', 'gold.*'], ['token.created', 'gold.locked', 'pool.live'])).toEqual([
      'gold.locked',
      'token.created',
    ])
  })

  it('finds an address as a value at any depth, but neither in metadata, nor in names, nor in parts of a text', () => {
    const has = (object: object) => matches({ addresses: [OTHER] }, { object })
    expect(has({ recipients: [{ recipient: OTHER }] })).toBe(true)
    expect(has({ owner: OTHER })).toBe(true)
    expect(matches({ addresses: [MINT] }, {})).toBe(true)
    for (const object of [{ metadata: { a: OTHER } }, { [OTHER]: 1 }, { uri: `https://x.com/${OTHER}` }, {}])
      expect(has(object), JSON.stringify(object)).toBe(false)
  })

  it('compares fields as text: amounts by their digits, numbers and booleans as JSON writes them', () => {
    const is = (field: string, value: string, object: object) =>
      matches({ fields: [{ field, values: [value] }] }, { object })
    expect(is('data.amount', '18446744073709551615', { amount: '18446744073709551615' })).toBe(true)
    expect(is('data.amount', '18446744073709551616', { amount: '18446744073709551615' })).toBe(false)
    expect(is('data.slot', '12', { slot: 12 })).toBe(true)
    expect(is('data.object.frozen', 'true', { frozen: true })).toBe(true)
    expect(is('data.a.b', 'x', { a: [{ b: 'y' }, { b: 'x' }] })).toBe(true)
    for (const object of [{}, { slot: null }, { slot: ['13'] }, { slot: { a: 1 } }])
      expect(is('data.slot', '12', object)).toBe(false)
    expect(is('data.toString', 'x', {})).toBe(false)
  })

  it('reads external_uid and metadata of the write, whatever characters a name has', () => {
    const filter: WebhookFilter = {
      fields: [
        { field: 'external_uid', values: ['order-7'] },
        { field: 'metadata.a.b', values: ['1'] },
      ],
    }
    expect(matches(filter, { uid: 'order-7', metadata: { 'a.b': '1' } })).toBe(true)
    expect(matches(filter, { uid: 'order-7', metadata: { a: '1' } })).toBe(false)
    expect(matches(filter, { metadata: { 'a.b': '1' } })).toBe(false)
  })

  it('agrees with a plain reading of its parts, for any filter and event', () => {
    const few = <T>(...values: T[]) => fc.constantFrom(...values)
    const types = few('pool.live', 'pool.failed', 'nft.created', 'token.created')
    const some = <T>(value: fc.Arbitrary<T>) =>
      fc.option(fc.array(value, { minLength: 1, maxLength: 3 }), { nil: undefined })
    const value = few('a', 'b', '1', 'true')
    const filters = fc.record({
      types: some(few('pool.*', 'nft.*', 'pool.live', 'token.created')),
      resources: some(fc.record({ type: few('pool', 'nft'), id: few(MINT, OTHER) })),
      addresses: some(few(MINT, OTHER)),
      fields: some(
        fc.record({
          field: few('data.x', 'data.y.z', 'data.object.x', 'metadata.m', 'external_uid'),
          values: fc.array(value, { minLength: 1, maxLength: 2 }),
        }),
      ),
    })
    const leaf = few<unknown>('a', 'b', '1', 1, true, null, OTHER, ['a', { z: 'b' }], { z: 'a' }, { z: [1] })
    const events = fc.record({
      type: types,
      about: fc.tuple(few('pool', 'nft'), few(MINT, OTHER)),
      object: fc.record({ x: leaf, y: leaf, metadata: fc.record({ k: few(MINT, OTHER) }) }, { requiredKeys: [] }),
      uid: fc.option(value, { nil: undefined }),
      metadata: fc.option(fc.record({ m: value }), { nil: undefined }),
    })
    const enabled = few(['*'], ['pool.live', 'nft.created'])
    fc.assert(
      fc.property(filters, events, enabled, (filter, event, types) => {
        const given = Object.fromEntries(Object.entries(filter).filter(([, part]) => part !== undefined))
        expect(matches(given, event, types)).toBe(plainly(given, event, types))
      }),
      { numRuns: 2_000 },
    )
  })
})

/** The rules of docs/webhooks.md, word by word. */
function plainly(
  filter: WebhookFilter,
  { type = '', about = ['', ''], object = {}, uid, metadata }: Happening,
  enabled: string[],
) {
  const body = {
    external_uid: uid,
    metadata,
    data: { object: { resource_type: about[0], resource_id: about[1], ...object } },
  }
  const at = (value: unknown, path: string[]): unknown[] => {
    if (Array.isArray(value)) return value.flatMap((item) => at(item, path))
    if (path.length === 0) return [value]
    return value !== null && typeof value === 'object'
      ? at((value as Record<string, unknown>)[path[0]!], path.slice(1))
      : []
  }
  const everything = (value: unknown): unknown[] =>
    value !== null && typeof value === 'object'
      ? Object.entries(value).flatMap(([name, inner]) => (name === 'metadata' ? [] : everything(inner)))
      : [value]
  const pathOf = (field: string) =>
    field.startsWith('data.')
      ? ['data', 'object', ...field.replace('data.object.', 'data.').split('.').slice(1)]
      : field.split('.')
  const isOne = (values: readonly string[]) => (value: unknown) =>
    ['string', 'number', 'boolean'].includes(typeof value) && values.includes(`${value}`)
  return (
    (enabled.includes('*') || enabled.includes(type)) &&
    (filter.types ?? [type]).some((each) => each === type || each === `${type.split('.')[0]}.*`) &&
    (filter.resources?.some(({ type, id }) => type === about[0] && id === about[1]) ?? true) &&
    (filter.addresses?.some((address) => everything(body.data.object).includes(address)) ?? true) &&
    (filter.fields ?? []).every(({ field, values }) => at(body, pathOf(field)).some(isOne(values)))
  )
}

describe('The sample of every event type', () => {
  it.each(EVENT_TYPES)('%s has the fields of the catalogue', (type) => {
    expect(objectOf(type).safeParse(sampleObject(type)).error?.issues).toBeUndefined()
  })
})

describe('A subscription with a filter', () => {
  it('is answered with the filter and an event that matches it', async () => {
    const service = await startOn('SQLite', postgres)
    const filter = {
      types: ['pool.*'],
      addresses: [OTHER],
      fields: [
        { field: 'data.status', values: ['migrated'] },
        { field: 'data.slot', values: ['7'] },
        { field: 'external_uid', values: ['order-7'] },
      ],
    }
    const { json } = await create(service, filter)
    expect(json.data.filter).toEqual(filter)
    const { type, data, external_uid } = json.data.sample_event
    expect([data.object.status, data.object.slot, external_uid]).toEqual(['migrated', 7, 'order-7'])
    expect(Object.values(data.object)).toContain(OTHER)
    expect(objectOf(type).safeParse(data.object).success).toBe(true)
    const read = await service.request('GET', `/v2/webhook-subscriptions/${json.data.id}`)
    expect(read.json.data.filter).toEqual(filter)
    expect((await create(service, null)).json.data).toMatchObject({ filter: null, sample_event: null })
  })

  it('is refused, with the field and what is possible, if no event can match', async () => {
    const service = await startOn('SQLite', postgres)
    const cases: [unknown, object, string, RegExp][] = [
      [{}, {}, 'filter', /must have types, resources, addresses or fields/],
      [{ types: ['pools.*'] }, {}, 'filter.types.0', /no event type pools\.\*.*pool\.\*, airdrop\.\*/],
      [{ types: ['*'] }, {}, 'filter.types.0', /such as pool\.\*/],
      [{ types: ['nft.*'] }, { enabled_events: ['pool.live'] }, 'filter.types', /none of them is in enabled_events/],
      [
        { resources: [{ type: 'nft', id: MINT }] },
        { enabled_events: ['pool.live'] },
        'filter.resources.0.type',
        /about pool$/,
      ],
      [{ resources: [{ type: 'pool', id: 'x' }] }, {}, 'filter.resources.0.id', /x is not the id of a pool/],
      [{ addresses: ['x'] }, {}, 'filter.addresses.0', /base58/],
      [{ addresses: [MINT] }, { enabled_events: ['transaction.failed'] }, 'filter.addresses', /have no address/],
      [
        ofSymbol('A'),
        { enabled_events: ['token.created'] },
        'filter.fields.0.field',
        /no field data\.symbol; they have .*data\.mint/,
      ],
      [
        { fields: [{ field: 'data.status', values: ['live', 'liv'] }] },
        { enabled_events: ['pool.live'] },
        'filter.fields.0.values.1',
        /data\.status cannot be liv: .*migrated/,
      ],
      [{ fields: [{ field: 'data.amount', values: ['1.5'] }] }, {}, 'filter.fields.0.values.0', /cannot be 1\.5/],
      [
        {
          fields: [
            { field: 'data.symbol', values: ['A'] },
            { field: 'data.claimer', values: [MINT] },
          ],
        },
        { enabled_events: ['pool.live', 'airdrop.claimed'] },
        'filter',
        /no event has all of this at once.*pool\.live, airdrop\.claimed/,
      ],
      [ofSymbol('A'), { enabled_events: ['webhook.test_event'] }, 'filter', /never filtered/],
      [{ anything: 1 }, {}, 'filter.anything', /not a field/],
      [ofSymbol(...numbers(51).map(String)), {}, 'filter.fields.0.values', /50/],
      [
        { resources: numbers(50).map((n) => ({ type: 'x'.repeat(64), id: `${n}`.padEnd(256, 'x') })) },
        {},
        'filter',
        /8 KiB/,
      ],
    ]
    for (const [filter, over, param, message] of cases) {
      const { status, json } = await create(service, filter, over)
      const said = JSON.stringify([filter, json.error])
      expect([status, json.error?.param], said).toEqual([400, param])
      expect(json.error.message, said).toMatch(message)
    }
    expect((await service.request('GET', '/v2/webhook-subscriptions')).json.data).toEqual([])
  })

  it('is checked again when its types change, and loses the filter with null', async () => {
    const service = await startOn('SQLite', postgres)
    const id = await subscribe(service, ofSymbol('A'))
    const change = (body: object) => service.request('PATCH', `/v2/webhook-subscriptions/${id}`, { body })
    const refused = await change({ enabled_events: ['token.created'] })
    expect([refused.status, refused.json.error.param]).toEqual([400, 'filter.fields.0.field'])
    const narrowed = await change({ enabled_events: ['pool.live'] })
    expect(narrowed.json.data).toMatchObject({ filter: ofSymbol('A'), sample_event: { type: 'pool.live' } })
    expect((await change({ filter: null, enabled_events: ['token.created'] })).json.data).toMatchObject({
      ...{ filter: null, sample_event: null, enabled_events: ['token.created'] },
    })
  })
})

describe.each(DATABASES)('on %s, events', (name) => {
  const missing = name === 'PostgreSQL' && 'missing' in postgres
  const start = () => startOn(name, postgres)

  it.skipIf(missing)('are queued for each subscription whose filter wants them, beside those without one', async () => {
    const service = await start()
    const { store } = service.services
    const [all, a, ab, none] = [
      await subscribe(service, null),
      await subscribe(service, ofSymbol('A')),
      await subscribe(service, ofSymbol('A', 'B'), { enabled_events: ['pool.live'] }),
      await subscribe(service, { types: ['nft.*'] }),
    ]
    await happen(service, [...symbols('ABCA'), { type: 'pool.failed', object: { symbol: 'B' } }])
    await service.request('POST', `/v2/webhook-subscriptions/${none}/test`, { body: {} })
    expect(await fanOut(service.services)).toBe(false)
    const rows = await store.db.selectFrom('webhook_queue').selectAll().orderBy('sequence').execute()
    const of = (id: string) => rows.filter((row) => row.subscription_id === id).map(({ sequence }) => sequence)
    expect([all, a, ab, none].map(of)).toEqual([[1, 2, 3, 4, 5], [1, 4], [1, 2, 4], [6]])
    const [filtered, plain] = [a, all].map((id) => rows.find((row) => row.subscription_id === id)!)
    expect(filtered).toEqual({ ...plain, seq: filtered!.seq, subscription_id: a })
    const cursors = await store.db.selectFrom('webhook_subscriptions').select('cursor').execute()
    expect(new Set(cursors.map(({ cursor }) => cursor))).toEqual(new Set([6]))
  })

  it.skipIf(missing)(
    'are delivered with a gap in sequence, and a changed filter decides about later ones',
    async () => {
      const service = await start()
      const receiver = await startReceiver()
      const id = await subscribe(service, ofSymbol('A'), { url: receiver.url })
      await happen(service, symbols('ABA'))
      await fanOut(service.services)
      await service.request('PATCH', `/v2/webhook-subscriptions/${id}`, { body: { filter: ofSymbol('B') } })
      await happen(service, symbols('AB'))
      await deliverRound(service.services)
      // What was queued before the change is delivered, as after a change of the types.
      expect(receiver.all.map(({ sequence }) => sequence).sort()).toEqual([1, 3, 5])
    },
  )

  it.skipIf(missing)(
    'are replayed by the filter of the request in every step, and by id whatever the filter',
    async () => {
      const service = await start()
      await happen(service, symbols('AB'.repeat(700)))
      const id = await subscribe(service, ofSymbol('B'))
      const answer = (await replay(service, id, 0)).json.data
      expect(answer).toEqual({ queued: 250, through_sequence: 500, last_sequence: 1_400 })
      await service.request('PATCH', `/v2/webhook-subscriptions/${id}`, { body: { filter: ofSymbol('A') } })
      const position = { after: 0 }
      while (await advanceReplays(service.services, position));
      await service.services.store.write((tx) => tx.deleteFrom('webhook_queue').where('sequence', '<=', 500).execute())
      while (await advanceReplays(service.services, position));
      expect(await queued(service)).toEqual(numbers(450).map((n) => 502 + 2 * n))
      const first = (await service.request('GET', '/v2/events?order=asc&limit=1')).json.data[0].id
      const body = { event_ids: [first] }
      await service.request('POST', `/v2/webhook-subscriptions/${id}/replays`, { body })
      expect((await queued(service))[0]).toBe(1)
    },
  )

  it.skipIf(missing)('wait for finality only if the filter wants them', async () => {
    const service = await start()
    await subscribe(service, ofSymbol('A'), { commitment: 'finalized' })
    await happen(service, symbols('AB'))
    await fanOut(service.services)
    const states = () => service.services.store.db.selectFrom('webhook_queue').select(['sequence', 'state']).execute()
    expect(await states()).toEqual([{ sequence: 1, state: 'unfinal' }])
    expect(await releaseFinal(service.services, {})).toBe(true)
    expect(await states()).toEqual([{ sequence: 1, state: 'waiting' }])
  })
})

describe.each([
  ['SQLite', sqlite],
  ['PostgreSQL', 'missing' in postgres ? undefined : onPostgres(postgres)],
] as const)('The migration on %s', (_, database) => {
  it.skipIf(!database)('leaves earlier subscriptions, replays and attempts without filter and answer', async () => {
    const options = await database!.fresh()
    const names = migrationNames()
    await migratedUpTo(options, names[names.indexOf('0013-webhook-filters') - 1]!, async (db) => {
      await sql`insert into webhook_subscriptions
        (id, url, enabled_events_json, secret_preview, active, secret, created_at, updated_at)
        values ('whs_1', 'https://example.com/', '["*"]', 'abcd', 1, ${Buffer.from('x')}, 1, 1)`.execute(db)
      await sql`insert into webhook_deliveries (id, subscription_id, event_id, status, attempt, created_at)
        values ('whd_1', 'whs_1', 'evt_1', 'failed', 1, 7)`.execute(db)
    })
    const { db } = await opened(options)
    expect(await db.selectFrom('webhook_subscriptions').select(['id', 'filter_json']).execute()).toEqual([
      { id: 'whs_1', filter_json: null },
    ])
    expect(await db.selectFrom('webhook_deliveries').select(['id', 'response_body']).execute()).toEqual([
      { id: 'whd_1', response_body: null },
    ])
  })
})
