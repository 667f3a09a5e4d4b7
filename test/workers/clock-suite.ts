/** Suite: what a clock that was wrong leaves behind stops no worker, and a worker that does nothing is reported. */
import { describe, expect, test } from 'vitest'
import { localCounter } from '../../daemon/limits/local-counter.ts'
import { sharedCounter } from '../../daemon/limits/shared-counter.ts'
import type { WorkerDefinition } from '../../daemon/workers/definition.ts'
import { repairMoments } from '../../src/operations/clock-repair.ts'
import { readWorkers } from '../../src/operations/service/verbs.ts'
import { newId } from '../../src/store/id.ts'
import { insertApiKey } from '../../src/store/requests/api-keys.ts'
import { claimKey } from '../../src/store/requests/idempotency.ts'
import { putRateHits } from '../../src/store/requests/rate-hits.ts'
import type { Store } from '../../src/store/store.ts'
import { claimQueued, sendable } from '../../src/store/webhooks/queue.ts'
import { findLease } from '../../src/store/workers/leases.ts'
import { freshStore, numbers, type TestDatabase, twoStores } from '../store/databases.ts'
import { apiKey } from '../store/rows.ts'
import { START, testClock } from '../support/service.ts'
import { startFrame } from './frame-setting.ts'

const NAME = 'transaction-watcher'
const LEASE_MS = 30_000
const HOUR = 3_600_000
const YEAR = 365 * 24 * HOUR

const definition = (tick: WorkerDefinition['tick']): WorkerDefinition => ({
  name: NAME,
  schedule: { everyMs: 2_000 },
  leaseMs: LEASE_MS,
  tick,
})

/** A lease as a process with another clock has left it. */
const leave = (store: Store, until: number, slot: number) =>
  store.write(async (tx) => {
    await tx.deleteFrom('leases').where('name', '=', NAME).execute()
    await tx.insertInto('leases').values({ name: NAME, owner: 'another/1/x', until, slot }).execute()
  })

export function clockSuite(database: TestDatabase): void {
  describe('a lease that a clock far ahead has left', () => {
    test.each([
      ['a slot', 0, START + YEAR],
      ['an end', START + YEAR, 0],
      ['a slot and an end', START + HOUR, START + HOUR],
    ])('with %s to come delays no tick, and is logged once and counted', async (_, until, slot) => {
      const store = await freshStore(database)
      const { workers, logged, metricsText } = await startFrame(store, [definition(async () => {})])
      await leave(store, until, slot)
      expect(await workers.runOnce(NAME, START)).toBe('done')
      expect(await workers.runOnce(NAME, START + 2_000)).toBe('done')
      expect(await findLease(store.db, NAME)).toMatchObject({ slot: START + 2_000, until: 0, done: 2 })
      expect(logged).toMatchObject([
        { level: 'warn', fields: { worker: NAME }, message: expect.stringContaining('implausibly far in the future') },
      ])
      expect(await metricsText()).toContain('svc_clock_faults_total{what="lease"} 1')
    })

    test('still counts within a lease: clocks may differ by so much', async () => {
      const store = await freshStore(database)
      const { workers } = await startFrame(store, [definition(async () => {})])
      await leave(store, START + 2 * LEASE_MS, 0)
      expect(await workers.runOnce(NAME, START)).toBe('idle')
    })
  })

  test('daemons whose clocks are hours apart share one database, and each slot of the right one is done', async () => {
    const stores = await twoStores(database)
    const clocks = [testClock(START + 3 * HOUR), testClock(START), testClock(START - 2 * HOUR)]
    const done = [0, 0, 0]
    const frames = await Promise.all(
      clocks.map((clock, n) => startFrame(stores[n % 2]!, [definition(async () => void done[n]!++)], { clock })),
    )
    for (const _ of numbers(20)) {
      for (const clock of clocks) clock.advance(2_000)
      await Promise.all(frames.map(({ workers }, n) => workers.runOnce(NAME, clocks[n]!.now())))
    }
    expect(done.reduce((sum, each) => sum + each)).toBeGreaterThanOrEqual(20)
    for (const { workers } of frames) {
      expect(workers.status().find(({ name }) => name === NAME)).toMatchObject({
        stalled_reason: null,
        errors_total: 0,
      })
    }
    // The one that was ahead is gone, and what it left delays nobody.
    const before = done[1]!
    for (const _ of numbers(5)) {
      clocks[1]!.advance(2_000)
      expect(await frames[1]!.workers.runOnce(NAME, clocks[1]!.now())).toBe('done')
    }
    expect(done[1]).toBe(before + 5)
  })

  describe('a worker', () => {
    const workerOf = (workers: { status(): { name: string }[] }) => workers.status().find(({ name }) => name === NAME)

    test('that is refused for three periods while nobody does its work is stalled, until it is done again', async () => {
      const store = await freshStore(database)
      const setting = await startFrame(store, [definition(async () => {})])
      const { workers, clock, logged, metricsText } = setting
      const healthy = async () =>
        (await readWorkers({ store, clock, workers: workers.status } as never)).recently_healthy
      expect(await workers.runOnce(NAME, clock.now())).toBe('done')
      for (const _ of numbers(17)) {
        clock.advance(2_000)
        // Another process takes each slot and does nothing with it.
        await store.write((tx) => tx.updateTable('leases').set({ slot: clock.now() }).execute())
        expect(await workers.runOnce(NAME, clock.now())).toBe('idle')
      }
      const reason = /^no tick was completed for \d+ s: its lease was refused \d+ times, and no other daemon/
      expect(workerOf(workers)).toMatchObject({ ticks_total: 1, stalled_reason: expect.stringMatching(reason) })
      expect(await healthy()).toBe(false)
      expect(await metricsText()).toContain(`svc_worker_stalled{worker="${NAME}"} 1`)
      expect(logged.filter(({ message }) => message === 'a worker is stalled')).toHaveLength(1)
      clock.advance(2_000)
      expect(await workers.runOnce(NAME, clock.now())).toBe('done')
      expect(workerOf(workers)).toMatchObject({ ticks_total: 2, stalled_reason: null })
      expect(await metricsText()).toContain(`svc_worker_stalled{worker="${NAME}"} 0`)
    })

    test('whose ticks have failed for three periods is stalled with the last error, however many succeeded before', async () => {
      let fault: string | undefined
      const { workers, clock } = await startFrame(await freshStore(database), [
        definition(async () => {
          if (fault !== undefined) throw new Error(fault)
        }),
      ])
      for (const n of numbers(60)) expect(await workers.runOnce(NAME, START + n * 10)).toBe('done')
      fault = 'the node is gone'
      for (const _ of numbers(4)) {
        clock.advance(8_000)
        expect(await workers.runOnce(NAME, clock.now())).toBe('failed')
      }
      const state = workerOf(workers)
      expect(state).toMatchObject({ stalled_reason: 'no tick was completed for 32 s: the node is gone' })
    })

    test('that finds each slot done by another daemon is healthy', async () => {
      const stores = await twoStores(database)
      const clock = testClock()
      const [first, second] = [
        await startFrame(stores[0], [definition(async () => {})], { clock }),
        await startFrame(stores[1], [definition(async () => {})], { clock }),
      ]
      for (const _ of numbers(20)) {
        clock.advance(2_000)
        expect(await first.workers.runOnce(NAME, clock.now())).toBe('done')
        expect(await second.workers.runOnce(NAME, clock.now())).toBe('idle')
      }
      expect(workerOf(second.workers)).toMatchObject({ ticks_total: 20, stalled_reason: null })
    })
  })

  describe('what else a clock that was ahead has stored', () => {
    test('is due at once where it was planned, and a right plan stays as it is', async () => {
      const store = await freshStore(database)
      await store.write(async (tx) => {
        await tx
          .insertInto('transactions')
          .values(transactionRow('late', START + YEAR))
          .execute()
        await tx
          .insertInto('transactions')
          .values(transactionRow('planned', START + 60_000))
          .execute()
      })
      const logged: object[] = []
      const log = { debug() {}, info() {}, error() {}, warn: (fields: object) => void logged.push(fields) }
      const clock = testClock()
      const repaired = await repairMoments({ store, clock, log })
      expect(Object.fromEntries(repaired)).toEqual({
        'transactions.next_check_at': 1,
        'transactions.next_send_at': 1,
      })
      expect(logged).toContainEqual({ what: 'transactions.next_check_at', count: 1 })
      const rows = await store.db.selectFrom('transactions').select(['signature', 'next_check_at']).execute()
      expect(Object.fromEntries(rows.map((row) => [row.signature, row.next_check_at]))).toEqual({
        late: START,
        planned: START + 60_000,
      })
      expect((await repairMoments({ store, clock, log })).size).toBe(0)
    })

    test('counts against no quota', async () => {
      const store = await freshStore(database)
      await store.write(async (tx) => {
        await insertApiKey(tx, apiKey('k'))
        await putRateHits(tx, [
          { api_key_id: 'k', at: START + 5_000, count: 2, total: 2 },
          { api_key_id: 'k', at: START + YEAR, count: 120, total: 122 },
        ])
      })
      const log = { debug() {}, info() {}, error() {}, warn() {} }
      const services = { store, clock: testClock(), log }
      const counter = store.kind === 'sqlite' ? await localCounter(services) : sharedCounter(services)
      const { refused_by, minute } = await counter.admit({ id: 'k', per_minute: 120, per_day: 50_000 }, START)
      expect([refused_by, minute.used]).toEqual([null, 3])
    })

    test('is put right in steps: a thousand rows and more', async () => {
      const store = await freshStore(database)
      const rows = numbers(1_201).map((n) => transactionRow(`s${n}`, START + YEAR))
      for (let from = 0; from < rows.length; from += 200) {
        await store.write((tx) =>
          tx
            .insertInto('transactions')
            .values(rows.slice(from, from + 200))
            .execute(),
        )
      }
      const log = { debug() {}, info() {}, error() {}, warn() {} }
      const repaired = await repairMoments({ store, clock: testClock(), log })
      expect(repaired.get('transactions.next_check_at')).toBe(1_201)
    })

    test('keeps no delivery waiting and no claim of one', async () => {
      const store = await freshStore(database)
      const queued = (event: string, next_attempt_at: number, claimed_until: number) => ({
        ...{ subscription_id: 's', event_id: event, sequence: 1, resource: event, state: 'waiting' as const },
        ...{ attempts: 0, next_attempt_at, claimed_until },
      })
      const rows = [
        queued('planned ahead', START + YEAR, 0),
        queued('claimed ahead', START, START + YEAR),
        queued('a retry of tomorrow', START + 24 * HOUR, 0),
        queued('under way', START, START + 10_000),
      ]
      await store.write(async (tx) => {
        await tx.insertInto('webhook_subscriptions').values(subscriptionRow('s')).execute()
        await tx.insertInto('webhook_queue').values(rows).execute()
      })
      const due = await sendable(store.db, { id: 's', cursor: 1 }, START, 10)
      expect(due.map(({ event_id }) => event_id).sort()).toEqual(['claimed ahead', 'planned ahead'])
      const seqs = (await store.db.selectFrom('webhook_queue').select('seq').execute()).map(({ seq }) => seq)
      const claimed = await store.write((tx) => claimQueued(tx, seqs, { now: START, until: START + 15_000 }))
      expect(claimed.size).toBe(3)
    })

    test('keeps no Idempotency-Key running', async () => {
      const store = await freshStore(database)
      const request = { apiKeyId: 'k', key: 'once', requestHash: 'h', leaseMs: LEASE_MS, ttlMs: 24 * HOUR }
      const take = (owner: string, now: number) => store.write((tx) => claimKey(tx, { ...request, owner, now }))
      expect((await take('ahead', START + YEAR)).kind).toBe('claimed')
      expect(await take('right', START)).toEqual({ kind: 'resumed', signingId: null })
      expect(await take('other', START + 1)).toEqual({ kind: 'conflict', reason: 'running' })
    })
  })
}

function subscriptionRow(id: string) {
  return {
    ...{ id, url: 'https://example.com', enabled_events_json: '["*"]', active: 1, secret: Buffer.of() },
    ...{ secret_preview: 'abcd', disabled_reason: null, created_at: START, updated_at: START },
  }
}

function transactionRow(signature: string, at: number) {
  return {
    ...{ signature, raw: Buffer.from(newId('raw')), lifecycle: 'submitted' as const, confirmation_status: null },
    ...{ err_json: null, slot: 0, confirmations: 0, tracked_resource_json: null, tracked_id: null, bundle_id: null },
    ...{ max_retries: 5, blockhash: 'b', nonce_account: null, genesis: 'g', since_slot: null, checked_at: 0 },
    ...{ next_check_at: at, next_send_at: at, sends: 0, external_uid: null, metadata_json: null, created_at: START },
  }
}
