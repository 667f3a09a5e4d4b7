/** The delivery queue: which deliveries of a subscription may be sent next, on both databases. */
import { describe, expect, it } from 'vitest'
import { releaseFinal } from '../../src/operations/webhook-deliveries/finality.ts'
import { resumeHeld, sendable } from '../../src/store/webhooks/queue.ts'
import { freshStore, postgres, sqlite, type TestDatabase } from '../store/databases.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { testClock } from '../support/service.ts'

const NOW = Date.UTC(2026, 0, 1)

const server = await startPostgres()
const pg = 'missing' in server ? undefined : postgres(server)

describe.each([
  ['SQLite', sqlite],
  ['PostgreSQL', pg],
] as [string, TestDatabase | undefined][])('the delivery queue on %s', (_, database) => {
  it.skipIf(!database)('sends a resumed delivery after the earlier ones of its resource', async () => {
    const store = await freshStore(database!)
    const rows = [
      ['whs_1', 'evt_1', 1, 'waiting', 0],
      ['whs_1', 'evt_2', 2, 'waiting', 0],
      ['whs_1', 'evt_3', 3, 'waiting', 2],
      ['whs_1', 'evt_4', 4, 'held', 7],
      ['whs_2', 'evt_1', 1, 'held', 7],
    ] as const
    await store.write(async (tx) => {
      for (const [subscription_id, event_id, sequence, state, attempts] of rows) {
        const about = { subscription_id, event_id, sequence, resource: `pool:${sequence % 2}`, state, attempts }
        await tx
          .insertInto('webhook_queue')
          .values({ ...about, next_attempt_at: 0, claimed_until: 0 })
          .execute()
      }
    })
    const ids = async (cursor = 10) =>
      (await sendable(store.db, { id: 'whs_1', cursor }, 1, 10)).map(({ event_id }) => event_id)
    expect(await ids()).toEqual(['evt_1', 'evt_2', 'evt_3'])
    // What was replayed beyond the subscription's cursor waits, because earlier events may not be queued yet.
    expect(await ids(1)).toEqual(['evt_1'])
    await store.write((tx) => resumeHeld(tx, 'whs_1', 0))
    // The fourth waits for the second, of the same resource.
    expect(await ids()).toEqual(['evt_1', 'evt_2', 'evt_3'])
    await store.write((tx) => tx.deleteFrom('webhook_queue').where('event_id', '=', 'evt_2').execute())
    expect(await ids()).toEqual(['evt_1', 'evt_3', 'evt_4'])
    const held = store.db.selectFrom('webhook_queue').select('subscription_id').where('state', '=', 'held')
    expect(await held.execute()).toEqual([{ subscription_id: 'whs_2' }])
  })

  it.skipIf(!database)(
    'releases no later event of a resource, however many deliveries wait for an open one',
    async () => {
      const store = await freshStore(database!)
      const subscriptions = Array.from({ length: 600 }, (_, n) => `whs_${n}`)
      const event = { resource_type: 'pool', resource_id: 'x', created_at: NOW, latest_at: NOW }
      await store.write(async (tx) => {
        const receiver = {
          api_key_id: null,
          url: 'http://x',
          enabled_events_json: '["*"]',
          active: 1,
          secret_preview: '',
        }
        const made = { secret: Buffer.alloc(1), disabled_reason: null, created_at: NOW, updated_at: NOW }
        const all = subscriptions.map((id) => ({ id, ...receiver, ...made, commitment: 'finalized' as const }))
        for (let at = 0; at < all.length; at += 50)
          await tx
            .insertInto('webhook_subscriptions')
            .values(all.slice(at, at + 50))
            .execute()
        // The slot of the first is not final; the second needs no finality.
        const events = [
          { sequence: 1, id: 'evt_1', type: 'pool.live', object_json: '{"slot":7}', dedupe_key: '1', ...event },
          { sequence: 2, id: 'evt_2', type: 'transaction.submitted', object_json: '{}', dedupe_key: '2', ...event },
        ]
        await tx.insertInto('events').values(events).execute()
        const queued = {
          resource: 'pool:x',
          state: 'unfinal',
          attempts: 0,
          next_attempt_at: 0,
          claimed_until: 0,
        } as const
        const rows = [
          ...subscriptions.map((subscription_id) => ({ subscription_id, event_id: 'evt_1', sequence: 1, ...queued })),
          { subscription_id: 'whs_599', event_id: 'evt_2', sequence: 2, ...queued },
        ]
        for (let at = 0; at < rows.length; at += 50)
          await tx
            .insertInto('webhook_queue')
            .values(rows.slice(at, at + 50))
            .execute()
      })
      await releaseFinal({ store, clock: testClock(NOW) }, {})
      const released = store.db.selectFrom('webhook_queue').select('event_id').where('state', '!=', 'unfinal')
      expect(await released.execute()).toEqual([])
    },
  )

  it.skipIf(!database)(
    'a look at many events that wait to be final is divided, and keeps the order of each',
    async () => {
      const store = await freshStore(database!)
      const EVENTS = 6_000
      const row = (sequence: number) => ({
        ...{ subscription_id: 'whs_1', event_id: `evt_${sequence}`, sequence, resource: 'pool:x' },
        ...{ state: 'unfinal' as const, attempts: 0, next_attempt_at: 0, claimed_until: 0 },
      })
      const numbers = Array.from({ length: EVENTS }, (_, i) => i + 1)
      // The first event is queued later than the others.
      const inQueue = numbers.slice(1)
      await store.write(async (tx) => {
        await tx
          .insertInto('webhook_subscriptions')
          .values({
            ...{ id: 'whs_1', url: 'https://example.com', enabled_events_json: '["*"]', active: 1, secret_preview: '' },
            ...{ secret: Buffer.alloc(1), disabled_reason: null, created_at: NOW, updated_at: NOW },
            commitment: 'finalized',
          })
          .execute()
        for (let at = 0; at < EVENTS; at += 500) {
          const events = numbers.slice(at, at + 500).map((sequence) => ({
            ...{ sequence, id: `evt_${sequence}`, type: 'pool.live', dedupe_key: `${sequence}`, resource_type: 'pool' },
            // Only the slot of the first and of the last is not final.
            ...{ resource_id: 'x', object_json: `{"slot":${sequence === 1 || sequence === EVENTS ? 7 : 0}}` },
            ...{ created_at: NOW, latest_at: NOW },
          }))
          await tx.insertInto('events').values(events).execute()
          await tx
            .insertInto('webhook_queue')
            .values(inQueue.slice(at, at + 500).map(row))
            .execute()
        }
      })
      const released = async () =>
        (await store.db.selectFrom('webhook_queue').select('sequence').where('state', '=', 'waiting').execute()).length
      const services = { store, clock: testClock(NOW) }
      const position = {}
      expect(await releaseFinal(services, position)).toBe(false)
      expect(await released()).toBeGreaterThan(0)
      expect(await released()).toBeLessThan(EVENTS - 2)
      // It comes with another one of its resource, which therefore waits for the next look.
      await store.write(async (tx) => {
        await tx.updateTable('events').set({ object_json: '{"slot":0}' }).where('sequence', '=', EVENTS).execute()
        await tx.deleteFrom('webhook_queue').where('sequence', '=', EVENTS).execute()
        await tx
          .insertInto('webhook_queue')
          .values([row(1), row(EVENTS)])
          .execute()
      })
      while (!(await releaseFinal(services, position)));
      expect(await released()).toBe(EVENTS - 2)
      while (!(await releaseFinal(services, position)));
      expect(await released()).toBe(EVENTS - 2)
    },
  )
})
