/** Results of deliveries are written together, and none is lost with another or with a database that is busy. */
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { deliverRound } from '../../src/operations/webhook-deliveries/deliver.ts'
import type { Store } from '../../src/store/store.ts'
import { insertWebhookDeliveries } from '../../src/store/webhooks/deliveries.ts'
import { claimQueued, deleteQueued, giveBack } from '../../src/store/webhooks/queue.ts'
import { databaseBusy } from '../../src/store/writing/work.ts'
import { numbers } from '../store/databases.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { startReceiver } from '../support/receiver.ts'
import type { Service } from '../support/service.ts'
import { DATABASES, happen, queued, replay, startOn, subscribe } from './replaying.ts'

const postgres = await startPostgres()

const statuses = async ({ services: { store } }: Service) =>
  (await store.db.selectFrom('webhook_deliveries').select('status').execute()).map(({ status }) => status)

describe.each(DATABASES)('on %s', (name) => {
  const missing = name === 'PostgreSQL' && 'missing' in postgres
  const start = () => startOn(name, postgres)

  it.skipIf(missing)('what a busy database refuses is written later, and nothing is delivered again', async () => {
    const service = await start()
    const receiver = await startReceiver()
    await subscribe(service, receiver.url)
    await happen(service, 40)
    const { store } = service.services
    let refused = 0
    const busy: Store = {
      ...store,
      // Once something was delivered, the next writes are those of results.
      write: (work) =>
        receiver.all.length > 0 && refused++ < 3 ? Promise.reject(databaseBusy(undefined)) : store.write(work),
    }
    // The clock stands still: a claim whose result was lost would never end.
    await deliverRound({ ...service.services, store: busy })
    expect(refused).toBeGreaterThanOrEqual(3)
    expect(receiver.all.map(({ sequence }) => sequence).toSorted((a, b) => a - b)).toEqual(
      numbers(40).map((n) => n + 1),
    )
    expect([await queued(service), await statuses(service)]).toEqual([[], Array(40).fill('succeeded')])
  })

  it.skipIf(missing)('lists of any length are claimed, given back, deleted and recorded, each row once', async () => {
    const service = await start()
    const { store } = service.services
    await happen(service, 1_000)
    const id = await subscribe(service, 'http://127.0.0.1:9/hook')
    await replay(service, id, 0)
    const rows = await store.db.selectFrom('webhook_queue').select(['seq', 'event_id']).orderBy('seq').execute()
    let from = 0
    for (const length of [1, 2, 256, 513]) {
      const some = rows.slice(from, from + length)
      const seqs = some.map(({ seq }) => seq)
      const claims = seqs.map((seq) => ({ seq, claimed_until: 2 }))
      await store.write(async (tx) => {
        expect(await claimQueued(tx, seqs, { now: 1, until: 2 })).toEqual(new Set(seqs))
        expect(await claimQueued(tx, seqs, { now: 1, until: 2 })).toEqual(new Set())
        for (const claim of claims) expect(await giveBack(tx, claim)).toBe(true)
        expect(await giveBack(tx, claims[0]!)).toBe(false)
        expect(await claimQueued(tx, seqs, { now: 1, until: 2 })).toEqual(new Set(seqs))
        // One that another process has claimed meanwhile is left to it.
        expect(await deleteQueued(tx, [{ seq: claims[0]!.seq, claimed_until: 3 }])).toEqual(new Set())
        expect(await deleteQueued(tx, claims)).toEqual(new Set(seqs))
        await insertWebhookDeliveries(
          tx,
          some.map(({ seq, event_id }) => ({
            ...{ id: `whd_${seq}`, subscription_id: id, event_id, attempt: 1, status: 'succeeded' },
            ...{
              response_code: 200,
              duration_ms: seq,
              error: null,
              response_body: null,
              next_attempt_at: null,
              created_at: 1,
            },
          })),
        )
      })
      from += length
    }
    expect(rows.length).toBeGreaterThan(from)
    const left = await store.db.selectFrom('webhook_queue').select('seq').orderBy('seq').execute()
    expect(left).toEqual(rows.slice(from).map(({ seq }) => ({ seq })))
    const columns = ['event_id', 'duration_ms as seq'] as const
    const recorded = await store.db.selectFrom('webhook_deliveries').select(columns).orderBy('seq').execute()
    expect(recorded).toEqual(rows.slice(0, from).map(({ seq, event_id }) => ({ event_id, seq })))
  })
})

it('a round whose claims fail ends after the results of its deliveries are written', async () => {
  const service = await startOn('SQLite', postgres)
  await subscribe(service, 'http://127.0.0.1:9/hook')
  await happen(service, 40)
  const { store } = service.services
  let [sent, writes] = [0, 0]
  const failing: Store = {
    ...store,
    async write(work) {
      if (sent === 0) return store.write(work)
      // The results of the first deliveries are written together with the claims of the next.
      if (writes++ > 0) throw new Error('nothing can be claimed')
      await expect.poll(() => writes).toBeGreaterThan(1)
      await new Promise((later) => setTimeout(later, 100))
      return store.write(work)
    },
  }
  const send = async () => ({ status: 200, error: null, duration_ms: ++sent })
  await expect(deliverRound({ ...service.services, store: failing }, { send })).rejects.toThrow(
    'nothing can be claimed',
  )
  expect(await statuses(service)).toEqual(Array(sent).fill('succeeded'))
})

it('one result that cannot be written keeps no other from being written', async () => {
  const service = await startOn('SQLite', postgres)
  const receiver = await startReceiver()
  await subscribe(service, receiver.url)
  await happen(service, 20)
  const { store } = service.services
  await store.write((tx) =>
    sql`create trigger refuse before insert on webhook_deliveries
      when new.event_id = (select id from events where sequence = 7)
      begin select raise(abort, 'refused'); end`.execute(tx),
  )
  await deliverRound(service.services)
  expect(receiver.all).toHaveLength(20)
  // Its claim ends, and then it is delivered again.
  expect([await queued(service), await statuses(service)]).toEqual([[7], Array(19).fill('succeeded')])
  await store.write((tx) => sql`drop trigger refuse`.execute(tx))
  service.clock.advance(20_001)
  await deliverRound(service.services)
  expect(receiver.all.slice(20).map(({ sequence }) => sequence)).toEqual([7])
  expect([await queued(service), await statuses(service)]).toEqual([[], Array(20).fill('succeeded')])
})
