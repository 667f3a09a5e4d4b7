/** A million events replayed to one subscription: nobody else waits for it, and a daemon that is killed on the way goes on where it was. */
import { type RawBuilder, sql } from 'kysely'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { openStore, type StoreOptions } from '../../src/store/open.ts'
import { unlimited } from '../store/many-rows.ts'
import { type PostgresServer, startPostgres } from '../store/postgres-server.ts'
import { type Daemon, startDaemon } from '../support/daemon.ts'
import { openReceiver } from '../support/receiver.ts'
import { temporaryFolder } from '../support/service.ts'

/** One of so many is wanted, so that looking through the others is what takes the time. */
const SHARE = 500
const ENCRYPTION_KEY = Buffer.alloc(32, 7).toString('base64')
/** Generous for a loaded machine; before there were steps an answer took 39 seconds. */
const ANSWER_MS = 3_000

const started = await startPostgres()
const server = started as PostgresServer
afterAll(async () => {
  if (!('missing' in started)) await server.stop()
})

const numbered: Record<string, (count: number) => RawBuilder<unknown>> = {
  SQLite: (count) =>
    sql`with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${sql.lit(count)})`,
  PostgreSQL: (count) => sql`with numbers(n) as (select * from generate_series(1, ${sql.lit(count)}))`,
}

async function happened(options: StoreOptions, name: string, count: number): Promise<void> {
  const store = await openStore(options)
  const insertion = (numbers: RawBuilder<unknown>) => sql`
    insert into events (sequence, id, type, resource_type, resource_id, object_json, dedupe_key, created_at, latest_at)
    ${numbers} select n, 'evt_' || n, case when n % ${sql.lit(SHARE)} = 0 then 'token.created' else 'pool.live' end,
      'pool', 'pool-' || n, '{}', 'x' || n, n, n from numbers`
  await store.write(async (tx) => {
    await unlimited(store, tx)
    await insertion(numbered[name]!(count)).execute(tx)
    await sql`update counters set value = ${sql.lit(count)} where name = 'events'`.execute(tx)
  })
  await store.close()
}

describe.each([
  ['SQLite', 1_000_000],
  ['PostgreSQL', 500_000],
] as const)('a replay on %s of %i events', (name, count) => {
  it.skipIf(name === 'PostgreSQL' && 'missing' in started)(
    'is exact across a kill, and leaves every other answer quick',
    async () => {
      const dataDir = temporaryFolder()
      const env: Record<string, string> = { SVC_WEBHOOKS_ALLOW_PRIVATE: 'true', SVC_LOG_LEVEL: 'error' }
      const options: StoreOptions = { dataDir }
      if (name === 'PostgreSQL') {
        options.databaseUrl = await server.createDatabase()
        Object.assign(env, { SVC_DATABASE_URL: options.databaseUrl, SVC_ENCRYPTION_KEY: ENCRYPTION_KEY })
      }
      const start = () => startDaemon({ dataDir, flags: ['--rpc-port', '0'], env })
      // A database with rows is taken for an installation's only where one has begun it.
      await (await start()).stop()
      await happened(options, name, count)
      const receiver = await openReceiver()
      onTestFinished(() => receiver.close())
      let daemon: Daemon = await start()
      onTestFinished(() => daemon.stop('SIGKILL'))
      const store = await openStore(options)
      onTestFinished(() => store.close())
      const open = () => store.db.selectFrom('webhook_replays').select('through').executeTakeFirst()

      const body = { url: receiver.url, enabled_events: ['token.created'] }
      const { id } = (await daemon.request('POST', '/v2/webhook-subscriptions', { body })).json.data
      let slowest = 0
      const timed = async (method: string, path: string, sent?: unknown) => {
        const began = performance.now()
        const answer = await daemon.request(method, path, sent === undefined ? {} : { body: sent })
        slowest = Math.max(slowest, performance.now() - began)
        return answer
      }
      const replay = await timed('POST', `/v2/webhook-subscriptions/${id}/replays`, { since: 0 })
      expect(replay.json.data).toEqual({ queued: 2_000 / SHARE, through_sequence: 2_000, last_sequence: count })

      while (((await open())?.through ?? count) < count / 4) await timed('GET', '/v2/pools')
      await daemon.stop('SIGKILL')
      const left = (await open())!.through
      expect(left).toBeLessThan(count)
      daemon = await start()
      const wanted = count / SHARE
      const ids = () => new Set(receiver.all.map((delivered) => delivered.id))
      const until = performance.now() + 240_000
      while ((ids().size < wanted || (await open()) !== undefined) && performance.now() < until) {
        await timed('GET', '/v2/events?limit=1')
        await timed('POST', '/v2/api-keys', { name: 'meanwhile' })
      }
      expect(await open()).toBeUndefined()
      expect(ids().size).toBe(wanted)
      expect(receiver.all.every(({ sequence }) => sequence % SHARE === 0)).toBe(true)
      // Only what was under way when it was killed comes twice.
      expect(receiver.all.length - wanted).toBeLessThanOrEqual(32)
      process.stdout.write(`  ${name}: slowest answer ${slowest.toFixed(0)} ms, killed at ${left} of ${count}\n`)
      expect(slowest).toBeLessThan(ANSWER_MS)
    },
  )
})
