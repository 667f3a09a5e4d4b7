/** Suite: what cannot be followed stops no other, and daemons share pending transactions without doing one twice. */
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { readStatuses } from '../../src/chain/reads/statuses.ts'
import { FIRST_SEND_MS } from '../../src/following/send.ts'
import { followTransactions } from '../../src/operations/transactions/follow-transactions.ts'
import type { Store } from '../../src/store/store.ts'
import { freshStore, numbers, type TestDatabase, twoStores } from '../store/databases.ts'
import { START, testClock } from '../support/service.ts'
import {
  agreeing,
  eventNames,
  fakeNode,
  insertPending,
  NAME,
  ROUND_MS,
  repeated,
  startWatcher,
  unended,
} from './transaction-watcher-setting.ts'

const LONGEST_SEND_WAIT_MS = 16_000

const left = async (store: Store) => {
  const rows = store.db.selectFrom('transactions').select('signature').where('next_check_at', 'is not', null)
  return (await rows.execute()).map(({ signature }) => signature).toSorted()
}

/** The database refuses that one transaction to have failed, until the answer is called. */
async function forbidFailed(store: Store, signature: string): Promise<() => Promise<unknown>> {
  const [forbid, allow] =
    store.kind === 'sqlite'
      ? [
          sql`create trigger no_failure before update on transactions
              when new.signature = ${sql.lit(signature)} and new.lifecycle = 'failed'
              begin select raise(abort, 'no failure'); end`,
          sql`drop trigger no_failure`,
        ]
      : [
          sql`alter table transactions add constraint no_failure
              check (signature <> ${sql.lit(signature)} or lifecycle <> 'failed')`,
          sql`alter table transactions drop constraint no_failure`,
        ]
  await store.write((tx) => forbid.execute(tx))
  return () => store.write((tx) => allow.execute(tx))
}

export function transactionWatcherSuite(database: TestDatabase): void {
  test('one that is in a block and was not executed (SIMD-0290) is never told as confirmed', async () => {
    const store = await freshStore(database)
    const clock = testClock()
    const node = fakeNode(clock)
    const { workers, chain } = await startWatcher(store, { clock, fetch: node.fetch })
    const err = 'InsufficientFundsForFee'
    const signatures = await insertPending(store, 4)
    const [both, statusAlone, errAlone, executed] = signatures as [string, string, string, string]
    node.unexecuted.set(both, { err, status: { Err: err } })
    node.unexecuted.set(statusAlone, { status: { Err: err } })
    node.unexecuted.set(errAlone, { err, status: undefined })
    node.unexecuted.set(executed, { status: { Ok: null } })
    for (const signature of signatures) node.landed.set(signature, node.slot())
    const seen = new Map<string, string[]>(signatures.map((signature) => [signature, []]))
    for (let round = 0; round < 20; round++) {
      clock.advance(1_000)
      await workers.runOnce(NAME, clock.now())
      for (const row of await store.db
        .selectFrom('transactions')
        .select(['signature', 'lifecycle', 'err_json'])
        .execute()) {
        const states = seen.get(row.signature)!
        const state = `${row.lifecycle} ${row.err_json}`
        if (states.at(-1) !== state) states.push(state)
      }
    }
    for (const signature of [both, statusAlone, errAlone]) {
      expect(
        seen.get(signature)!.filter((state) => !state.startsWith('submitted') && !state.startsWith('processing')),
      ).toEqual([`failed ${JSON.stringify(err)}`])
    }
    expect(seen.get(executed)!.slice(-2)).toEqual(['confirmed null', 'finalized null'])
    const told = (await eventNames(store)).filter((name) => name.startsWith('transaction.'))
    expect(told.toSorted()).toEqual(
      [
        `transaction.confirmed ${executed}`,
        `transaction.finalized ${executed}`,
        ...[both, statusAlone, errAlone].map((signature) => `transaction.failed ${signature}`),
      ].toSorted(),
    )
    const { statuses } = await readStatuses(chain, [both, statusAlone, executed, signatures[2]!], true)
    expect(statuses.map((status) => status?.err)).toEqual([err, err, null, err])
  })

  test('one whose check is due before the next tick is looked at when it is due, as where finality takes 0.2 s', async () => {
    const store = await freshStore(database)
    const clock = testClock()
    const node = fakeNode(clock)
    const { workers, timing } = await startWatcher(store, { clock, fetch: node.fetch })
    const [soon] = await insertPending(store, 2, (n) => ({ next_check_at: START + (n === 0 ? 300 : ROUND_MS) }))
    await workers.runOnce(NAME, clock.now())
    expect(node.take().asked).toEqual([])
    timing.advance(299)
    expect(timing.standing()).toBe(2)
    timing.advance(1)
    await expect.poll(() => node.take().asked).toEqual([soon])
    await workers.stop()
  })

  describe('one that cannot be followed', () => {
    /** What no hint of the API can be: not to be parsed, not to be written, and on PostgreSQL not to be stored. */
    const BAD = [
      '{',
      JSON.stringify({ resource_type: 'a', resource_id: 'b' }),
      JSON.stringify({ resource_type: 'a\0b', resource_id: 'b', related_events: ['pool.live'] }),
    ]

    test('stops no other, is an error of the worker, and is tried again once the others have had their turn', async () => {
      const store = await freshStore(database)
      const clock = testClock()
      const node = fakeNode(clock)
      const { workers } = await startWatcher(store, { clock, fetch: node.fetch })
      const signatures = await insertPending(store, 300, (n) => {
        return n % 20 === 7 ? { tracked_resource_json: BAD[n % BAD.length]! } : {}
      })
      for (const signature of signatures) node.landed.set(signature, node.slot() - 50)
      const bad = signatures.filter((_, n) => n % 20 === 7 && (database.kind === 'postgres' || n % BAD.length !== 2))
      const state = () => workers.status().find(({ name }) => name === NAME)!

      expect(await workers.runOnce(NAME, START)).toBe('failed')
      expect(await left(store)).toEqual(bad.toSorted())
      expect(state()).toMatchObject({ errors_total: 1, last_error: expect.stringMatching(/JSON|filter|invalid byte/) })
      node.take()
      clock.advance(ROUND_MS)
      expect(await workers.runOnce(NAME, START + ROUND_MS)).toBe('done')
      expect(node.take().asked).toEqual([])

      clock.advance(60_000)
      expect(await workers.runOnce(NAME, START + 60_000)).toBe('failed')
      expect(node.take().asked.toSorted()).toEqual(bad.toSorted())
      await store.write((tx) => tx.updateTable('transactions').set({ tracked_resource_json: null }).execute())
      clock.advance(60_000)
      expect(await workers.runOnce(NAME, START + 120_000)).toBe('done')
      expect(await left(store)).toEqual([])
      const told = (await eventNames(store)).filter((name) => name.startsWith('transaction.'))
      expect([repeated(told), told.length]).toEqual([[], 600])
    })

    test('as expired waits a minute too, and stops no other, nor does one that has landed', async () => {
      const store = await freshStore(database)
      const clock = testClock()
      const node = fakeNode(clock)
      const { workers, chain } = await startWatcher(store, { clock, fetch: node.fetch })
      agreeing(chain)
      const old = { since_slot: node.slot() - 400, created_at: START - 160_000, blockhash: 'old' }
      const expired = await insertPending(store, 300, () => old)
      node.gone.add('old')
      const bad = expired[7]!
      const allow = await forbidFailed(store, bad)
      const [landed] = await insertPending(store, 1, () => ({ tracked_resource_json: '{' }))
      node.landed.set(landed!, node.slot() - 50)
      expect(await workers.runOnce(NAME, START)).toBe('failed')
      expect(await left(store)).toEqual([bad, landed!].toSorted())
      node.take()
      for (const wait of [ROUND_MS, 30_000]) {
        clock.advance(wait)
        expect(await workers.runOnce(NAME, clock.now())).toBe('done')
        expect(node.take().asked).toEqual([])
      }
      await allow()
      clock.advance(30_000)
      expect(await workers.runOnce(NAME, clock.now())).toBe('failed')
      expect(await left(store)).toEqual([landed])
    })
  })

  describe('rounds side by side', () => {
    test('without any lease move, tell and send each once all the same', async () => {
      const stores = await twoStores(database)
      const clock = testClock()
      const node = fakeNode(clock)
      const daemons = [
        await startWatcher(stores[0], { clock, fetch: node.fetch }),
        await startWatcher(stores[1], { clock, fetch: node.fetch }),
      ]
      const signatures = await insertPending(stores[0], 300, (n) => (n < 20 ? { next_send_at: START } : {}))
      for (const signature of signatures.slice(100)) node.landed.set(signature, node.slot() - 5)
      const round = () =>
        Promise.all(
          numbers(4).map((n) => {
            const { chain, config } = daemons[n % 2]!
            const log = { debug() {}, info() {}, warn() {}, error() {} }
            return followTransactions({ store: stores[n % 2]!, chain, clock, log, config, signer: async () => null })
          }),
        )
      await round()
      const first = node.take().sent
      expect([repeated(first), first.toSorted()]).toEqual([[], signatures.slice(0, 20).toSorted()])
      // A send that is due again is again the work of one.
      clock.advance(2 * FIRST_SEND_MS)
      await round()
      const second = node.take().sent
      expect(repeated(second)).toEqual([])
      for (const signature of signatures.slice(0, 100)) node.landed.set(signature, node.slot() - 5)
      for (const _ of numbers(12)) {
        clock.advance(ROUND_MS)
        await round()
      }
      expect(await unended(stores[1])).toBe(0)
      const told = await eventNames(stores[0])
      expect([repeated(told), told.length]).toEqual([[], 600])
    })

    test('send each again after 2, 4, 8 and 16 seconds, whoever of two daemons has the round', async () => {
      const stores = await twoStores(database)
      const clock = testClock()
      const node = fakeNode(clock)
      const daemons = [
        await startWatcher(stores[0], { clock, fetch: node.fetch }),
        await startWatcher(stores[1], { clock, fetch: node.fetch }),
      ]
      const [signature] = await insertPending(stores[0], 1, () => ({ next_send_at: START + FIRST_SEND_MS }))
      const sends: number[] = []
      for (const n of numbers(40)) {
        await Promise.all(daemons.map(({ workers }) => workers.runOnce(NAME, START + n * ROUND_MS)))
        const { sent } = node.take()
        expect(sent.length).toBeLessThanOrEqual(1)
        if (sent[0] === signature) sends.push((clock.now() - START) / 1000)
        clock.advance(ROUND_MS)
      }
      expect(sends.slice(0, 4)).toEqual([2, 6, 14, 30])
      const waits = sends.slice(1).map((at, i) => (at - sends[i]!) * 1000)
      expect(Math.max(...waits)).toBe(LONGEST_SEND_WAIT_MS)
    })

    test('of which one daemon dies go on with the other when its lease has run out', async () => {
      const stores = await twoStores(database)
      const clock = testClock()
      const node = fakeNode(clock)
      let hang = true
      const stuck = await startWatcher(stores[0], {
        clock,
        fetch: () => (hang ? new Promise(() => {}) : node.fetch('')),
      })
      const other = await startWatcher(stores[1], { clock, fetch: node.fetch })
      const signatures = await insertPending(stores[0], 300)
      for (const signature of signatures) node.landed.set(signature, node.slot() - 50)
      void stuck.workers.runOnce(NAME, START)
      const leased = () => stores[1].db.selectFrom('leases').select('owner').where('name', '=', NAME).executeTakeFirst()
      await expect.poll(leased).toBeDefined()
      expect(await other.workers.runOnce(NAME, START)).toBe('idle')
      clock.advance(30_001)
      expect(await other.workers.runOnce(NAME, START + 30_000)).toBe('done')
      expect(await unended(stores[1])).toBe(0)
      hang = false
    })
  })
}
