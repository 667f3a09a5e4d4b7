/** Deliveries to real receivers: in order, by the retry table, once by any number of daemons, never unsigned. */
import { createHmac } from 'node:crypto'
import { sql } from 'kysely'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { deliverRound } from '../../src/operations/webhook-deliveries/deliver.ts'
import type { SendResult } from '../../src/operations/webhook-deliveries/send.ts'
import { appendEvents } from '../../src/store/events/events.ts'
import { newId } from '../../src/store/id.ts'
import type { Store } from '../../src/store/store.ts'
import { numbers } from '../store/databases.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { cataloguedTypes } from '../support/event-catalog.ts'
import { type Delivered, startReceiver } from '../support/receiver.ts'
import { inSoak, runs } from '../support/runs.ts'
import { type Service, startService, testClock } from '../support/service.ts'

/** More than a subscription may have under way, all delivered before a silent receiver's ten seconds are over. */
const MANY = 100
const postgres = await startPostgres()
const ALLOWED = { settings: { 'webhooks.allow-private': true } }
const SECOND = 1_000

const subscribe = async ({ request }: Service, url: string, enabled_events: string[] = ['*']) => {
  const { status, json, text } = await request('POST', '/v2/webhook-subscriptions', { body: { url, enabled_events } })
  expect(status, text).toBe(201)
  return json.data as { id: string; secret: string }
}
/** Events about `resources` things in turn. */
const happen = ({ services: { store, clock } }: Service, count: number, resources = count, type = 'pool.live') =>
  store.write((tx) =>
    appendEvents(
      tx,
      numbers(count).map((n) => ({
        id: newId('evt'),
        type,
        resource_type: 'pool',
        resource_id: `pool-${n % resources}`,
        object_json: JSON.stringify({ n }),
        external_uid: null,
        metadata_json: null,
        dedupe_key: `${newId('x')}`,
        created_at: clock.now(),
      })),
    ),
  )
const deliver = ({ services }: Service) => deliverRound(services)
const sequencesOf = (all: readonly Delivered[]) => all.map(({ sequence }) => sequence)

/** The signature as spec says it. */
const v1 = ({ headers, body }: Delivered, key: string) => {
  const header = String(headers['x-service-signature'])
  const t = /^t=(\d+)/.exec(header)![1]
  return header.includes(`v1=${createHmac('sha256', key).update(`${t}.${body}`).digest('hex')}`)
}
/** The signature as the package of Standard Webhooks makes it. */
const standard = ({ headers, body }: Delivered, key: string) => {
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const
  const own = Object.fromEntries(names.map((name) => [name, String(headers[name])]))
  // The package looks at the clock of the machine: the time is checked apart from it.
  const hook = new Webhook(key)
  const at = new Date(Number(own['webhook-timestamp']) * 1000)
  const expected = hook.sign(own['webhook-id']!, at, body)
  return own['webhook-signature']!.split(' ').includes(expected)
}

describe('events that are larger than any that is written today', () => {
  it('are delivered whole, one at a time, and hold up no others', async () => {
    const service = await startService(ALLOWED)
    const receiver = await startReceiver()
    await subscribe(service, receiver.url)
    await happen(service, 40)
    const note = 'x'.repeat(2 * 1024 * 1024)
    const { store } = service.services
    await store.write((tx) =>
      tx
        .updateTable('events')
        .set({ metadata_json: JSON.stringify({ note }) })
        .where('sequence', '<=', 4)
        .execute(),
    )
    let [large, most, small] = [0, 0, 0]
    await deliverRound(service.services, {
      async send({ body }) {
        const isLarge = body.length > note.length
        if (isLarge) most = Math.max(most, ++large)
        else small++
        await new Promise((settle) => setTimeout(settle, 5))
        if (isLarge) large--
        expect(JSON.parse(String(body)).metadata?.note.length).toBe(isLarge ? note.length : undefined)
        return { status: 200, error: null, duration_ms: 1 }
      },
    })
    expect([most, small]).toEqual([1, 36])
    const { json } = await service.request('GET', '/v2/events?limit=1')
    expect(json.data[0].sequence).toBe(40)
    expect(await store.db.selectFrom('webhook_queue').selectAll().execute()).toEqual([])
    const delivered = await store.db.selectFrom('webhook_deliveries').select(['status', 'attempt']).execute()
    expect(delivered).toEqual(Array(40).fill({ status: 'succeeded', attempt: 1 }))
  })
})

describe('a subscription', () => {
  it('gets what happens from then on, of the types that it wants, with the whole event as the body', async () => {
    const service = await startService(ALLOWED)
    await happen(service, 2)
    const [everything, live] = [await startReceiver(), await startReceiver()]
    await subscribe(service, everything.url)
    await subscribe(service, live.url, ['pool.live'])
    await happen(service, 2)
    await happen(service, 1, 1, 'token.created')
    await deliver(service)
    expect(sequencesOf(everything.all).toSorted()).toEqual([3, 4, 5])
    expect(sequencesOf(live.all).toSorted()).toEqual([3, 4])
    const { data } = (await service.request('GET', '/v2/events?order=asc')).json
    for (const { sequence, body } of everything.all) expect(JSON.parse(body)).toEqual(data[sequence - 1])
    await deliver(service)
    expect(everything.all).toHaveLength(3)
  })

  it('is signed in both ways, and by both secrets while one takes over from the other', async () => {
    const service = await startService(ALLOWED)
    const receiver = await startReceiver()
    const { id, secret } = await subscribe(service, receiver.url)
    await happen(service, 1)
    await deliver(service)
    const rotated = await service.request('POST', `/v2/webhook-subscriptions/${id}/secret-rotations`, {
      body: { overlap_hours: 1 },
    })
    const next: string = rotated.json.data.secret
    await happen(service, 1)
    await deliver(service)
    service.clock.advance(3_600_001)
    await happen(service, 1)
    await deliver(service)
    const verified = receiver.all.map((one) => [secret, next].map((key) => [v1(one, key), standard(one, key)]))
    expect(verified).toEqual([
      [
        [true, true],
        [false, false],
      ],
      [
        [true, true],
        [true, true],
      ],
      [
        [false, false],
        [true, true],
      ],
    ])
    expect(receiver.all.map(({ id, headers }) => headers['webhook-id'] === id)).toEqual([true, true, true])
  })

  it('is tried seven times by the table, to the second, then switched off; PATCH brings the event', async () => {
    const service = await startService(ALLOWED)
    const receiver = await startReceiver(() => 503)
    const { id } = await subscribe(service, receiver.url)
    await happen(service, 1)
    const waits = [30, 120, 600, 3_600, 21_600, 86_400]
    await deliver(service)
    for (const [i, seconds] of waits.entries()) {
      service.clock.advance(seconds * SECOND - 1)
      await deliver(service)
      expect(receiver.all, `before attempt ${i + 2}`).toHaveLength(i + 1)
      service.clock.advance(1)
      await deliver(service)
      expect(receiver.all, `attempt ${i + 2}`).toHaveLength(i + 2)
    }
    const { data } = (await service.request('GET', `/v2/webhook-subscriptions/${id}`)).json
    expect(data).toMatchObject({ active: false, disabled_reason: expect.stringMatching(/failed 7 times.*503/) })
    const { waiting } = (await service.request('GET', '/v2/health/workers')).json.data
    expect(waiting).toEqual([{ kind: 'webhook', id, reason: data.disabled_reason, next_try_at: null }])
    const tried = (await service.request('GET', `/v2/webhook-subscriptions/${id}/deliveries`)).json.data
    expect(
      tried.map(({ attempt, status, response_code }: Record<string, unknown>) => [attempt, status, response_code]),
    ).toEqual([7, 6, 5, 4, 3, 2, 1].map((attempt) => [attempt, 'failed', 503]))
    await happen(service, 2)
    service.clock.advance(30 * 86_400_000)
    await deliver(service)
    expect(receiver.all).toHaveLength(7)
    receiver.answer = () => 200
    await service.request('PATCH', `/v2/webhook-subscriptions/${id}`, { body: { active: true } })
    await deliver(service)
    expect(sequencesOf(receiver.all.slice(7)).toSorted()).toEqual([1, 2, 3])
    expect(new Set(receiver.all.filter(({ sequence }) => sequence === 1).map(({ id }) => id)).size).toBe(1)
  })

  it.skipIf(!inSoak)(
    'gets first attempts about one thing in order, whatever else fails or is slow',
    { tags: 'sampled' },
    async () => {
      const service = await startService(ALLOWED)
      let n = 0
      const receiver = await startReceiver(() => (++n % 3 === 0 ? 500 : n % 7 === 0 ? -40 : 200))
      await subscribe(service, receiver.url)
      await happen(service, 100, 11)
      await deliver(service)
      const firsts = new Map<string, number[]>()
      for (const { about, sequence } of receiver.all) firsts.set(about, [...(firsts.get(about) ?? []), sequence])
      expect(receiver.all).toHaveLength(100)
      for (const sequences of firsts.values()) expect(sequences).toEqual(sequences.toSorted((a, b) => a - b))
      service.clock.advance(30 * SECOND)
      await deliver(service)
      expect(new Set(sequencesOf(receiver.all)).size).toBe(100)
    },
  )

  it.skipIf(!inSoak)(
    'that never answers delays no other, and its own deliveries fail after ten seconds',
    { tags: 'sampled' },
    async () => {
      const service = await startService(ALLOWED)
      const [silent, quick] = [await startReceiver(() => 0), await startReceiver()]
      await subscribe(service, silent.url)
      await subscribe(service, quick.url)
      await happen(service, MANY)
      const round = deliver(service)
      await expect.poll(() => quick.all.length).toBe(MANY)
      expect(silent.all.length).toBeLessThanOrEqual(32)
      await silent.close()
      await round
    },
  )

  it('gets many events about one thing in order', { tags: 'sampled' }, async () => {
    const service = await startService(ALLOWED)
    const receiver = await startReceiver()
    await subscribe(service, receiver.url)
    const count = runs(50, 200)
    await happen(service, count, 1)
    await deliver(service)
    expect(sequencesOf(receiver.all)).toEqual(numbers(count).map((n) => n + 1))
    const left = await service.services.store.db.selectFrom('webhook_queue').selectAll().execute()
    expect(left).toEqual([])
  })

  it('whose secret cannot be read is switched off with the reason, and nothing is sent', async () => {
    const service = await startService(ALLOWED)
    const receiver = await startReceiver()
    const { id } = await subscribe(service, receiver.url)
    await service.services.store.write((tx) =>
      tx
        .updateTable('webhook_subscriptions')
        .set({ secret: Buffer.from('broken') })
        .execute(),
    )
    await happen(service, 1)
    await deliver(service)
    expect(receiver.all).toEqual([])
    const { data } = (await service.request('GET', `/v2/webhook-subscriptions/${id}`)).json
    expect(data).toMatchObject({ active: false, disabled_reason: expect.stringContaining('rotate the secret') })
    await service.request('POST', `/v2/webhook-subscriptions/${id}/secret-rotations`, { body: {} })
    await service.request('PATCH', `/v2/webhook-subscriptions/${id}`, { body: { active: true } })
    await deliver(service)
    expect(receiver.all).toHaveLength(1)
  })

  it('whose stored secret is that of another is switched off, and nothing is sent', async () => {
    const service = await startService(ALLOWED)
    const [owner, stranger] = [await startReceiver(), await startReceiver()]
    const { id } = await subscribe(service, owner.url)
    const { id: copied } = await subscribe(service, stranger.url)
    const { db, write } = service.services.store
    const stored = db.selectFrom('webhook_subscriptions').select('secret').where('id', '=', id)
    const { secret } = await stored.executeTakeFirstOrThrow()
    await write((tx) => tx.updateTable('webhook_subscriptions').set({ secret }).where('id', '=', copied).execute())
    await happen(service, 1)
    await deliver(service)
    expect([owner.all.length, stranger.all.length]).toEqual([1, 0])
    expect((await service.request('GET', `/v2/webhook-subscriptions/${copied}`)).json.data.active).toBe(false)
  })

  it('is tested with an event of its own, which no other gets', async () => {
    const service = await startService(ALLOWED)
    const [one, other] = [await startReceiver(), await startReceiver()]
    const { id } = await subscribe(service, one.url, ['pool.live'])
    await subscribe(service, other.url)
    await service.request('POST', `/v2/webhook-subscriptions/${id}/test`)
    await deliver(service)
    expect([one.all.map(({ type }) => type), other.all]).toEqual([['webhook.test_event'], []])
    expect(await cataloguedTypes(service)).toEqual(['webhook.test_event'])
  })

  it('stays as it is, to its time of change, where a PATCH says nothing new', async () => {
    const service = await startService(ALLOWED)
    const { url } = await startReceiver()
    const { id } = await subscribe(service, url)
    const patch = async (body: object) =>
      (await service.request('PATCH', `/v2/webhook-subscriptions/${id}`, { body })).json.data
    service.clock.advance(SECOND)
    const off = await patch({ active: false })
    expect(off).toMatchObject({ active: false, updated_at: new Date(service.clock.now()).toISOString() })
    service.clock.advance(SECOND)
    for (const body of [{}, { url }, { enabled_events: ['*'] }, { active: false, url }]) {
      expect(await patch(body), JSON.stringify(body)).toEqual(off)
    }
    expect(await patch({ active: true })).toEqual({
      ...off,
      active: true,
      disabled_reason: null,
      updated_at: new Date(service.clock.now()).toISOString(),
    })
  })

  it('keeps an event type once that was named twice, when it is made and when it is changed', async () => {
    const service = await startService(ALLOWED)
    const { url } = await startReceiver()
    const { id } = await subscribe(service, url, ['pool.live', 'webhook.test_event', 'pool.live'])
    const path = `/v2/webhook-subscriptions/${id}`
    const made = (await service.request('GET', path)).json.data
    expect(made.enabled_events).toEqual(['pool.live', 'webhook.test_event'])
    const patch = async (enabled_events: string[]) =>
      (await service.request('PATCH', path, { body: { enabled_events } })).json.data
    service.clock.advance(SECOND)
    expect(await patch(['pool.live', 'pool.live', 'webhook.test_event'])).toMatchObject({ updated_at: made.updated_at })
    expect((await patch(['*'])).enabled_events).toEqual(['*'])
    expect((await patch(['token.created', 'token.created'])).enabled_events).toEqual(['token.created'])
    expect((await service.request('GET', path)).json.data.enabled_events).toEqual(['token.created'])
  })

  it('gets events again: by id, and from a moment on', async () => {
    const service = await startService(ALLOWED)
    const receiver = await startReceiver()
    const { id } = await subscribe(service, receiver.url)
    await happen(service, 2)
    service.clock.advance(10 * SECOND)
    const moment = service.clock.now()
    await happen(service, 3)
    await deliver(service)
    const [first] = receiver.all
    const replay = (body: object) => service.request('POST', `/v2/webhook-subscriptions/${id}/replays`, { body })
    expect((await replay({ event_ids: [first!.id, first!.id] })).json.data).toEqual({ queued: 1 })
    await deliver(service)
    expect(receiver.all.at(-1)!.id).toBe(first!.id)
    expect((await replay({ since: new Date(moment).toISOString() })).json.data).toEqual({
      queued: 3,
      through_sequence: 5,
      last_sequence: 5,
    })
    await deliver(service)
    expect(sequencesOf(receiver.all.slice(6)).toSorted()).toEqual([3, 4, 5])
    const unknown = await replay({ event_ids: [first!.id, 'evt_nobody'] })
    expect([unknown.status, unknown.json.error.param]).toEqual([404, 'event_ids.1'])
  })
})

const FAILED: SendResult = { status: 503, error: 'answered 503', duration_ms: 1 }

/** What holds on either database. */
const onBoth = (settings: () => Promise<Record<string, unknown>>) => {
  it('gets once, and in order, what is replayed before it has come to it, whatever its type', async () => {
    const service = await startService({ settings: await settings() })
    const receiver = await startReceiver()
    const { id } = await subscribe(service, receiver.url, ['pool.live'])
    const [path, replay] = [`/v2/webhook-subscriptions/${id}`, `/v2/webhook-subscriptions/${id}/replays`]
    await service.request('PATCH', path, { body: { active: false } })
    // One thing: of another type the second, the fourth and all after the sixth.
    for (const type of ['pool.live', 'pool.created', 'pool.live', 'pool.failed', 'pool.live', 'pool.live']) {
      await happen(service, 1, 1, type)
    }
    await happen(service, 600, 600, 'pool.created')
    const { data } = (await service.request('GET', '/v2/events?order=asc&limit=100')).json
    const ids = (sequences: number[]) => sequences.map((sequence) => data[sequence - 1].id)
    const named = await service.request('POST', replay, { body: { event_ids: ids([4, 3, 2]) } })
    expect([named.status, named.json.data]).toEqual([200, { queued: 3 }])
    const since = await service.request('POST', replay, { body: { since: 0 } })
    expect([since.status, since.json.data]).toEqual([200, { queued: 4, through_sequence: 606, last_sequence: 606 }])
    // What it asks for afterwards changes nothing of what was promised.
    await service.request('PATCH', path, { body: { enabled_events: ['token.created'] } })
    await deliver(service)
    expect(receiver.all).toEqual([])
    await service.request('PATCH', path, { body: { active: true } })
    await deliver(service)
    expect(sequencesOf(receiver.all)).toEqual([1, 2, 3, 4, 5, 6])
  })

  it.skipIf(!inSoak)(
    'is not delayed by more replays before its place than its backlog may hold',
    { tags: 'sampled' },
    async () => {
      const service = await startService({ settings: await settings() })
      const receiver = await startReceiver()
      const { id } = await subscribe(service, receiver.url, ['pool.live'])
      await service.request('PATCH', `/v2/webhook-subscriptions/${id}`, { body: { active: false } })
      await happen(service, 501, 501, 'token.created')
      await happen(service, 600)
      const { json } = await service.request('POST', `/v2/webhook-subscriptions/${id}/replays`, { body: { since: 0 } })
      expect(json.data).toEqual({ queued: 600, through_sequence: 1101, last_sequence: 1101 })
      await service.request('PATCH', `/v2/webhook-subscriptions/${id}`, { body: { active: true } })
      await deliver(service)
      expect(sequencesOf(receiver.all).toSorted((a, b) => a - b)).toEqual(numbers(600).map((n) => n + 502))
    },
  )

  it('is signed with every secret for as long as it was promised, however often it is rotated', async () => {
    const service = await startService({ settings: await settings() })
    const receiver = await startReceiver()
    const { id, secret } = await subscribe(service, receiver.url)
    const rotate = (body: object) =>
      service.request('POST', `/v2/webhook-subscriptions/${id}/secret-rotations`, { body })
    /** Which of the secrets sign the next delivery, in both ways. */
    const signing = async (secrets: readonly string[]) => {
      await happen(service, 1)
      await deliver(service)
      const last = receiver.all.at(-1)!
      return secrets.map((key) => v1(last, key) && standard(last, key))
    }
    const together = await Promise.all([rotate({}), rotate({ overlap_hours: 1 }), rotate({})])
    expect(together.map(({ status }) => status)).toEqual([200, 200, 200])
    const secrets = [secret, ...together.map(({ json }) => json.data.secret as string)]
    expect(await signing(secrets)).toEqual([true, true, true, true])
    const again = [await rotate({}), await rotate({})]
    secrets.push(...again.map(({ json }) => json.data.secret))
    const sixth = await rotate({})
    expect([sixth.status, sixth.json.error.code, sixth.json.error.param]).toEqual([400, 'bad_request', 'overlap_hours'])
    expect(sixth.json.error).toMatchObject({
      message: expect.stringMatching(/^overlap_hours: 5 earlier secrets still sign.*overlap_hours: 0/),
      details: { previous_secrets: 5, next_expires_at: new Date(service.clock.now() + 3_600_000).toISOString() },
    })
    expect(await signing(secrets)).toEqual(secrets.map(() => true))
    service.clock.advance(3_600_001)
    expect((await signing(secrets)).filter((signs) => !signs)).toEqual([false])
    const leaked = await rotate({ overlap_hours: 0 })
    expect(leaked.json.data.previous_secret_expires_at).toBeNull()
    expect(await signing([...secrets, leaked.json.data.secret])).toEqual([...secrets.map(() => false), true])
  })

  it.skipIf(!inSoak)(
    'is switched off by the seventh failure unless its receiver was set anew meanwhile',
    { tags: 'sampled' },
    async () => {
      const service = await startService({ settings: await settings() })
      const another = await startReceiver()
      /** Lets one event fail seven times; `during` happens while the last attempt is under way. */
      const failing = async (during: (path: string) => Promise<unknown>) => {
        const { url } = await startReceiver()
        const { id } = await subscribe(service, url)
        const path = `/v2/webhook-subscriptions/${id}`
        await happen(service, 1)
        let attempts = 0
        const send = async () => {
          service.clock.advance(1)
          if (++attempts === 7) await during(path)
          return FAILED
        }
        while (attempts < 7) {
          await deliverRound(service.services, { send })
          service.clock.advance(86_400_000)
        }
        const { active } = (await service.request('GET', path)).json.data
        await service.request('DELETE', path)
        return active
      }
      const change = (body: object) => (path: string) => service.request('PATCH', path, { body })
      expect(await failing(async () => {})).toBe(false)
      expect(await failing((path) => service.request('POST', `${path}/secret-rotations`))).toBe(false)
      expect(await failing(change({}))).toBe(false)
      expect(await failing(change({ active: true }))).toBe(false)
      expect(await failing(change({ enabled_events: ['pool.live'] }))).toBe(false)
      expect(await failing(change({ url: another.url }))).toBe(true)
      const offAndOn = async (path: string) => {
        await change({ active: false })(path)
        await change({ active: true })(path)
      }
      expect(await failing(offAndOn)).toBe(true)
    },
  )
}
describe('a subscription on SQLite', () => onBoth(async () => ALLOWED.settings))

const server = postgres
if ('missing' in server) it.skip(`PostgreSQL cannot be run here (${server.missing})`, () => {})
else {
  const shared = async () => ({
    'postgres.pool-timeout-ms': 60_000,
    'database-url': await server.createMigratedDatabase(),
    'encryption-key': 'ab'.repeat(32),
    ...ALLOWED.settings,
  })
  describe('a subscription on PostgreSQL', () => onBoth(shared))

  it('gets what fails for the last time while it is switched on again, though another daemon wrote that', async () => {
    const settings = await shared()
    const clock = testClock()
    const [one, two] = [await startService({ settings, clock }), await startService({ settings, clock })]
    const { id } = await subscribe(one, (await startReceiver()).url)
    const path = `/v2/webhook-subscriptions/${id}`
    const switched = (active: boolean) => two.request('PATCH', path, { body: { active } })
    await happen(one, 1)
    const queued = () => two.services.store.db.selectFrom('webhook_queue').select('state').execute()
    let attempts = 0
    const attempt = async (services: typeof one.services) => {
      const send = async () => {
        if (++attempts === 7) await switched(false)
        return FAILED
      }
      await deliverRound(services, { send })
      clock.advance(86_400_000)
    }
    for (const _ of numbers(6)) await attempt(one.services)
    // The seventh failure is written, and not yet committed, when the subscription is switched on.
    let failed = () => {}
    const failing = new Promise<void>((done) => {
      failed = done
    })
    let isOver = false
    const switching = failing
      .then(() => switched(true))
      .finally(() => {
        isOver = true
      })
    const isWaiting = sql<{ pid: number }>`select pid from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`
    const store: Store = {
      ...one.services.store,
      write: (work) =>
        one.services.store.write(async (tx) => {
          const worked = await work(tx)
          const held = await tx.selectFrom('webhook_queue').select('seq').where('state', '=', 'held').execute()
          if (held.length === 0) return worked
          failed()
          await expect
            .poll(async () => isOver || (await isWaiting.execute(two.services.store.db)).rows.length)
            .toBeTruthy()
          return worked
        }),
    }
    await attempt({ ...one.services, store })
    expect((await switching).json.data.active).toBe(true)
    expect(await queued()).toEqual([{ state: 'waiting' }])
  })

  it('two daemons on one PostgreSQL database deliver 100 events once', async () => {
    const settings = await shared()
    const clock = testClock()
    const [one, two] = [await startService({ settings, clock }), await startService({ settings, clock })]
    const receiver = await startReceiver()
    await subscribe(one, receiver.url)
    await happen(one, 100, 20)
    await Promise.all([deliver(one), deliver(two)])
    // What was not delivered says why: an attempt that failed waits for its next, one without a record for its claim.
    const { db } = one.services.store
    const failed = db.selectFrom('webhook_deliveries').select(['event_id', 'attempt', 'error'])
    const left = db.selectFrom('webhook_queue').select(['sequence', 'attempts', 'next_attempt_at', 'claimed_until'])
    expect({
      sequences: sequencesOf(receiver.all).toSorted((a, b) => a - b),
      failed: await failed.where('status', '=', 'failed').execute(),
      left: await left.execute(),
    }).toEqual({ sequences: numbers(100).map((n) => n + 1), failed: [], left: [] })
  })
}
