/** Many subscriptions at once: each gets every event once and in order. */
import { describe, expect, it } from 'vitest'
import { deliverRound } from '../../src/operations/webhook-deliveries/deliver.ts'
import { numbers } from '../store/databases.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { DATABASES, happen, queued, startOn, subscribe } from './replaying.ts'

const postgres = await startPostgres()

describe.each(DATABASES)('on %s', (name) => {
  const missing = name === 'PostgreSQL' && 'missing' in postgres

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
