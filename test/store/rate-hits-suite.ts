/** Suite: shared limits admit exactly as many as they say, and hits survive to be loaded. */

import { describe, expect, test } from 'vitest'
import { insertApiKey } from '../../src/store/api-keys.ts'
import { addRateHits, admitShared, loadRateHits, pruneRateHits } from '../../src/store/rate-hits.ts'
import { DAY_MS, MINUTE_MS } from '../../src/timing.ts'
import { numbers, type TestDatabase, twoStores } from './databases.ts'
import { apiKey } from './rows.ts'

const NOW = 1_700_000_000_000

export function rateHitsSuite(database: TestDatabase): void {
  const withKeys = async () => {
    const stores = await twoStores(database)
    for (const id of ['key_1', 'key_2']) await stores[0].write((tx) => insertApiKey(tx, apiKey(id)))
    return stores
  }

  describe('rate limits', () => {
    test('admit exactly the limit of 64 requests at once from two stores', async () => {
      const stores = await withKeys()
      const ask = (n: number, id: string) => stores[n % 2]!.write((tx) => admitShared(tx, id, NOW + n, 40, 1000))
      const outcomes = await Promise.all(numbers(64).map((n) => ask(n, 'key_1')))
      expect(outcomes.filter(({ refused_by }) => refused_by === null)).toHaveLength(40)
      expect(outcomes.filter(({ refused_by }) => refused_by === 'minute')).toHaveLength(24)
      const used = outcomes.flatMap(({ refused_by, minute }) => (refused_by === null ? [minute.used] : []))
      expect(used.sort((a, b) => a - b)).toEqual(numbers(40).map((n) => n + 1))
      expect((await ask(0, 'key_2')).refused_by).toBeNull()
    })

    test('roll: a hit stops counting one window after it was made', async () => {
      const [store] = await withKeys()
      const ask = (now: number) => store.write((tx) => admitShared(tx, 'key_1', now, 2, 3))
      expect(await ask(NOW)).toEqual({
        refused_by: null,
        minute: { used: 1, oldest_at: NOW },
        day: { used: 1, oldest_at: NOW },
      })
      expect((await ask(NOW + 10)).refused_by).toBeNull()
      expect(await ask(NOW + MINUTE_MS - 1)).toMatchObject({
        refused_by: 'minute',
        minute: { used: 2, oldest_at: NOW },
      })
      expect(await ask(NOW + MINUTE_MS)).toMatchObject({ refused_by: null, minute: { used: 2, oldest_at: NOW + 10 } })
      expect(await ask(NOW + 3 * MINUTE_MS)).toMatchObject({ refused_by: 'day', minute: { used: 0, oldest_at: null } })
      expect((await ask(NOW + DAY_MS)).refused_by).toBeNull()
    })

    test('count flushed hits, load them in order and forget old ones', async () => {
      const [store] = await withKeys()
      const hits = [
        { api_key_id: 'key_1', at: NOW + 5, count: 7 },
        { api_key_id: 'key_2', at: NOW, count: 3 },
      ]
      await store.write((tx) => addRateHits(tx, hits))
      await store.write((tx) => addRateHits(tx, []))
      expect(await loadRateHits(store.db, NOW - 1)).toEqual([hits[1], hits[0]])
      expect(await loadRateHits(store.db, NOW)).toEqual([hits[0]])
      expect((await store.write((tx) => admitShared(tx, 'key_1', NOW + 6, 7, null))).refused_by).toBe('minute')
      expect(await store.write((tx) => pruneRateHits(tx, NOW, 100))).toBe(1)
      expect(await loadRateHits(store.db, 0)).toEqual([hits[0]])
    })
  })
}
