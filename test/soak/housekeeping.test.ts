/** Housekeeping: expired rows are removed, no others, and nothing waits for it. */
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { housekeepingWorker } from '../../daemon/workers/housekeeping.ts'
import type { Store } from '../../src/store/store.ts'
import { unlimited } from '../store/many-rows.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { type Service, START, startService } from '../support/service.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
/** Deleted in one go, so many rows stop a process for seconds. */
const MANY = 80_000
const FEW = 700

const postgres = await startPostgres()

const numbers = (count: number) =>
  sql`with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${sql.lit(count)})`

/** As many rows past their time as in it, in every table that forgets; one key is past it and still being run. */
async function fill({ store }: Service['services'], count: number): Promise<void> {
  const at = (age: number) => sql.lit(START - age)
  const either = (past: number, young: number) => sql`case when n % 2 = 0 then ${at(past)} else ${at(young)} end`
  await store.write(async (tx) => {
    await unlimited(store, tx)
    await sql`insert into idempotency_keys
      (api_key_id, key, request_hash, state, owner, lease_until, status, created_at, expires_at)
      ${numbers(count)} select 'key', 'k' || n, 'h', case when n = 2 then 'running' else 'done' end, 'nobody',
        ${sql.lit(START + HOUR)}, 200, ${at(2 * DAY)}, ${either(0, -HOUR)} from numbers`.execute(tx)
    await sql`insert into webhook_deliveries (id, subscription_id, event_id, attempt, status, created_at)
      ${numbers(count)} select 'd' || n, 's', 'e' || n, 1, 'failed', ${either(31 * DAY, 29 * DAY)} from numbers`.execute(
      tx,
    )
    await sql`insert into rate_hits (api_key_id, at, count, total)
      ${numbers(count)} select 'key' || n, ${either(25 * HOUR, 23 * HOUR)} - n % 1000, 1, 1 from numbers`.execute(tx)
  })
}

const left = async ({ db }: Store) => {
  const count = async (table: 'idempotency_keys' | 'webhook_deliveries' | 'rate_hits') =>
    Number((await db.selectFrom(table).select(db.fn.countAll().as('rows')).executeTakeFirstOrThrow()).rows)
  return [await count('idempotency_keys'), await count('webhook_deliveries'), await count('rate_hits')]
}

/** The longest time that this process did nothing else. */
async function longestStall(work: () => Promise<unknown>): Promise<number> {
  let [longest, last, isOver] = [0, performance.now(), false]
  const look = () => {
    longest = Math.max(longest, performance.now() - last)
    last = performance.now()
    if (!isOver) setImmediate(look)
  }
  setImmediate(look)
  await work()
  isOver = true
  look()
  return longest
}

const tick = ({ services }: Service, { stopping = new AbortController().signal } = {}) =>
  housekeepingWorker.tick({ ...services, metrics: { clockFault() {} }, signal: new AbortController().signal, stopping })

describe.each(['SQLite', 'PostgreSQL'])('housekeeping on %s', (name) => {
  const missing = name === 'PostgreSQL' && 'missing' in postgres
  const start = async () =>
    startService(
      name === 'PostgreSQL' && !('missing' in postgres)
        ? { settings: { 'database-url': await postgres.createDatabase(), 'encryption-key': '7'.repeat(64) } }
        : {},
    )

  it.skipIf(missing)('removes the expired rows of each table, and no others', async () => {
    const service = await start()
    await fill(service.services, 2 * FEW)
    await tick(service)
    expect(await left(service.services.store)).toEqual([FEW + 1, FEW, FEW])
    await tick(service)
    expect(await left(service.services.store)).toEqual([FEW + 1, FEW, FEW])
  })

  it.skipIf(missing)('starts no step once the daemon stops, and continues at the next tick', async () => {
    const service = await start()
    await fill(service.services, 2 * FEW)
    await tick(service, { stopping: AbortSignal.abort() })
    expect(await left(service.services.store)).toEqual([2 * FEW, 2 * FEW, 2 * FEW])
    await tick(service)
    expect(await left(service.services.store)).toEqual([FEW + 1, FEW, FEW])
  })

  // A busy machine may stop the process longer than any deletion, so it gets three chances.
  it.skipIf(missing)('blocks the process for less time than one deletion of all rows', { retry: 2 }, async () => {
    const service = await start()
    await fill(service.services, MANY)
    const stall = await longestStall(() => tick(service))
    const { store } = service.services
    expect(await left(store)).toEqual([MANY / 2 + 1, MANY / 2, MANY / 2])
    const began = performance.now()
    await store.write(async (tx) => {
      await unlimited(store, tx)
      // With a condition, or SQLite drops all pages at once.
      await tx.deleteFrom('idempotency_keys').where('expires_at', '>', 0).execute()
      await tx.deleteFrom('webhook_deliveries').where('created_at', '>', 0).execute()
      await tx.deleteFrom('rate_hits').where('at', '>', 0).execute()
    })
    const whole = performance.now() - began
    process.stdout.write(`  ${name}: longest stall ${stall.toFixed(0)} ms, in one go ${whole.toFixed(0)} ms\n`)
    expect(stall).toBeLessThan(whole)
  })
})
