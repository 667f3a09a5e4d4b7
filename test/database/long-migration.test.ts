/** A migration that copies many rows: the daemon answers meanwhile, and goes on where it was killed. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { Kysely, PostgresDialect, SqliteDialect, sql } from 'kysely'
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { DATABASE_FILE } from '../../src/settings/config.ts'
import { configuredVault } from '../../src/store/installation/vault.ts'
import { migrationState } from '../../src/store/migrations/migrate.ts'
import { openStore, type StoreOptions } from '../../src/store/open.ts'
import type { Tables } from '../../src/store/schema.ts'
import { earlier, numbers, postgres, sqlite, type TestDatabase } from '../store/databases.ts'
import { addLaterMigration, LATER } from '../store/later-migration.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { freePort } from '../support/ports.ts'
import { inSoak } from '../support/runs.ts'

const PROGRAM = resolve(import.meta.dirname, 'later-svc.ts')
const TSX = import.meta.resolve('tsx')
const KEY = '7'.repeat(64)
const EVENTS = 2_000
const COPIED = 1_000

const server = await startPostgres()
const onPostgres = 'missing' in server ? undefined : postgres(server)

describe.each([
  ['SQLite', sqlite],
  ['PostgreSQL', onPostgres],
] as [string, TestDatabase | undefined][])('a migration that copies many rows on %s', (_, database) => {
  it.skipIf(!database || !inSoak)(
    'lets the daemon answer, and continues after a kill',
    { timeout: 300_000, tags: 'sampled' },
    async () => {
      const options = await manyEvents(database!)
      const { db, end } = looking(options)
      onTestFinished(end)
      const first = await startedDaemon(options, { STOPS_AFTER: String(COPIED) })
      await first.until(
        '/ready',
        ({ status, text }) => status === 503 && text.includes('"database":"migrating the database'),
      )
      expect(await first.ask('/v2/health')).toMatchObject({ status: 200, json: { data: { status: 'healthy' } } })
      expect(await first.ask('/v2/airdrops')).toMatchObject({
        status: 500,
        retryAfter: '1',
        json: { error: { code: 'internal_error', message: expect.stringContaining('migrating') }, meta: {} },
      })
      await until(async () => (await migrationState(db)).filling === LATER && (await countCopies(db)) === COPIED)
      await first.kill()

      const stopped = await migrationState(db)
      expect(stopped).toMatchObject({ filling: LATER, applied: expect.not.arrayContaining([LATER]) })
      expect(stopped.pending[0]).toBe(LATER)
      expect(await countCopies(db)).toBe(COPIED)

      const second = await startedDaemon(options)
      await second.until('/ready', ({ status }) => status === 200)
      await second.kill()
      expect(await migrationState(db)).toMatchObject({ filling: null, pending: [] })
      expect(await countCopies(db)).toBe(EVENTS)
    },
  )

  it.skipIf(!database)('continues after the last step that was done', async () => {
    const options = await manyEvents(database!)
    addLaterMigration(COPIED, () => Promise.reject(new Error('stopped here')))
    await expect(openStore(options)).rejects.toThrow()
    const { db, end } = looking(options)
    onTestFinished(end)
    expect([(await migrationState(db)).filling, await countCopies(db)]).toEqual([LATER, COPIED])
    addLaterMigration()
    await (await openStore({ ...options, copyFirst: false })).close()
    expect(await migrationState(db)).toMatchObject({ filling: null, pending: [] })
    expect(await countCopies(db)).toBe(EVENTS)
  })

  it.skipIf(!database)('runs once if two stores open together', { timeout: 300_000 }, async () => {
    const options = await manyEvents(database!)
    const stores = await Promise.all([openStore(options), openStore({ ...options, copyFirst: false })])
    for (const store of stores) await store.close()
    const { db, end } = looking(options)
    onTestFinished(end)
    expect(await countCopies(db)).toBe(EVENTS)
  })
})

/** A database of an earlier version with many events, as an installation with a key has it. */
async function manyEvents(database: TestDatabase): Promise<StoreOptions> {
  const options = await database.fresh()
  await earlier(options, async (db) => {
    const settings = { vault_fingerprint: configuredVault(options.dataDir, KEY)!.fingerprint, vault_begun: 'yes' }
    const rows = Object.entries(settings).map(([name, value]) => ({ name, value }))
    await db.insertInto('settings').values(rows).execute()
    for (let at = 0; at < EVENTS; at += 200) {
      const events = numbers(200).map((n) => ({
        ...{ sequence: at + n + 1, id: `evt_${at + n}`, type: 'pool.live', resource_type: 'pool', resource_id: 'pool' },
        ...{ object_json: '{}', external_uid: null, metadata_json: null, dedupe_key: `${at + n}` },
        ...{ created_at: 1, latest_at: 1 },
      }))
      await db.insertInto('events').values(events).execute()
    }
  })
  return options
}

async function countCopies(db: Kysely<Tables>): Promise<number> {
  const { rows } = await sql<{ n: number }>`select count(*) as n from event_copies`.execute(db)
  return Number(rows[0]!.n)
}

/** Looks at the database beside the process that migrates it. */
function looking({ dataDir, databaseUrl }: StoreOptions): { db: Kysely<Tables>; end(): Promise<void> } {
  const dialect =
    databaseUrl === undefined
      ? new SqliteDialect({ database: new Database(join(dataDir, DATABASE_FILE), { timeout: 10_000 }) })
      : new PostgresDialect({ pool: new pg.Pool({ connectionString: databaseUrl }) })
  const db = new Kysely<Tables>({ dialect })
  return { db, end: () => db.destroy() }
}

interface Answered {
  status: number
  text: string
  json: unknown
  retryAfter: string | null
}

interface Started {
  ask(path: string): Promise<Answered>
  until(path: string, isIt: (answer: Answered) => boolean): Promise<void>
  kill(): Promise<void>
}

/** A daemon of which nobody knows whether it has started. */
async function startedDaemon({ dataDir, databaseUrl }: StoreOptions, more: NodeJS.ProcessEnv = {}): Promise<Started> {
  const port = await freePort()
  const child: ChildProcess = spawn(
    process.execPath,
    ['--import', TSX, PROGRAM, 'serve', '--port', String(port), '--rpc-port', '0'],
    {
      cwd: dataDir,
      env: {
        ...{ PATH: process.env.PATH ?? '', HOME: dataDir, SVC_DATA_DIR: dataDir, SVC_ENCRYPTION_KEY: KEY },
        ...(databaseUrl === undefined ? {} : { SVC_DATABASE_URL: databaseUrl }),
        ...more,
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )
  let log = ''
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    log += text
  })
  const ended = once(child, 'exit')
  const kill = async () => {
    child.kill('SIGKILL')
    await ended
  }
  onTestFinished(kill)
  const ask = async (path: string): Promise<Answered> => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`)
    const text = await answer.text()
    return { status: answer.status, text, json: JSON.parse(text), retryAfter: answer.headers.get('retry-after') }
  }
  return {
    ask,
    kill,
    until: (path, isIt) =>
      until(async () => {
        if (child.exitCode !== null) throw new Error(`the daemon ended with ${child.exitCode}: ${log}`)
        return ask(path).then(isIt, () => false)
      }),
  }
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 120_000; !(await isSo()); await delay(2)) {
    if (Date.now() > deadline) throw new Error('it did not come to that')
  }
}
