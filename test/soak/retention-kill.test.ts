/** Events removed by age in a daemon that is killed again and again: nothing is lost but what is old, and everything is delivered. */
import { type RawBuilder, sql } from 'kysely'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { openStore, type StoreOptions } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import { unlimited } from '../store/many-rows.ts'
import { type PostgresServer, startPostgres } from '../store/postgres-server.ts'
import { startDaemon } from '../support/daemon.ts'
import { openReceiver } from '../support/receiver.ts'
import { temporaryFolder } from '../support/service.ts'

const DAY = 86_400_000
const OLD = 60_000
const YOUNG = 1_000
const LAST = OLD + YOUNG
/** One of so many is wanted by the subscription, which has yet to come to half of them. */
const SHARE = 500
const CURSOR = 30_000
const ENCRYPTION_KEY = Buffer.alloc(32, 7).toString('base64')

const started = await startPostgres()
const server = started as PostgresServer
afterAll(async () => {
  if (!('missing' in started)) await server.stop()
})

const numbered: Record<Store['kind'], RawBuilder<unknown>> = {
  sqlite: sql`with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${sql.lit(LAST)})`,
  postgres: sql`with numbers(n) as (select * from generate_series(1, ${sql.lit(LAST)}))`,
}

async function happened(store: Store): Promise<void> {
  const [old, young] = [Date.now() - 10 * DAY, Date.now()]
  const at = sql`case when n <= ${sql.lit(OLD)} then ${sql.lit(old)} else ${sql.lit(young)} end`
  await store.write(async (tx) => {
    await unlimited(store, tx)
    await sql`
      insert into events (sequence, id, type, resource_type, resource_id, object_json, dedupe_key, created_at, latest_at)
      ${numbered[store.kind]} select n, 'evt_' || n,
        case when n % ${sql.lit(SHARE)} = 0 then 'token.created' else 'pool.live' end,
        'pool', 'pool-' || n, '{}', 'key ' || n, ${at}, ${at} from numbers`.execute(tx)
    await sql`update counters set value = ${sql.lit(LAST)} where name = 'events'`.execute(tx)
  })
}

/** What is stored after a kill: where it begins, and what was removed before. */
async function storedNow(store: Store) {
  const one = async <T>(query: RawBuilder<T>) => (await query.execute(store.db)).rows[0]!
  const { first } = await one(sql<{ first: number }>`select value as first from counters where name = 'events_first'`)
  const events = await one(
    sql<{ from: number; to: number; rows: number }>`
      select min(sequence) as "from", max(sequence) as "to", count(*) as rows from events`,
  )
  const { keys } = await one(sql<{ keys: number }>`select count(*) as keys from removed_event_keys`)
  return { first, ...events, rows: Number(events.rows), keys: Number(keys) }
}

describe.each(['SQLite', 'PostgreSQL'])('on %s', (name) => {
  const missing = name === 'PostgreSQL' && 'missing' in started
  it.skipIf(missing)('kills leave a whole end of the sequence, and the subscription gets all of it', async () => {
    const dataDir = temporaryFolder()
    const options: StoreOptions =
      name === 'PostgreSQL' ? { dataDir, databaseUrl: await server.createMigratedDatabase() } : { dataDir }
    const env: Record<string, string> = {
      SVC_WEBHOOKS_ALLOW_PRIVATE: 'true',
      SVC_LOG_LEVEL: 'error',
      ...(options.databaseUrl && { SVC_DATABASE_URL: options.databaseUrl, SVC_ENCRYPTION_KEY: ENCRYPTION_KEY }),
    }
    const flags = ['--rpc-port', '0']
    const receiver = await openReceiver()
    onTestFinished(() => receiver.close())
    let daemon = await startDaemon({ dataDir, flags, env })
    onTestFinished(() => daemon.stop('SIGKILL'))
    const body = { url: receiver.url, enabled_events: ['token.created'] }
    expect((await daemon.request('POST', '/v2/webhook-subscriptions', { body })).status).toBe(201)
    await daemon.stop()

    const store = await openStore(options)
    onTestFinished(() => store.close())
    await happened(store)
    await store.write((tx) => tx.updateTable('webhook_subscriptions').set({ cursor: CURSOR }).execute())

    const kills: number[] = []
    Object.assign(env, { SVC_RETENTION_EVENTS_DAYS: '1' })
    const isAt = (sequence: number) =>
      expect
        .poll(async () => (await storedNow(store)).first, { interval: 5, timeout: 120_000 })
        .toBeGreaterThanOrEqual(sequence)
    for (const target of [3_000, 9_000, 15_000, 21_000, 27_000]) {
      daemon = await startDaemon({ dataDir, flags, env })
      await isAt(target)
      await daemon.stop('SIGKILL')
      const { first, from, to, rows, keys } = await storedNow(store)
      expect([from, to, rows, keys]).toEqual([first, LAST, LAST + 1 - first, first - 1])
      kills.push(first)
    }
    process.stdout.write(`  ${name}: killed at ${kills.join(', ')}\n`)
    expect(new Set(kills).size).toBeGreaterThan(2)
    daemon = await startDaemon({ dataDir, flags, env })
    const wanted = Array.from({ length: (LAST - CURSOR) / SHARE }, (_, n) => CURSOR + (n + 1) * SHARE)
    const delivered = () => [...new Set(receiver.all.map(({ sequence }) => sequence))].toSorted((a, b) => a - b)
    await expect.poll(delivered, { timeout: 120_000 }).toEqual(wanted)
    const queued = async () => (await store.db.selectFrom('webhook_queue').select('sequence').execute()).length
    await expect.poll(queued, { timeout: 120_000 }).toBe(0)
    // What was still to be delivered at the first look is removed at the next one.
    await daemon.stop()
    daemon = await startDaemon({ dataDir, flags, env })
    await isAt(OLD + 1)
    expect(await storedNow(store)).toEqual({ first: OLD + 1, from: OLD + 1, to: LAST, rows: YOUNG, keys: OLD })
  })
})
