/** What is due of many subscriptions is found together: the same as of each alone, and every event is delivered once. */
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { deliverRound } from '../../src/operations/webhook-deliveries/deliver.ts'
import { sendable, sendableAlone } from '../../src/store/webhooks/queue.ts'
import { numbers } from '../store/databases.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { DATABASES, happen, queued, startOn, subscribe } from './replaying.ts'

const [NOW, CURSOR] = [1_000, 5]
const postgres = await startPostgres()
afterAll(async () => {
  if (!('missing' in postgres)) await postgres.stop()
})

const row = fc.record({
  subscription: fc.nat(3),
  resource: fc.constantFrom('pool:a', 'pool:b'),
  state: fc.constantFrom('waiting' as const, 'waiting' as const, 'held' as const),
  attempts: fc.constantFrom(0, 0, 2),
  next_attempt_at: fc.constantFrom(0, 0, NOW, NOW + 1, NOW + 10 * 86_400_000),
  claimed_until: fc.constantFrom(0, 0, NOW, NOW + 1, NOW + 10 * 86_400_000),
})

describe.each(DATABASES)('on %s', (name) => {
  const missing = name === 'PostgreSQL' && 'missing' in postgres

  it.skipIf(missing)('together they have what each has alone, where that is one first attempt or none', async () => {
    const service = await startOn(name, postgres)
    const { store } = service.services
    const ids = await Promise.all(numbers(4).map((n) => subscribe(service, `http://127.0.0.1:9/${n}`)))
    await store.write((tx) => tx.updateTable('webhook_subscriptions').set({ cursor: CURSOR }).execute())
    const rows = fc.array(row, { maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(rows, async (states) => {
        await store.write(async (tx) => {
          await tx.deleteFrom('webhook_queue').execute()
          for (const [n, { subscription, ...state }] of states.entries()) {
            const about = { subscription_id: ids[subscription]!, event_id: `evt_${n}`, sequence: n }
            await tx
              .insertInto('webhook_queue')
              .values({ ...about, ...state })
              .execute()
          }
        })
        const together = await sendableAlone(store.db, ids, NOW)
        for (const id of ids) {
          const alone = await sendable(store.db, { id, cursor: CURSOR, has_retries: 0 }, NOW, 10)
          expect(together.get(id)).toEqual(alone.length > 1 ? undefined : alone)
        }
      }),
      { numRuns: 15 },
    )
  })

  it.skipIf(missing)(
    'a hundred and twenty get their events once, some of them many, and each in its order',
    async () => {
      const service = await startOn(name, postgres)
      const { store } = service.services
      const ids = await Promise.all(numbers(120).map((n) => subscribe(service, `http://127.0.0.1:${n % 3}/${n}`)))
      const late = ids.filter((_, n) => n % 7 === 0)
      await happen(service, 1)
      await store.write((tx) =>
        tx.updateTable('webhook_subscriptions').set({ cursor: 1 }).where('id', 'not in', late).execute(),
      )
      await happen(service, 2)
      const sent = new Map<string, number[]>()
      await deliverRound(service.services, {
        forMs: 100_000,
        async send({ url, body }) {
          const path = new URL(url).pathname
          const { sequence } = JSON.parse(String(body))
          sent.set(path, [...(sent.get(path) ?? []), sequence])
          return { status: 200, error: null, duration_ms: 1 }
        },
      })
      expect(sent.size).toBe(120)
      for (const [path, sequences] of sent) {
        const isLate = Number(path.slice(1)) % 7 === 0
        expect(sequences.toSorted(), path).toEqual(isLate ? [1, 2, 3] : [2, 3])
        // The first and the second are about the same pool.
        if (isLate) expect(sequences.indexOf(1)).toBeLessThan(sequences.indexOf(2))
      }
      expect(await queued(service)).toEqual([])
    },
  )
})
