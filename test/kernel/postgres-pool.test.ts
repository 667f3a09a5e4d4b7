/** A pool that requests have emptied, on a real PostgreSQL: who is answered what, and who need not wait. */
import { describe, expect, test } from 'vitest'
import { createMetrics } from '../../daemon/metrics.ts'
import { startWorkers } from '../../daemon/workers/frame.ts'
import type { Store, Tx } from '../../src/store/store.ts'
import { type PostgresServer, startPostgres } from '../store/postgres-server.ts'
import { type Service, startService } from '../support/service.ts'
import { gate, handTiming } from '../workers/frame-setting.ts'

const started = await startPostgres()
const server = started as PostgresServer
/** Of ten connections a request's reads keep two, workers and readiness one each; six are left for its writes. */
const POOL_SIZE = 10
const WRITES = 6

describe.skipIf('missing' in started)('a connection pool that requests have used up', () => {
  async function smallPool(more: object = {}, production = false): Promise<Service> {
    return startService({
      production,
      settings: {
        'database-url': await server.createMigratedDatabase(),
        'encryption-key': 'ab'.repeat(32),
        'postgres.pool-size': POOL_SIZE,
        // Longer than a busy machine needs to open a connection.
        'postgres.pool-timeout-ms': 2_000,
        ...more,
      },
    })
  }

  /** Takes every connection that writes can take, until the returned function is called. */
  async function empty(store: Store): Promise<() => Promise<void>> {
    const holders = Array.from({ length: WRITES }, () => gate())
    const held = holders.map(({ pass }) => store.write(async (_tx: Tx) => pass()))
    await Promise.all(holders.map(({ entered }) => entered))
    return async () => {
      for (const { open } of holders) open()
      await Promise.all(held)
    }
  }

  const create = (service: Service) => service.request('POST', '/v2/api-keys', { body: { name: 'wanted' } })

  test('refuses another write with Retry-After, and reads continue', async () => {
    const service = await smallPool()
    const release = await empty(service.services.store)
    const refused = await create(service)
    expect([refused.status, refused.json.error.code]).toEqual([500, 'internal_error'])
    expect(refused.json.error.message).toBe('database is busy: every connection to it is taken; try again')
    expect(refused.headers.get('retry-after')).toBe('1')
    expect((await service.request('GET', '/v2/events')).status).toBe(200)
    expect(service.services.store.poolUsage?.()).toMatchObject({
      size: POOL_SIZE,
      used: { writes: WRITES },
      refused: 1,
    })
    await release()
    expect((await create(service)).status).toBe(201)
    expect(service.services.store.poolUsage?.()).toMatchObject({ used: { writes: 0, reads: 0 } })
  })

  test('is not named in production, where only Retry-After says to wait', async () => {
    const service = await smallPool({}, true)
    const release = await empty(service.services.store)
    const refused = await create(service)
    expect([refused.status, refused.json.error.message]).toEqual([500, 'Something went wrong'])
    expect(refused.headers.get('retry-after')).toBe('1')
    await release()
  })

  test('blocks no worker, and /ready still tells the truth', async () => {
    const service = await smallPool()
    const { services, clock } = service
    const release = await empty(services.store)
    expect((await create(service)).status).toBe(500)
    const { status, json } = await service.request('GET', '/ready', { key: null })
    expect([status, json.data.checks.database]).toEqual([200, 'ok'])
    const store = services.store.reserved!.workers
    const written: string[] = []
    const workers = startWorkers(
      { ...services, store },
      [
        {
          name: 'housekeeping',
          schedule: { everyMs: 1_000 },
          leaseMs: 30_000,
          async tick(context) {
            await context.store.write(async () => void written.push('by the worker'))
          },
        },
      ],
      { owner: 'test/pool', metrics: createMetrics(), timing: handTiming(clock) },
    )
    expect(await workers.runOnce('housekeeping')).toBe('done')
    expect(written).toEqual(['by the worker'])
    await workers.stop()
    await release()
  })

  test('answers each request of a flood, done or refused with Retry-After', async () => {
    const service = await smallPool({ 'postgres.pool-size': 4, 'postgres.pool-timeout-ms': 20 })
    // Opening a connection may take a busy machine longer than a request of this pool waits.
    await expect.poll(async () => (await create(service)).status).toBe(201)
    const answers = await Promise.all(Array.from({ length: 150 }, () => create(service)))
    const done = answers.filter(({ status }) => status === 201)
    const refused = answers.filter(({ status }) => status !== 201)
    expect(refused.length).toBeGreaterThan(0)
    for (const { status, headers } of refused) expect([status, headers.get('retry-after')]).toEqual([500, '1'])
    const { sql } = await import('kysely')
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from api_keys where name = 'wanted'`.execute(service.services.store.db)
    expect(rows[0]?.count).toBe(done.length + 1)
    const none = { reads: 0, writes: 0, workers: 0, readiness: 0 }
    expect(service.services.store.poolUsage?.()).toMatchObject({ used: none, waiting: none })
  })

  test('is distinguished from a lock that is held too long and from a slow statement, each with its own setting', async () => {
    const service = await smallPool({ 'postgres.lock-timeout-ms': 500, 'postgres.statement-timeout-ms': 3_000 })
    const { store } = service.services
    const { sql } = await import('kysely')
    const holder = gate()
    const held = store.write(async (tx) => {
      await sql`lock table api_keys in access exclusive mode`.execute(tx)
      await holder.pass()
    })
    await holder.entered
    const locked = await create(service)
    expect(locked.json.error.message).toContain('another process holds a lock on it')
    expect(locked.headers.get('retry-after')).toBe('1')
    holder.open()
    await held
    const slow = sql`select pg_sleep(20)`
    for (const read of [() => slow.execute(store.db), () => store.write((tx) => slow.execute(tx))]) {
      await expect(read()).rejects.toMatchObject({ code: 'internal_error', retryAfter: 1 })
    }
  })

  test('gives its connections the limits of the settings', async () => {
    const { services } = await smallPool({
      'postgres.lock-timeout-ms': 1_234,
      'postgres.statement-timeout-ms': 5_678,
      'postgres.transaction-timeout-ms': 9_012,
      'postgres.idle-transaction-timeout-ms': 3_456,
    })
    const { sql } = await import('kysely')
    const names = ['lock_timeout', 'statement_timeout', 'transaction_timeout', 'idle_in_transaction_session_timeout']
    for (const db of [services.store.db, services.store.reserved!.workers.db, services.store.reserved!.readiness.db]) {
      const { rows } = await sql<{ name: string; setting: string }>`
        select name, setting from pg_settings where name in (${sql.join(names)})`.execute(db)
      expect(Object.fromEntries(rows.map(({ name, setting }) => [name, Number(setting)]))).toEqual({
        lock_timeout: 1_234,
        statement_timeout: 5_678,
        transaction_timeout: 9_012,
        idle_in_transaction_session_timeout: 3_456,
      })
    }
  })
})
