/** The counters behind the rate limits: as a simple list would decide, on both databases, and no key at the cost of another. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { createApp } from '../../daemon/app.ts'
import type { Counter, LimitedKey } from '../../daemon/limits/counter.ts'
import { localCounter } from '../../daemon/limits/local-counter.ts'
import { sharedCounter } from '../../daemon/limits/shared-counter.ts'
import { systemClock } from '../../src/context.ts'
import { DAY_MS, MINUTE_MS } from '../../src/platform/timing.ts'
import { newId } from '../../src/store/id.ts'
import { insertApiKey } from '../../src/store/requests/api-keys.ts'
import type { Admission } from '../../src/store/requests/rate-hits.ts'
import type { Store } from '../../src/store/store.ts'
import { freshStore, numbers, opened, postgres, sqlite, type TestDatabase, twoStores } from '../store/databases.ts'
import { watched } from '../store/plans.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { apiKey } from '../store/rows.ts'
import { startService, type TestClock, testClock } from '../support/service.ts'

const log = { debug() {}, info() {}, warn() {}, error() {} }

const started = await startPostgres()
const databases: [string, TestDatabase | undefined][] = [
  ['SQLite', sqlite],
  ['PostgreSQL', 'missing' in started ? undefined : postgres(started)],
]

/** A new key with its row, which is locked while it is counted. */
async function newKey(store: Store, per_minute: number | null, per_day: number | null): Promise<LimitedKey> {
  const id = newId('key')
  await store.write((tx) => insertApiKey(tx, apiKey(id)))
  return { id, per_minute, per_day }
}

/** As daemons count: several share PostgreSQL, and one owns a SQLite database. */
const openCounters = async (stores: readonly Store[], clock: TestClock): Promise<Counter[]> =>
  stores[0]!.kind === 'postgres'
    ? stores.map((store) => sharedCounter({ store, clock }))
    : [await localCounter({ store: stores[0]!, clock, log })]

/** What was admitted, and when: the windows as one would count them on paper. */
class Oracle {
  readonly times: number[] = []

  window(at: number, lengthMs: number) {
    const inside = this.times.filter((time) => time > at - lengthMs)
    return { used: inside.length, oldest_at: inside[0] ?? null }
  }

  admit(at: number, { per_minute, per_day }: LimitedKey): Admission {
    const state = () => ({ at, minute: this.window(at, MINUTE_MS), day: this.window(at, DAY_MS) })
    const { minute, day } = state()
    if (minute.used >= (per_minute ?? Number.POSITIVE_INFINITY)) return { refused_by: 'minute', ...state() }
    if (day.used >= (per_day ?? Number.POSITIVE_INFINITY)) return { refused_by: 'day', ...state() }
    this.times.push(at)
    return { refused_by: null, ...state() }
  }
}

const WAITS = [1, 40, 200, 999, MINUTE_MS / 3, MINUTE_MS - 1, MINUTE_MS, DAY_MS / 3, DAY_MS - 1, DAY_MS]
type Step = { wait: number } | { requests: number } | { restart: true }
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ wait: fc.constantFrom(...WAITS) }) },
  { weight: 6, arbitrary: fc.record({ requests: fc.integer({ min: 1, max: 9 }) }) },
  { weight: 1, arbitrary: fc.constant({ restart: true as const }) },
)
const limits = fc
  .record({
    perMinute: fc.option(fc.integer({ min: 1, max: 7 })),
    perDay: fc.option(fc.integer({ min: 1, max: 12 })),
  })
  .filter(({ perMinute, perDay }) => perMinute !== null || perDay !== null)

/** Requests of one moment have no order among several daemons: their answers are compared as a set. */
const sorted = (admissions: readonly Admission[]) => admissions.map((admission) => JSON.stringify(admission)).toSorted()
const shape = ({ refused_by, at, minute, day }: Admission): Admission => ({
  refused_by,
  at,
  minute: { used: minute.used, oldest_at: minute.oldest_at },
  day: { used: day.used, oldest_at: day.oldest_at },
})

describe.each(databases)('on %s', (_, database) => {
  it.skipIf(database === undefined)(
    'requests at any times are admitted exactly as a full list of admitted requests would allow',
    async () => {
      const stores = await twoStores(database!)
      const clock = testClock()
      await fc.assert(
        fc.asyncProperty(limits, fc.array(step, { minLength: 5, maxLength: 25 }), async (limit, steps) => {
          const key = await newKey(stores[0], limit.perMinute, limit.perDay)
          const oracle = new Oracle()
          let counters = await openCounters(stores, clock)
          for (const each of steps) {
            if ('wait' in each) clock.advance(each.wait)
            else if ('requests' in each) {
              const ask = (n: number) => counters[n % counters.length]!.admit(key, clock.now())
              const admissions = await Promise.all(numbers(each.requests).map(ask))
              const expected = numbers(each.requests).map(() => oracle.admit(clock.now(), key))
              expect(sorted(admissions.map(shape))).toEqual(sorted(expected))
            } else {
              for (const counter of counters) await counter.close()
              counters = await openCounters(stores, clock)
            }
          }
          for (const counter of counters) await counter.close()
        }),
        { numRuns: 15 },
      )
    },
  )

  it.skipIf(database === undefined)('64 requests at once, from all sources, are admitted exactly N times', async () => {
    const options = await database!.migrated()
    const stores = [await opened(options), await opened(options), await opened(options)]
    const key = await newKey(stores[0]!, 40, null)
    const counters = await openCounters(stores, systemClock as TestClock)
    const ask = (n: number) => counters[n % counters.length]!.admit(key, Date.now())
    const admissions = await Promise.all(numbers(64).map(ask))
    expect(admissions.filter(({ refused_by }) => refused_by === null)).toHaveLength(40)
    const again = await Promise.all(numbers(64).map(ask))
    expect(again.filter(({ refused_by }) => refused_by === null)).toHaveLength(0)
    for (const counter of counters) await counter.close()
    const rows = await stores[0]!.db.selectFrom('rate_hits').selectAll().orderBy('at').execute()
    expect(rows.reduce((sum, { count }) => sum + count, 0)).toBe(40)
    expect(rows.at(-1)!.total).toBe(40)
  })

  it.skipIf(database === undefined)('requests of one millisecond are one row', async () => {
    const store = await freshStore(database!)
    const clock = testClock()
    const [counter] = await openCounters([store], clock)
    const key = await newKey(store, 1_000, null)
    for (const moment of numbers(3)) {
      clock.advance(moment)
      for (const _ of numbers(5)) await Promise.all(numbers(20).map(() => counter!.admit(key, clock.now())))
    }
    await counter!.close()
    const rows = await store.db.selectFrom('rate_hits').select(['count', 'total']).orderBy('at').execute()
    expect(rows).toEqual([
      { count: 100, total: 100 },
      { count: 100, total: 200 },
      { count: 100, total: 300 },
    ])
  })

  it.skipIf(database === undefined)(
    'a key over its limit is refused without a statement until it may have room',
    async () => {
      const { databaseUrl } = await database!.migrated()
      const settings =
        databaseUrl === undefined ? {} : { 'database-url': databaseUrl, 'encryption-key': '7'.repeat(64) }
      const { services, clock, key } = await startService({ settings })
      const { store, statements } = watched(services.store)
      const app = await createApp({ ...services, store })
      const bearer = await key({ perMinute: 3 })
      const ask = async () => {
        const headers = { authorization: `Bearer ${bearer}` }
        const { status, headers: sent } = await app.fetch(new Request('http://svc.test/v2/pools', { headers }))
        return [status, sent.get('ratelimit'), sent.get('retry-after')]
      }
      for (const left of [2, 1, 0]) expect(await ask()).toEqual([200, `"minute";r=${left};t=60`, null])
      expect(await ask()).toEqual([429, '"minute";r=0;t=60', '60'])
      statements.splice(0)
      clock.advance(999)
      for (const answer of await Promise.all(numbers(200).map(ask)))
        expect(answer).toEqual([429, '"minute";r=0;t=60', '60'])
      expect(statements).toEqual([])
      clock.advance(1)
      expect(await ask()).toEqual([429, '"minute";r=0;t=59', '59'])
      expect(statements.length).toBeGreaterThan(0)
      clock.advance(MINUTE_MS - 1_001)
      expect((await ask())[0]).toBe(429)
      clock.advance(1)
      expect((await Promise.all(numbers(4).map(ask))).map(([status]) => status).toSorted()).toEqual([
        200, 200, 200, 429,
      ])
      await app.close()
    },
  )
})

describe('on SQLite, a daemon that is killed', () => {
  it('has recorded what it admitted: no window is ever over its limit', async () => {
    const store = await freshStore(sqlite)
    const clock = testClock()
    let commits = 0
    let asked = 0
    const gaps = fc.constantFrom(0, 1, 30, 90, 300, 5_000, 20_000)
    const rounds = fc.array(fc.record({ gap: gaps, requests: fc.integer({ min: 1, max: 20 }), kill: fc.nat(9) }), {
      minLength: 5,
      maxLength: 40,
    })
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 5, max: 60 }), rounds, async (perMinute, steps) => {
        const key = await newKey(store, perMinute, null)
        const admitted: number[] = []
        const open = async () => {
          // What a killed process had in memory is written by nobody.
          const process = { isKilled: false }
          const write: Store['write'] = (work) => {
            if (process.isKilled) return new Promise(() => {})
            commits++
            return store.write(work)
          }
          return { process, counter: await localCounter({ store: { ...store, write }, clock, log }) }
        }
        let running = await open()
        for (const { gap, requests, kill } of steps) {
          clock.advance(gap)
          const { counter } = running
          const admissions = await Promise.all(numbers(requests).map(() => counter.admit(key, clock.now())))
          asked += requests
          for (const { refused_by } of admissions) if (refused_by === null) admitted.push(clock.now())
          for (const [n, at] of admitted.entries())
            expect(at - (admitted[n - perMinute] ?? Number.NEGATIVE_INFINITY)).toBeGreaterThanOrEqual(MINUTE_MS)
          if (kill > 0) continue
          running.process.isKilled = true
          running = await open()
        }
        running.process.isKilled = true
      }),
      { numRuns: 15 },
    )
    expect(commits).toBeLessThan(asked / 3)
  })

  it('has never admitted more than is recorded, and commits seldom if the key is busy', async () => {
    const store = await freshStore(sqlite)
    const clock = testClock()
    const key = await newKey(store, 1_000_000, null)
    const seen = { commits: 0, recorded: 0, admitted: 0, most: 0 }
    const write: Store['write'] = async (work) => {
      const [value, recorded] = await store.write(async (tx) => {
        const done = await work(tx)
        const sum = await tx
          .selectFrom('rate_hits')
          .select((eb) => eb.fn.sum('count').as('sum'))
          .executeTakeFirst()
        return [done, Number(sum?.sum ?? 0)] as const
      })
      seen.commits++
      seen.recorded = recorded
      return value
    }
    const counter = await localCounter({ store: { ...store, write }, clock, log })
    const ask = async () => {
      for (const turns of numbers(1_000).map((n) => n % 3)) {
        await counter.admit(key, clock.now())
        seen.admitted++
        seen.most = Math.max(seen.most, seen.admitted - seen.recorded)
        if (seen.admitted % 20 === 0) clock.advance(1)
        for (const _ of numbers(turns)) await nextTurn()
      }
    }
    await Promise.all(numbers(6).map(ask))
    expect(seen.most).toBeLessThanOrEqual(0)
    expect(seen.commits).toBeLessThan(6_000 / 20)
    await counter.close()
    expect(seen.recorded).toBe(6_000)
  })

  it('replaces advance records that it never used as soon as they are settled', async () => {
    const store = await freshStore(sqlite)
    const clock = testClock()
    const key = await newKey(store, 1_000, null)
    const counter = await localCounter({ store, clock, log })
    for (const _ of numbers(4)) {
      await Promise.all(numbers(10).map(() => counter.admit(key, clock.now())))
      clock.advance(20)
    }
    await counter.close()
    const again = await localCounter({ store, clock, log })
    expect((await again.admit(key, clock.now())).minute.used).toBe(41)
    await again.close()
  })

  it('counts exactly while the database takes no writes', async () => {
    const store = await freshStore(sqlite)
    const clock = testClock()
    const key = await newKey(store, 15, null)
    const disk = { isFull: true }
    const write: Store['write'] = (work) =>
      disk.isFull ? Promise.reject(new Error('database or disk is full')) : store.write(work)
    const counter = await localCounter({ store: { ...store, write }, clock, log })
    const outcomes: (string | null)[] = []
    for (const _ of numbers(4)) {
      for (const { refused_by } of await Promise.all(numbers(5).map(() => counter.admit(key, clock.now()))))
        outcomes.push(refused_by)
    }
    expect(outcomes).toEqual([...numbers(15).map(() => null), ...numbers(5).map(() => 'minute')])
    disk.isFull = false
    await counter.close()
    const again = await localCounter({ store, clock, log })
    expect((await again.admit(key, clock.now())).refused_by).toBe('minute')
  })
})

const shared = databases[1]![1]
describe.skipIf(shared === undefined)('on PostgreSQL', () => {
  /** Locks the rows of the keys until `release` is called. */
  async function lock(store: Store, keys: readonly LimitedKey[]): Promise<{ release(): Promise<void> }> {
    let release = () => {}
    const released = new Promise<void>((settle) => {
      release = settle
    })
    let done: Promise<unknown> = Promise.resolve()
    await new Promise<void>((locked) => {
      done = store.write(async (tx) => {
        const ids = keys.map(({ id }) => id)
        await tx.selectFrom('api_keys').select('id').where('id', 'in', ids).forUpdate().execute()
        locked()
        await released
      })
    })
    return {
      async release() {
        release()
        await done
      },
    }
  }

  it('keys that are locked elsewhere delay no other key, and are admitted once they are free', async () => {
    const [store, other] = await twoStores(shared!)
    const clock = testClock()
    const counter = sharedCounter({ store, clock })
    const keys: LimitedKey[] = []
    for (const _ of numbers(8)) keys.push(await newKey(store, 100, null))
    const locked = keys.slice(0, 5)
    const { release } = await lock(other, locked)
    let answered = 0
    const waiting = locked.map((key) => counter.admit(key, clock.now()).finally(() => answered++))
    for (const round of numbers(20)) {
      const admissions = await Promise.all(keys.slice(5).map((key) => counter.admit(key, clock.now())))
      expect(admissions.map(({ minute }) => minute.used)).toEqual([round + 1, round + 1, round + 1])
    }
    await Promise.all([store.ping(), store.write(async () => {})])
    expect(answered).toBe(0)
    await release()
    for (const { refused_by } of await Promise.all(waiting)) expect(refused_by).toBeNull()
  })

  it('a full window refuses without a lock until it moves', async () => {
    const [store, other] = await twoStores(shared!)
    const clock = testClock()
    const counter = sharedCounter({ store, clock })
    const key = await newKey(store, 3, null)
    const ask = () => counter.admit(key, clock.now())
    await Promise.all(numbers(3).map(ask))
    const { release } = await lock(other, [key])
    for (const wait of [0, 100, MINUTE_MS - 101]) {
      clock.advance(wait)
      expect((await ask()).refused_by).toBe('minute')
    }
    await release()
    clock.advance(1)
    expect((await Promise.all(numbers(4).map(ask))).map(({ refused_by }) => refused_by)).toEqual([
      ...[null, null, null],
      'minute',
    ])
  })

  it('a decision reads a few pages, however many hits other keys have, after an analysis of the empty table', async () => {
    const store = await freshStore(shared!)
    const [key, other] = [await newKey(store, 100, 100), await newKey(store, 100, 100)]
    const pages = (id: string) =>
      store.write(async (tx) => {
        const call = sql`select * from admit_requests(${[id]}, ${[1]}, ${[100]}, ${[100_000]}, null, true)`
        const { rows } = await sql<{ 'QUERY PLAN': [{ Plan: { 'Shared Hit Blocks': number } }] }>`
          explain (analyze, buffers, format json) ${call}`.execute(tx)
        return rows[0]!['QUERY PLAN'][0].Plan['Shared Hit Blocks']
      })
    await store.write((tx) => sql`analyze rate_hits`.execute(tx))
    for (const { id } of [key, other]) await pages(id)
    await store.write((tx) =>
      sql`insert into rate_hits (api_key_id, at, count, total)
        select ${other.id}, ${Date.now() - DAY_MS / 2}::bigint + n * 100, 1, n from generate_series(1, 50000) n`.execute(
        tx,
      ),
    )
    for (const _ of numbers(2)) {
      for (const { id } of [key, other]) {
        await pages(id)
        expect(await pages(id)).toBeLessThan(60)
      }
      await store.write((tx) => sql`analyze rate_hits`.execute(tx))
    }
  })

  it('a busy key has one transaction at a time, however many requests it has', async () => {
    const store = await freshStore(shared!)
    const clock = testClock()
    const running = { now: 0, most: 0, all: 0 }
    const write: Store['write'] = async (work) => {
      running.most = Math.max(running.most, ++running.now)
      running.all++
      return store.write(work).finally(() => running.now--)
    }
    const counter = sharedCounter({ store: { ...store, write }, clock })
    const keys = [await newKey(store, 10_000, null), await newKey(store, 10_000, null)]
    const ask = async (key: LimitedKey) => {
      for (const _ of numbers(20)) await counter.admit(key, clock.now())
    }
    await Promise.all(numbers(64).map(() => ask(keys[0]!)))
    expect(running.most).toBe(1)
    expect(running.all).toBeLessThan(64)
    await Promise.all(numbers(64).map((n) => ask(keys[n % 2]!)))
    expect(running.most).toBeLessThanOrEqual(2)
    const { rows } = await sql<{ total: number }>`select sum(count)::bigint as total from rate_hits`.execute(store.db)
    expect(rows[0]!.total).toBe(2 * 64 * 20)
  })
})
