/** Replays from a moment on, and removals: exact in bounded steps, whatever clocks did and however slow the receiver is. */
import { afterAll, describe, expect, it } from 'vitest'
import { deliverRound } from '../../src/operations/webhook-deliveries/deliver.ts'
import { fanOut } from '../../src/operations/webhook-deliveries/fan-out.ts'
import { finishRemovals } from '../../src/operations/webhook-deliveries/removals.ts'
import { advanceReplays } from '../../src/operations/webhook-deliveries/replay.ts'
import { appendEvents } from '../../src/store/events.ts'
import { newId } from '../../src/store/id.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { startReceiver } from '../support/receiver.ts'
import { type Service, startService } from '../support/service.ts'

const postgres = await startPostgres()
afterAll(async () => {
  if (!('missing' in postgres)) await postgres.stop()
})

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n)

const happen = ({ services: { store, clock } }: Service, count: number, type = 'pool.live', at = clock.now()) =>
  store.write((tx) =>
    appendEvents(
      tx,
      numbers(count).map((n) => ({
        id: newId('evt'),
        type,
        resource_type: 'pool',
        resource_id: `pool-${n}`,
        object_json: '{}',
        external_uid: null,
        metadata_json: null,
        dedupe_key: newId('x'),
        created_at: at,
      })),
    ),
  )

const subscribe = async ({ request }: Service, url: string, enabled_events = ['*']): Promise<string> => {
  const body = { url, enabled_events }
  return (await request('POST', '/v2/webhook-subscriptions', { body })).json.data.id
}
const replay = async ({ request }: Service, id: string, since: unknown) =>
  request('POST', `/v2/webhook-subscriptions/${id}/replays`, { body: { since } })

const queued = async ({ services: { store } }: Service) =>
  (await store.db.selectFrom('webhook_queue').select('sequence').orderBy('sequence').execute()).map(
    (row) => row.sequence,
  )
const open = ({ services: { store } }: Service) => store.db.selectFrom('webhook_replays').selectAll().execute()

describe.each(['SQLite', 'PostgreSQL'])('on %s', (name) => {
  const missing = name === 'PostgreSQL' && 'missing' in postgres
  const start = async () =>
    startService({
      settings: {
        'webhooks.allow-private': true,
        ...(name === 'PostgreSQL' && !('missing' in postgres)
          ? { 'database-url': await postgres.createDatabase(), 'encryption-key': '7'.repeat(64) }
          : {}),
      },
    })

  it.skipIf(missing)(
    'a replay queues a first step at once, says how far it came, and goes on as the receiver keeps up',
    async () => {
      const service = await start()
      const receiver = await startReceiver()
      await happen(service, 3_000)
      const id = await subscribe(service, receiver.url)
      const answer = await replay(service, id, 0)
      expect(answer.json.data).toEqual({ queued: 1_000, through_sequence: 1_000, last_sequence: 3_000 })
      // The receiver has a thousand before it: no more are queued for now.
      await advanceReplays(service.services)
      expect((await queued(service)).length).toBe(1_000)
      await deliverRound(service.services)
      expect(receiver.all.map(({ sequence }) => sequence).toSorted((a, b) => a - b)).toEqual(
        numbers(3_000).map((n) => n + 1),
      )
      expect(await open(service)).toEqual([])
    },
  )

  it.skipIf(missing)('what happens meanwhile does not wait for a replay, and comes once', async () => {
    const service = await start()
    const receiver = await startReceiver()
    await happen(service, 2_500, 'token.created')
    const id = await subscribe(service, receiver.url)
    await happen(service, 4)
    // It has not come to the last four yet.
    expect((await replay(service, id, 0)).json.data).toEqual({
      queued: 1_000,
      through_sequence: 1_000,
      last_sequence: 2_504,
    })
    const { store } = service.services
    await store.write((tx) => tx.deleteFrom('webhook_queue').execute())
    await fanOut(service.services)
    expect(await queued(service)).toEqual([2_501, 2_502, 2_503, 2_504])
    await deliverRound(service.services)
    const all = receiver.all.map(({ sequence }) => sequence)
    expect(all.toSorted((a, b) => a - b)).toEqual(numbers(1_504).map((n) => n + 1_001))
    // By the order of events they would come last of all.
    const places = [2_501, 2_502, 2_503, 2_504].map((sequence) => all.indexOf(sequence))
    expect(Math.max(...places)).toBeLessThan(200)
  })

  it.skipIf(missing)(
    'a replay from a moment on takes what happened then by its own time, though clocks had jumped',
    async () => {
      const service = await start()
      const receiver = await startReceiver()
      const at = service.clock.now()
      const ages = [50, 10, 70, 90, 20, 30, 5, 60]
      for (const age of ages) await happen(service, 1, 'pool.live', at - age * 1_000)
      const id = await subscribe(service, receiver.url)
      await replay(service, id, new Date(at - 30_000).toISOString())
      expect(await queued(service)).toEqual([2, 5, 6, 7])
      const after = new Date(at - 60_000).toISOString()
      for (const order of ['asc', 'desc']) {
        const { data } = (await service.request('GET', `/v2/events?created_after=${after}&order=${order}`)).json
        const sequences = data.map((event: { sequence: number }) => event.sequence)
        expect(sequences).toEqual(order === 'asc' ? [1, 2, 5, 6, 7] : [7, 6, 5, 2, 1])
      }
    },
  )

  it.skipIf(missing)('at most ten replays of one subscription are under way at a time', async () => {
    const service = await start()
    await happen(service, 1_001)
    const id = await subscribe(service, 'http://127.0.0.1:9/hook')
    await service.request('PATCH', `/v2/webhook-subscriptions/${id}`, { body: { active: false } })
    for (const _ of numbers(10)) expect((await replay(service, id, 0)).status).toBe(200)
    const refused = await replay(service, id, 0)
    expect([refused.status, refused.json.error.code, refused.json.error.param]).toEqual([409, 'conflict', 'since'])
    // One that is done at once is none of them.
    expect((await replay(service, id, '2030-01-01T00:00:00Z')).json.data).toEqual({
      ...{ queued: 0, through_sequence: 1_001, last_sequence: 1_001 },
    })
    await advanceReplays(service.services)
    expect((await open(service)).length).toBe(10)
  })

  it.skipIf(missing)('a removed subscription takes its replays, queue and attempts with it, in steps', async () => {
    const service = await start()
    const receiver = await startReceiver()
    await happen(service, 2_000)
    const [id, other] = [await subscribe(service, receiver.url), await subscribe(service, receiver.url)]
    for (const one of [id, other]) await replay(service, one, 0)
    const rest = async (one: string) => {
      const { db } = service.services.store
      const count = async (table: 'webhook_queue' | 'webhook_replays' | 'webhook_removals') =>
        (await db.selectFrom(table).select('seq').where('subscription_id', '=', one).execute()).length
      return [await count('webhook_queue'), await count('webhook_replays'), await count('webhook_removals')]
    }
    expect((await service.request('DELETE', `/v2/webhook-subscriptions/${id}`)).status).toBe(200)
    expect(await rest(id)).toEqual([500, 0, 1])
    await finishRemovals(service.services)
    // Attempts that were under way may still be recorded: it is looked after for a minute.
    expect(await rest(id)).toEqual([0, 0, 1])
    service.clock.advance(60_000)
    await finishRemovals(service.services)
    expect(await rest(id)).toEqual([0, 0, 0])
    expect(await rest(other)).toEqual([1_000, 1, 0])
  })
})
