/** The databases of kill tests, and events by the thousand in them. */
import { sql } from 'kysely'
import type { StoreOptions } from '../../../src/store/open.ts'
import type { Store } from '../../../src/store/store.ts'
import { unlimited } from '../../store/many-rows.ts'
import { openPostgres, type PostgresServer } from '../../store/postgres-server.ts'

const KEY = Buffer.alloc(32, 7).toString('base64')
const started = await openPostgres()

export interface KillDatabase {
  name: string
  /** PostgreSQL cannot be run here. */
  missing: boolean
  options(dataDir: string): Promise<StoreOptions>
  /** For a daemon or a command on it. */
  environment(options: StoreOptions, key?: string): Record<string, string>
}

export const databases: KillDatabase[] = [
  { name: 'SQLite', missing: false, options: async (dataDir) => ({ dataDir }), environment: () => ({}) },
  {
    name: 'PostgreSQL',
    missing: 'missing' in started,
    options: async (dataDir) => ({ dataDir, databaseUrl: await (started as PostgresServer).createDatabase() }),
    environment: ({ databaseUrl }, key = KEY) => ({ SVC_DATABASE_URL: databaseUrl!, SVC_ENCRYPTION_KEY: key }),
  },
]

export async function stopDatabases(): Promise<void> {
  if (!('missing' in started)) await started.stop()
}

interface Events {
  /** One in so many is `token.created`; the others, or all, are `pool.live`. */
  share?: number
  /** Of how many pools they tell; each of one of its own without it. */
  about?: number
  /** The first so many are ten days old. */
  old?: number
}

/** Writes events that nothing has caused, numbered from 1. */
export async function insertEvents(store: Store, count: number, { share, about, old = 0 }: Events = {}): Promise<void> {
  const numbers =
    store.kind === 'sqlite'
      ? sql`with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${sql.lit(count)})`
      : sql`with numbers(n) as (select * from generate_series(1, ${sql.lit(count)}))`
  const type =
    share === undefined
      ? sql`'pool.live'`
      : sql`case when n % ${sql.lit(share)} = 0 then 'token.created' else 'pool.live' end`
  const resource = about === undefined ? sql`n` : sql`(n - 1) % ${sql.lit(about)}`
  const now = Date.now()
  const at = sql`case when n <= ${sql.lit(old)} then ${sql.lit(now - 10 * 86_400_000)} else ${sql.lit(now)} end`
  await store.write(async (tx) => {
    await unlimited(store, tx)
    await sql`
      insert into events (sequence, id, type, resource_type, resource_id, object_json, dedupe_key, created_at, latest_at)
      ${numbers} select n, 'evt_' || n, ${type}, 'pool', 'pool-' || (${resource}), '{}', 'key ' || n, ${at}, ${at}
      from numbers`.execute(tx)
    await sql`update counters set value = ${sql.lit(count)} where name = 'events'`.execute(tx)
  })
}
