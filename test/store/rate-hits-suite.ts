/** Suite: limits admit exactly as many as they say, however they are counted, and hits survive to be loaded and are pruned. */

import { describe, expect, test } from 'vitest'
import type { Counter, LimitedKey } from '../../daemon/limits/counter.ts'
import { localCounter } from '../../daemon/limits/local-counter.ts'
import { sharedCounter } from '../../daemon/limits/shared-counter.ts'
import { DAY_MS, MINUTE_MS } from '../../src/platform/timing.ts'
import { insertApiKey } from '../../src/store/requests/api-keys.ts'
import { loadRateHits, pruneRateHits, putRateHits } from '../../src/store/requests/rate-hits.ts'
import type { Store } from '../../src/store/store.ts'
import { testClock } from '../support/service.ts'
import { numbers, type TestDatabase, twoStores } from './databases.ts'
import { apiKey } from './rows.ts'

const NOW = 1_700_000_000_000
const log = { debug() {}, info() {}, warn() {}, error() {} }

export function rateHitsSuite(database: TestDatabase): void {
  const withKeys = async () => {
    const stores = await twoStores(database)
    for (const id of ['key_1', 'key_2']) await stores[0].write((tx) => insertApiKey(tx, apiKey(id)))
    return stores
  }
  /** As a daemon has it: one daemon owns a SQLite database, several share one of PostgreSQL. */
  const counters = async (stores: readonly Store[], clock = testClock(NOW)): Promise<Counter[]> =>
    database.kind === 'sqlite'
      ? [await localCounter({ store: stores[0]!, clock, log })]
      : stores.map((store) => sharedCounter({ store, clock }))
  const limited = (id: string, per_minute: number | null, per_day: number | null): LimitedKey => ({
    id,
    per_minute,
    per_day,
  })

  describe('rate limits', () => {
    test('admit exactly the limit of 64 simultaneous requests from two stores', async () => {
      const all = await counters(await withKeys())
      const ask = (n: number, id: string) => all[n % all.length]!.admit(limited(id, 40, 1000), NOW + n)
      const outcomes = await Promise.all(numbers(64).map((n) => ask(n, 'key_1')))
      expect(outcomes.filter(({ refused_by }) => refused_by === null)).toHaveLength(40)
      expect(outcomes.filter(({ refused_by }) => refused_by === 'minute')).toHaveLength(24)
      const used = outcomes.flatMap(({ refused_by, minute }) => (refused_by === null ? [minute.used] : []))
      expect(used.sort((a, b) => a - b)).toEqual(numbers(40).map((n) => n + 1))
      expect((await ask(0, 'key_2')).refused_by).toBeNull()
    })

    test('roll: a hit stops counting one window after it was made', async () => {
      const clock = testClock(NOW)
      const [counter] = await counters(await withKeys(), clock)
      const ask = (at: number) => {
        clock.advance(at - clock.now())
        return counter!.admit(limited('key_1', 2, 3), at)
      }
      expect(await ask(NOW)).toEqual({
        refused_by: null,
        at: NOW,
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

    test('count stored hits, load them in order and remove old ones', async () => {
      const stores = await withKeys()
      const [store] = stores
      const hits = [
        { api_key_id: 'key_1', at: NOW + 5, count: 7, total: 17 },
        { api_key_id: 'key_2', at: NOW, count: 3, total: 3 },
      ]
      await store.write((tx) => putRateHits(tx, hits))
      await store.write((tx) => putRateHits(tx, []))
      expect(await loadRateHits(store.db, NOW - 1)).toEqual([hits[1], hits[0]])
      expect(await loadRateHits(store.db, NOW)).toEqual([hits[0]])
      const [counter] = await counters(stores, testClock(NOW + 6))
      expect((await counter!.admit(limited('key_1', 7, null), NOW + 6)).refused_by).toBe('minute')
      expect(await store.write((tx) => pruneRateHits(tx, NOW, 100))).toBe(1)
      expect(await loadRateHits(store.db, 0)).toEqual([hits[0]])
    })

    test('of a day do not depend on which earlier hits were removed', async () => {
      const stores = await withKeys()
      const [store] = stores
      const clock = testClock(NOW)
      const [counter] = await counters(stores, clock)
      const key = limited('key_1', null, 20)
      const ask = () => counter!.admit(key, clock.now())
      for (const _ of numbers(50)) {
        expect((await ask()).refused_by).toBeNull()
        clock.advance(DAY_MS / 20)
        await store.write((tx) => pruneRateHits(tx, clock.now() - DAY_MS, 100))
      }
      expect(await ask()).toMatchObject({ refused_by: null, day: { used: 20 } })
      expect(await ask()).toMatchObject({ refused_by: 'day', day: { used: 20 } })
      expect((await loadRateHits(store.db, 0)).length).toBeLessThanOrEqual(21)
    })
  })
}
