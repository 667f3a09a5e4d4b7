/** Replays from a moment on, and removals: exact in bounded steps, whatever clocks did and however slow the receiver is. */
import { describe, expect, it } from 'vitest'
import { deliverRound } from '../../src/operations/webhook-deliveries/deliver.ts'
import { advanceReplays, finishRemovals } from '../../src/operations/webhook-deliveries/enqueuing.ts'
import type { Store } from '../../src/store/store.ts'
import { insertRemoval } from '../../src/store/webhooks/subscriptions.ts'
import { numbers } from '../store/databases.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { startReceiver } from '../support/receiver.ts'
import { DATABASES, happen, open, queued, replay, startOn, subscribe } from './replaying.ts'

const postgres = await startPostgres()

describe.each(DATABASES)('on %s', (name) => {
  const missing = name === 'PostgreSQL' && 'missing' in postgres
  const start = () => startOn(name, postgres)

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
    expect([refused.status, refused.json.error.code, refused.json.error.param]).toEqual([400, 'bad_request', 'since'])
    // One that is done at once does not count.
    expect((await replay(service, id, '2030-01-01T00:00:00Z')).json.data).toEqual({
      ...{ queued: 0, through_sequence: 1_001, last_sequence: 1_001 },
    })
    await advanceReplays(service.services, { after: 0 })
    expect((await open(service)).length).toBe(10)
  })

  it.skipIf(missing)('every replay has its turn, however many of them have far to go', async () => {
    const service = await start()
    await happen(service, 9_000)
    for (const n of numbers(2)) {
      const id = await subscribe(service, `http://127.0.0.1:${9 + n}/hook`, ['pool.failed'])
      for (const _ of numbers(8)) expect((await replay(service, id, 0)).json.data.through_sequence).toBe(2_000)
    }
    const position = { after: 0 }
    for (const _ of numbers(3)) expect(await advanceReplays(service.services, position)).toBe(true)
    expect((await open(service)).every(({ through }) => through > 2_000)).toBe(true)
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
    expect(await rest(id)).toEqual([950, 0, 1])
    await finishRemovals(service.services, { after: 0 })
    // Attempts that were under way may still be recorded: it is looked after for a minute.
    expect(await rest(id)).toEqual([0, 0, 1])
    service.clock.advance(60_000)
    await finishRemovals(service.services, { after: 0 })
    expect(await rest(id)).toEqual([0, 0, 0])
    expect(await rest(other)).toEqual([1_000, 1, 0])
  })

  it.skipIf(missing)('deliveries do not wait until the queue of a removed subscription is deleted', async () => {
    const service = await start()
    const { store } = service.services
    const row = { subscription_id: 'whs_removed', resource: 'pool:x', state: 'waiting', attempts: 0 } as const
    await store.write(async (tx) => {
      await insertRemoval(tx, 'whs_removed', service.clock.now())
      for (let from = 0; from < 1_000; from += 500) {
        const rows = numbers(500).map((n) => ({
          ...row,
          event_id: `evt_${from + n}`,
          sequence: from + n,
          next_attempt_at: 0,
          claimed_until: 0,
        }))
        await tx.insertInto('webhook_queue').values(rows).execute()
      }
    })
    await subscribe(service, 'http://127.0.0.1:9/hook')
    await happen(service, 5)
    let sent = 0
    let allSent = () => {}
    const afterAll = new Promise<void>((done) => {
      allSent = done
    })
    const slow: Store = {
      ...store,
      async write(work) {
        const worked = await store.write(work)
        // A step of the removal returns how many rows it deleted. It lasts until everything is sent.
        if (typeof worked === 'number' && worked > 0) await afterAll
        return worked
      },
    }
    await deliverRound(
      { ...service.services, store: slow },
      {
        async send() {
          if (++sent === 5) allSent()
          return { status: 200, error: null, duration_ms: 1 }
        },
      },
    )
    expect(sent).toBe(5)
    expect(await queued(service)).toEqual([])
  })

  it.skipIf(missing)('events that happen while a removed subscription is deleted do not wait for it', async () => {
    const service = await start()
    const { store } = service.services
    await store.write((tx) => insertRemoval(tx, 'whs_removed', service.clock.now()))
    await subscribe(service, 'http://127.0.0.1:9/hook')
    let [sent, steps] = [0, 0]
    const MOST_STEPS = 500
    const long: Store = {
      ...store,
      async write(work) {
        const worked = await store.write(work)
        // A step of the removal returns how many rows it deleted. There seem to be more until everything is sent.
        if (typeof worked !== 'number' || sent === 5 || steps === MOST_STEPS) return worked
        if (steps++ === 0) await happen(service, 5)
        return 1_000 as typeof worked
      },
    }
    await deliverRound(
      { ...service.services, store: long },
      { send: async () => ({ status: 200, error: null, duration_ms: ++sent }) },
    )
    expect(sent).toBe(5)
    expect(steps).toBeLessThan(MOST_STEPS)
  })
})
