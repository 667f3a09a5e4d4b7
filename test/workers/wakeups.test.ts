/** Workers that another daemon wakes over a real PostgreSQL: no schedule ever comes here, so nothing else can run them. */
import { sql } from 'kysely'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createMetrics } from '../../daemon/metrics.ts'
import { startWorkers, systemTiming, type Workers } from '../../daemon/workers/frame.ts'
import { webhookDeliveryWorker } from '../../daemon/workers/workers.ts'
import { type EventDraft, writeEvent } from '../../src/store/events/drafts.ts'
import type { Store } from '../../src/store/store.ts'
import { spacedWakes } from '../../src/store/workers/wakeups.ts'
import { freshStore, postgres, sqlite, twoStores } from '../store/databases.ts'
import { type PostgresServer, startPostgres } from '../store/postgres-server.ts'
import { startReceiver } from '../support/receiver.ts'
import { type Service, startService, testClock } from '../support/service.ts'

const started = await startPostgres()
const server = started as PostgresServer
const QUIET = { debug() {}, info() {}, warn() {}, error() {} }
const POLL = { timeout: 60_000, interval: 5 }

/** Timers run, and the schedule of no worker ever comes. */
const withoutSchedule = { ...systemTiming, every: () => () => {} }

const draft = (id: string): EventDraft => ({
  type: 'pool.live',
  resource_type: 'pool',
  resource_id: id,
  object: { resource_id: id },
  origin: { external_uid: null, metadata_json: null },
})
const happen = (store: Store, id: string) => store.write((tx) => writeEvent(tx, testClock(), draft(id)))

describe.skipIf('missing' in started)('a worker of another daemon', () => {
  /** One daemon that writes and one that delivers, put together as `svc serve` does. */
  async function twoDaemons(): Promise<{ writer: Service; deliverer: Service; workers: Workers }> {
    const settings = {
      'postgres.pool-timeout-ms': 60_000,
      'database-url': await server.createMigratedDatabase(),
      'encryption-key': 'ab'.repeat(32),
      'webhooks.allow-private': true,
    }
    const writer = await startService({ settings })
    const deliverer = await startService({ settings })
    const store = deliverer.services.store.reserved!.workers
    const options = { owner: 'test/deliverer', metrics: createMetrics(), timing: withoutSchedule }
    const workers = startWorkers({ ...deliverer.services, store }, [webhookDeliveryWorker], options)
    onTestFinished(() => workers.stop())
    await store.wakeups.listen(workers.wake, QUIET)
    return { writer, deliverer, workers }
  }

  const subscribe = ({ request }: Service, url: string) =>
    request('POST', '/v2/webhook-subscriptions', { body: { url, enabled_events: ['*'] } })

  test('delivers an event as soon as it is written elsewhere, each one after the other', async () => {
    const { writer } = await twoDaemons()
    const receiver = await startReceiver()
    await subscribe(writer, receiver.url)
    const ids = Array.from({ length: 10 }, (_, n) => `pool-${n}`)
    for (const [n, id] of ids.entries()) {
      await happen(writer.services.store, id)
      // The next one is not written before this one has come, so none is carried by another's wake-up.
      await expect.poll(() => receiver.all.length, POLL).toBe(n + 1)
    }
    expect(receiver.all.map(({ about }) => about)).toEqual(ids)
  })

  test('delivers an event while an earlier delivery to a slow receiver is still under way', async () => {
    const { writer } = await twoDaemons()
    const [slow, quick] = [await startReceiver(() => 0), await startReceiver()]
    await subscribe(writer, slow.url)
    await subscribe(writer, quick.url)
    await happen(writer.services.store, 'first')
    await expect.poll(() => [slow.all.length, quick.all.length], POLL).toEqual([1, 1])
    await happen(writer.services.store, 'second')
    await expect.poll(() => quick.all.map(({ about }) => about), POLL).toEqual(['first', 'second'])
    await slow.close()
  })

  test('loses no wake-up when the connection it listens on is cut, however often', async () => {
    const { writer, deliverer } = await twoDaemons()
    const receiver = await startReceiver()
    await subscribe(writer, receiver.url)
    const listeners = async () => {
      const { rows } = await sql<{ pid: number }>`
        select pid from pg_stat_activity
        where datname = current_database() and application_name = 'svc wake-ups' and query ilike 'listen%'`.execute(
        deliverer.services.store.db,
      )
      return rows.map(({ pid }) => pid)
    }
    for (const [n, id] of ['while it is cut', 'again', 'a third time'].entries()) {
      await expect.poll(async () => (await listeners()).length, POLL).toBe(1)
      const [pid] = await listeners()
      await sql`select pg_terminate_backend(${pid})`.execute(writer.services.store.db)
      await happen(writer.services.store, id)
      await expect.poll(() => receiver.all.length, POLL).toBe(n + 1)
    }
    await expect.poll(async () => (await listeners()).length, POLL).toBe(1)
    await happen(writer.services.store, 'afterwards')
    await expect.poll(() => receiver.all.at(-1)?.about, POLL).toBe('afterwards')
  })

  test('is woken by its name, by what a request there asks for, and a process never hears itself twice', async () => {
    const [here, there] = await twoStores(postgres(server))
    const [heardHere, heardThere]: [(string | null)[], (string | null)[]] = [[], []]
    await here.wakeups.listen((name) => heardHere.push(name), QUIET)
    await there.wakeups.listen((name) => heardThere.push(name), QUIET)
    // Whoever begins to listen looks once at everything.
    expect([heardHere, heardThere]).toEqual([[null], [null]])
    here.wakeups.send('transaction-watcher')
    await expect.poll(() => heardThere, POLL).toEqual([null, 'transaction-watcher'])
    there.wakeups.send('pool-migration')
    await expect.poll(() => heardHere, POLL).toEqual([null, 'transaction-watcher', 'pool-migration'])
    expect(heardThere).toEqual([null, 'transaction-watcher', 'pool-migration'])
  })

  test('is woken by a command that ends at once, and by nobody who says something else', async () => {
    const [command, daemon] = await twoStores(postgres(server))
    const heard: (string | null)[] = []
    await daemon.wakeups.listen((name) => heard.push(name), QUIET)
    await sql`select pg_notify('svc_wakeups', ${'x'.repeat(7_000)})`.execute(daemon.db)
    await happen(command, 'by a command')
    await command.close()
    await expect.poll(() => heard.at(-1), POLL).toBe('webhook-delivery')
  })
})

describe('a wake-up', () => {
  test('comes after the commit, once for a write, and not at all for one that is rolled back', async () => {
    const store = await freshStore(sqlite)
    const seen: [string | null, number][] = []
    const count = async () => (await store.db.selectFrom('events').select('id').execute()).length
    const counting: Promise<unknown>[] = []
    await store.wakeups.listen((name) => counting.push(count().then((rows) => seen.push([name, rows]))), QUIET)
    await expect(
      store.write(async (tx) => {
        await writeEvent(tx, testClock(), draft('undone'))
        throw new Error('undone')
      }),
    ).rejects.toThrow('undone')
    await store.write(async (tx) => {
      await writeEvent(tx, testClock(), draft('a'))
      await writeEvent(tx, testClock(), draft('b'))
    })
    await Promise.all(counting)
    expect(seen).toEqual([['webhook-delivery', 2]])
    // What is known already is no news.
    await happen(store, 'a')
    expect(counting.length).toBe(1)
  })

  test('comes at once, and for any number that follow closely once more', async () => {
    const woken: (string | null)[] = []
    const wake = spacedWakes((name) => woken.push(name))
    for (let n = 0; n < 50; n++) wake('webhook-delivery')
    wake('pool-migration')
    expect(woken).toEqual(['webhook-delivery', 'pool-migration'])
    await expect.poll(() => woken, POLL).toEqual(['webhook-delivery', 'pool-migration', 'webhook-delivery'])
  })
})
