/** Suite: leases are exclusive, ticks are bounded and alone, and an error stays where it happened. */
import { describe, expect, test } from 'vitest'
import type { WorkerDefinition } from '../../daemon/workers/definition.ts'
import { worker as workerShape } from '../../src/api/service.ts'
import { WORKER_NAMES } from '../../src/api/worker-names.ts'
import { readWorkers } from '../../src/operations/service/verbs.ts'
import { claimLease, findLease, releaseLease, renewLease } from '../../src/store/workers/leases.ts'
import { freshStore, numbers, type TestDatabase, twoStores } from '../store/databases.ts'
import { START, testClock } from '../support/service.ts'
import { gate, startFrame } from './frame-setting.ts'

const NAME = 'transaction-watcher'
const LEASE_MS = 30_000
/** Ticks of a long failure. */
const NIGHT = 25

const definition = (
  tick: WorkerDefinition['tick'],
  more: Partial<Pick<WorkerDefinition, 'name' | 'leaseMs' | 'deadlineMs'>> = {},
): WorkerDefinition => ({ name: NAME, schedule: { everyMs: 1_000 }, leaseMs: LEASE_MS, tick, ...more })

export function frameSuite(database: TestDatabase): void {
  describe('a lease', () => {
    const claim = { name: 'job', now: START, leaseMs: 1000 }

    test('is given to one of 32 claims at once from two stores, again after each release', async () => {
      const stores = await twoStores(database)
      for (const round of numbers(5)) {
        const claims = numbers(32).map(async (n) => {
          const owner = `owner ${n}`
          return (await stores[n % 2]!.write((tx) => claimLease(tx, { ...claim, owner }))) ? [owner] : []
        })
        const winners = (await Promise.all(claims)).flat()
        expect(winners, `round ${round}`).toHaveLength(1)
        const holder = { name: 'job', owner: winners[0]! }
        expect(await findLease(stores[0].db, 'job')).toMatchObject({ owner: holder.owner, until: START + 1000 })
        await stores[1].write((tx) => releaseLease(tx, { ...holder, owner: 'somebody else' }))
        expect(await stores[0].write((tx) => claimLease(tx, { ...claim, owner: 'late' }))).toBe(false)
        await stores[1].write((tx) => releaseLease(tx, holder))
      }
    })

    test('of a dead owner is taken over when it runs out, and not a moment before', async () => {
      const [store, other] = await twoStores(database)
      const take = (now: number, owner: string) => other.write((tx) => claimLease(tx, { ...claim, now, owner }))
      expect(await store.write((tx) => claimLease(tx, { ...claim, owner: 'dead' }))).toBe(true)
      expect(await take(START + 999, 'heir')).toBe(false)
      expect(await take(START + 1000, 'heir')).toBe(true)
      const dead = { name: 'job', owner: 'dead' }
      expect(await store.write((tx) => renewLease(tx, dead, START + 9000))).toBe(false)
      await store.write((tx) => releaseLease(tx, dead))
      expect(await findLease(store.db, 'job')).toMatchObject({ owner: 'heir', until: START + 2000 })
    })

    test('that was released is not renewed, and gives each slot once', async () => {
      const store = await freshStore(database)
      const holder = { name: 'job', owner: 'me' }
      const take = (slot?: number) =>
        store.write((tx) => claimLease(tx, { ...claim, owner: 'me', ...(slot === undefined ? {} : { slot }) }))
      const release = () => store.write((tx) => releaseLease(tx, holder))
      expect(await take(START)).toBe(true)
      await release()
      expect(await store.write((tx) => renewLease(tx, holder, START + 9000))).toBe(false)
      expect([await take(START), await take(START - 1000)]).toEqual([false, false])
      expect(await take()).toBe(true)
      await release()
      expect([await take(START), await take(START + 1000)]).toEqual([false, true])
    })
  })

  describe('a tick', () => {
    test('is counted, shown and measured', async () => {
      const { workers, clock, metricsText } = await startFrame(await freshStore(database), [
        definition(async () => clock.advance(250)),
      ])
      expect(await workers.runOnce(NAME)).toBe('done')
      const states = workers.status()
      for (const state of states) expect(workerShape.parse(state)).toEqual(state)
      expect(states.map(({ name }) => name)).toEqual([...WORKER_NAMES])
      expect(states.filter(({ running }) => running)).toEqual([
        {
          name: NAME,
          running: true,
          healthy: true,
          last_tick_at: new Date(START + 250).toISOString(),
          ticks_total: 1,
          errors_total: 0,
          last_error: null,
          last_error_at: null,
          stalled_reason: null,
        },
      ])
      const metrics = await metricsText()
      expect(metrics).toContain(`svc_worker_ticks_total{worker="${NAME}"} 1`)
      expect(metrics).toContain(`svc_worker_tick_duration_seconds_sum{worker="${NAME}"} 0.25`)
      expect(metrics).toContain(`svc_worker_last_tick_timestamp_seconds{worker="${NAME}"} ${(START + 250) / 1000}`)
    })

    test('that fails is logged on one line without credentials, and stops neither its worker nor another', async () => {
      let fail = true
      const { workers, logged, metricsText } = await startFrame(await freshStore(database), [
        definition(async () => {
          if (fail) throw new Error('no answer from\n  https://user:hunter2@rpc.test/?api-key=s3cret now')
        }),
        definition(async () => {}, { name: 'pool-migration' }),
      ])
      expect(await Promise.all([workers.runOnce(NAME), workers.runOnce('pool-migration')])).toEqual(['failed', 'done'])
      const state = () => workers.status().find(({ name }) => name === NAME)
      const failed = {
        errors_total: 1,
        last_error: 'no answer from https://***@rpc.test/?api-key=*** now',
        last_error_at: new Date(START).toISOString(),
      }
      expect(state()).toMatchObject({ ...failed, running: true, ticks_total: 0, last_tick_at: null })
      expect(logged).toMatchObject([{ level: 'error', fields: { worker: NAME }, message: 'a tick failed' }])
      expect(await metricsText()).toContain(`svc_worker_errors_total{worker="${NAME}"} 1`)
      fail = false
      expect(await workers.runOnce(NAME)).toBe('done')
      expect(state()).toMatchObject({ ...failed, ticks_total: 1 })
    })

    test('that failed is forgotten once enough others have succeeded, and one that fails now is not healthy', async () => {
      let fail = false
      const store = await freshStore(database)
      const { workers, clock } = await startFrame(store, [
        definition(async () => {
          if (fail) throw new Error('not now')
        }),
      ])
      const isHealthy = () => workers.status().find(({ name }) => name === NAME)?.healthy
      const read = () =>
        readWorkers({ store, clock, workers: () => workers.status().filter(({ name }) => name === NAME) } as never)
      /** The health after each tick, and what the whole status says of it. */
      const runAll = async (outcomes: readonly ('ok' | 'fails')[]) => {
        const health: (boolean | undefined)[] = []
        for (const outcome of outcomes) {
          fail = outcome === 'fails'
          expect(await workers.runOnce(NAME)).toBe(fail ? 'failed' : 'done')
          health.push(isHealthy())
          expect((await read()).recently_healthy).toBe(isHealthy())
        }
        return health
      }
      expect(isHealthy()).toBe(false)
      expect(await runAll(['ok', 'fails', 'ok', 'ok'])).toEqual([true, false, true, true])
      // A night of failures, after which two good ticks are not enough, and three are.
      expect((await runAll(Array.from({ length: NIGHT }, () => 'fails'))).some(Boolean)).toBe(false)
      expect(await runAll(['ok', 'ok', 'ok'])).toEqual([false, false, true])
      // spec.md: each worker needs more successful ticks than errors, since the start.
      expect((await read()).all_healthy).toBe(false)
      expect(await runAll(['fails'])).toEqual([false])
      // However long it went well before, a tick that fails now is logged at once.
      await runAll(Array.from({ length: NIGHT }, () => 'ok'))
      expect((await read()).all_healthy).toBe(true)
      expect(await runAll(['fails', 'ok'])).toEqual([false, true])
    })

    test('never overlaps another in one process, and a schedule that comes meanwhile is passed over', async () => {
      const { pass, open, entered } = gate()
      let ticks = 0
      const { workers, timing } = await startFrame(await freshStore(database), [
        definition(async () => {
          ticks++
          await pass()
        }),
      ])
      const first = workers.runOnce(NAME)
      await entered
      timing.reach(START)
      expect(await workers.runOnce(NAME)).toBe('busy')
      open()
      expect(await first).toBe('done')
      expect(ticks).toBe(1)
      expect(workers.status().find(({ name }) => name === NAME)).toMatchObject({ ticks_total: 1, errors_total: 0 })
    })

    test('that takes long keeps its lease: renewed each third, refused to others, given back at the end', async () => {
      const [store, other] = await twoStores(database)
      const { pass, open, entered } = gate()
      const { workers, timing, clock } = await startFrame(store, [definition(pass, { deadlineMs: 3_600_000 })])
      const running = workers.runOnce(NAME)
      await entered
      for (const _ of numbers(9)) {
        timing.advance(LEASE_MS / 3)
        const until = async () => (await findLease(other.db, NAME))?.until
        await expect.poll(until).toBe(clock.now() + LEASE_MS)
        // The next renewal is planned only after this one's commit: the deadline, the schedule and it.
        await expect.poll(timing.standing).toBe(3)
      }
      const claim = { name: NAME, owner: 'other', now: clock.now(), leaseMs: LEASE_MS }
      expect(await other.write((tx) => claimLease(tx, claim))).toBe(false)
      open()
      expect(await running).toBe('done')
      expect(await other.write((tx) => claimLease(tx, claim))).toBe(true)
    })

    test('of a task of each process runs in every daemon, also for the same slot', async () => {
      const stores = await twoStores(database)
      let ticks = 0
      const task = { ...definition(async () => void ticks++), isOfProcess: true as const }
      const frames = await Promise.all(stores.map((store) => startFrame(store, [task])))
      const outcomes = await Promise.all(frames.map(({ workers }) => workers.runOnce(NAME, START)))
      expect([outcomes, ticks]).toEqual([['done', 'done'], 2])
      expect(await findLease(stores[0].db, NAME)).toBeNull()
    })

    test('names to a task the other workers of its process that have stalled', async () => {
      let seen: unknown
      const look: WorkerDefinition = {
        ...definition(
          async ({ stalled }) => {
            seen = stalled?.()
          },
          { name: 'process-attention' },
        ),
        isOfProcess: true,
      }
      const fail = async () => {
        throw new Error('no way')
      }
      const { workers, clock } = await startFrame(await freshStore(database), [definition(fail), look])
      await workers.runOnce(NAME)
      clock.advance(31_000)
      await workers.runOnce('process-attention')
      expect(seen).toEqual([{ worker: NAME, reason: 'no tick was completed for 31 s: no way' }])
    })

    test('is aborted at its deadline, and one that ignores it delays only itself until its lease runs out', async () => {
      const [store, other] = await twoStores(database)
      const { pass, open, entered } = gate()
      let seen: AbortSignal | undefined
      const { workers, timing, clock } = await startFrame(store, [
        definition(
          async ({ signal }) => {
            seen = signal
            await pass()
          },
          { deadlineMs: 5000 },
        ),
        definition(async () => {}, { name: 'pool-migration' }),
      ])
      const running = workers.runOnce(NAME)
      await entered
      timing.advance(4999)
      expect(seen?.aborted).toBe(false)
      timing.advance(1)
      expect(seen?.aborted).toBe(true)
      const late = { running: false, errors_total: 1, last_error: 'the tick took longer than 5000 ms' }
      const state = () => workers.status().find(({ name }) => name === NAME)
      expect(state()).toMatchObject(late)
      expect(await workers.runOnce(NAME)).toBe('busy')
      expect(await workers.runOnce('pool-migration')).toBe('done')
      timing.advance(LEASE_MS)
      const heir = { name: NAME, owner: 'heir', now: clock.now(), leaseMs: LEASE_MS }
      expect(await other.write((tx) => claimLease(tx, heir))).toBe(true)
      open()
      expect(await running).toBe('failed')
      expect(await findLease(other.db, NAME)).toMatchObject({ owner: 'heir', until: clock.now() + LEASE_MS })
      expect(state()).toMatchObject({ ...late, running: true, ticks_total: 0 })
    })

    test('is aborted when another process has taken its lease over', async () => {
      const [store, other] = await twoStores(database)
      const { pass, entered } = gate()
      const { workers, timing, clock, logged } = await startFrame(store, [
        definition(({ signal }) => {
          const aborted = new Promise<void>((_, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason))
          })
          return Promise.race([pass(), aborted])
        }),
      ])
      const running = workers.runOnce(NAME)
      await entered
      const heir = { name: NAME, owner: 'heir', now: clock.now() + LEASE_MS, leaseMs: LEASE_MS }
      expect(await other.write((tx) => claimLease(tx, heir))).toBe(true)
      timing.advance(LEASE_MS / 3)
      expect(await running).toBe('failed')
      expect(workers.status().find(({ name }) => name === NAME)).toMatchObject({
        running: true,
        errors_total: 1,
        last_error: 'the lease was taken over by another process',
      })
      // A retry time marks what is foreseen, which the log shows without a stack.
      expect(logged).toMatchObject([{ message: 'a tick failed', fields: { err: { retryAfter: LEASE_MS / 1_000 } } }])
    })
  })

  describe('a frame', () => {
    test('ticks soon after its start, and once for many wakes, after the tick that runs', async () => {
      const gates = [gate(), gate()]
      let ticks = 0
      const { workers, timing } = await startFrame(
        await freshStore(database),
        [definition(() => gates[ticks++]?.pass() ?? Promise.resolve())],
        { firstTick: true },
      )
      expect(ticks).toBe(0)
      for (const _ of numbers(5)) workers.wake(NAME)
      timing.advance(0)
      await gates[0]!.entered
      for (const _ of numbers(5)) workers.wake(NAME)
      timing.advance(0)
      expect(ticks).toBe(1)
      gates[0]!.open()
      await gates[1]!.entered
      gates[1]!.open()
      await workers.stop()
      expect(ticks).toBe(2)
    })

    test('beside another on one database does each tick of a name once per interval', async () => {
      const stores = await twoStores(database)
      const done = new Map<number, number>()
      const clock = testClock()
      let slot = 0
      let inside = 0
      const counting = definition(async ({ store }) => {
        expect(++inside).toBe(1)
        done.set(slot, (done.get(slot) ?? 0) + 1)
        await store.ping()
        inside--
      })
      const [first, second] = [
        await startFrame(stores[0], [counting], { clock }),
        await startFrame(stores[1], [counting], { clock }),
      ]
      const both = [first.workers, second.workers]
      for (const n of numbers(20)) {
        slot = START + n * 1000
        // Side by side, and one after the other: a daemon that is late finds the slot done.
        const outcomes =
          n % 2 === 0
            ? await Promise.all(both.map((workers) => workers.runOnce(NAME, slot)))
            : [await second.workers.runOnce(NAME, slot), await first.workers.runOnce(NAME, slot)]
        expect(outcomes.sort()).toEqual(['done', 'idle'])
      }
      expect([...done.values()]).toEqual(numbers(20).map(() => 1))
      for (const workers of both) {
        expect(workers.status().find(({ name }) => name === NAME)).toMatchObject({ ticks_total: 20, errors_total: 0 })
      }
    })

    test('waits at its stop for the ticks that run, and starts no more', async () => {
      const { pass, open, entered } = gate()
      const { workers, timing, store } = await startFrame(await freshStore(database), [definition(pass)])
      const running = workers.runOnce(NAME)
      await entered
      let stopped = false
      const stopping = workers.stop().then(() => {
        stopped = true
      })
      timing.advance(7999)
      expect(await workers.runOnce(NAME)).toBe('busy')
      expect(stopped).toBe(false)
      open()
      await stopping
      expect(await running).toBe('done')
      expect(await findLease(store.db, NAME)).toMatchObject({ until: 0 })
      expect(workers.status().some(({ running }) => running)).toBe(false)
      workers.wake(NAME)
      expect(await workers.runOnce(NAME)).toBe('busy')
      expect(timing.standing()).toBe(0)
    })

    test('interrupts at its stop a tick that does not end, and waits no longer than nine seconds', async () => {
      const { pass, entered } = gate()
      let seen: AbortSignal | undefined
      const { workers, timing, logged } = await startFrame(await freshStore(database), [
        definition(async ({ signal }) => {
          seen = signal
          await pass()
        }),
      ])
      void workers.runOnce(NAME)
      await entered
      const stopping = workers.stop()
      timing.advance(8000)
      await expect.poll(() => seen?.aborted).toBe(true)
      timing.advance(1000)
      await stopping
      expect(logged).toContainEqual({
        level: 'warn',
        fields: { workers: [NAME] },
        message: 'workers were interrupted',
      })
    })

    test('counts a database that does not answer as an error of the tick', async () => {
      const store = await freshStore(database)
      let ticks = 0
      const { workers } = await startFrame(store, [
        definition(async () => {
          ticks++
        }),
      ])
      await store.close()
      expect(await workers.runOnce(NAME)).toBe('failed')
      expect(ticks).toBe(0)
      expect(workers.status().find(({ name }) => name === NAME)).toMatchObject({
        running: true,
        errors_total: 1,
        last_error: 'the store is closed',
      })
    })
  })
}
