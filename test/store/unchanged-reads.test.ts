/** Memory of an unchanged SQLite database: never older than the database, whoever commits, and not forgotten for nothing. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { loadRateHits, putRateHits } from '../../src/store/requests/rate-hits.ts'
import { findSetting } from '../../src/store/settings.ts'
import { lookAtDatabaseOf, offerDatabaseVersion, UnchangedReads } from '../../src/store/sqlite/unchanged-reads.ts'
import type { Reader, Store, Tx } from '../../src/store/store.ts'
import { claimLease, releaseLease } from '../../src/store/workers/leases.ts'
import { numbers, sqlite, twoStores } from './databases.ts'

const LARGEST = 1_000
const UNSEEN = { isUnseen: true }
/** 80 KiB, which is not yet a large object of its own. */
const KEPT_NUMBERS = 10_000

/** Collects the garbage of the young objects alone, as happens all the time under load. */
function youngCollection(): () => void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as (options: { type: 'minor' }) => void
  setFlagsFromString('--no-expose-gc')
  return () => collect({ type: 'minor' })
}

const remembering = (store: Store) => new UnchangedReads<string>(lookAtDatabaseOf(store.db), LARGEST)

const putSetting = (tx: Tx, name: string, value: string) =>
  tx
    .insertInto('settings')
    .values({ name, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute()

/** The value as the service reads it, and whether it was remembered. */
async function ask(store: Store, reads: UnchangedReads<string>): Promise<{ value: string; isRemembered: boolean }> {
  let isRemembered = true
  const load = async () => {
    isRemembered = false
    return (await findSetting(store.db, 'value')) ?? ''
  }
  return { value: await reads.read(lookAtDatabaseOf(store.db)(), 'value', load, () => 1), isRemembered }
}

const count = (store: Store, at: number) =>
  store.write((tx) => putRateHits(tx, [{ api_key_id: 'key', at, count: 1, total: at }]), UNSEEN)

describe('the cache of an unchanged database', () => {
  it('is never older than the database, whatever this process and another commit', async () => {
    const stores = await twoStores(sqlite)
    const [own, other] = stores
    const reads = remembering(own)
    let written = ''
    let n = 0
    const step = fc.oneof(
      fc.record({ by: fc.constantFrom(own, other), unseen: fc.boolean() }),
      fc.constant({ asks: 3 }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        for (const action of steps) {
          if ('asks' in action) {
            const answers = await Promise.all(numbers(action.asks).map(() => ask(own, reads)))
            expect(answers.map(({ value }) => value)).toEqual(answers.map(() => written))
          } else if (action.unseen) await count(action.by, ++n)
          else {
            written = `${++n}`
            // Together with a count, in one commit where the queue joins them.
            await Promise.all([count(action.by, n), action.by.write((tx) => putSetting(tx, 'value', written))])
            expect((await ask(own, reads)).value).toBe(written)
          }
        }
      }),
      { numRuns: 15 },
    )
  })

  it('outlives only counts and leases of this process', async () => {
    const [own, other] = await twoStores(sqlite)
    const reads = remembering(own)
    const isRemembered = async () => (await ask(own, reads)).isRemembered
    const lease = { name: 'worker', owner: 'one', now: 1_000, leaseMs: 1_000 }
    expect([await isRemembered(), await isRemembered()]).toEqual([false, true])
    await count(own, 1)
    await own.write((tx) => claimLease(tx, lease), UNSEEN)
    await own.write((tx) => releaseLease(tx, lease), UNSEEN)
    expect(await isRemembered()).toBe(true)
    expect(await loadRateHits(own.db, 0)).toHaveLength(1)
    await own.write((tx) => putSetting(tx, 'other', 'x'))
    expect([await isRemembered(), await isRemembered()]).toEqual([false, true])
    await count(other, 2)
    expect([await isRemembered(), await isRemembered()]).toEqual([false, true])
    await Promise.allSettled([own.write(() => Promise.reject(new Error('undone')))])
    expect((await ask(own, reads)).value).toBe('')
  })

  it('is filled once for all readers meanwhile, and again after a commit or a failure', async () => {
    const [own] = await twoStores(sqlite)
    const reads = remembering(own)
    let read = 0
    const load = async () => {
      read++
      await own.ping()
      return `${read}`
    }
    const slow = () => reads.read(lookAtDatabaseOf(own.db)(), 'name', load, () => 1)
    expect(await Promise.all([slow(), slow(), slow()])).toEqual(['1', '1', '1'])
    await own.write((tx) => putSetting(tx, 'value', 'w'))
    const before = slow()
    await own.write((tx) => putSetting(tx, 'value', 'x'))
    expect([await slow(), await before, read]).toEqual(['3', expect.any(String), 3])
    const failing = () =>
      reads.read(
        1,
        'failing',
        () => Promise.reject(new Error('no')),
        () => 1,
      )
    await expect(failing()).rejects.toThrow('no')
    const succeeding = reads.read(
      1,
      'failing',
      async () => 'yes',
      () => 1,
    )
    expect(await succeeding).toBe('yes')
  })

  it('is freed by a garbage collection once its version is over', async () => {
    const collectYoung = youngCollection()
    let version = 0
    const reader = {} as Reader
    offerDatabaseVersion(reader, () => version)
    const look = lookAtDatabaseOf(reader)
    const reads = new UnchangedReads<number[]>(look, LARGEST)
    const keepOfNextVersion = () => {
      version++
      const load = async () => Array<number>(KEPT_NUMBERS).fill(version)
      return reads.read(look(), 'value', load, () => 1)
    }
    // What lives through two collections of the young is old.
    await keepOfNextVersion()
    for (let n = 0; n < 4; n++) collectYoung()
    const before = process.memoryUsage().heapUsed
    for (let n = 0; n < 100; n++) {
      await keepOfNextVersion()
      collectYoung()
    }
    const grown = process.memoryUsage().heapUsed - before
    expect(grown / (8 * KEPT_NUMBERS)).toBeLessThan(30)
  })
})
