/** A migration that copies many rows: the daemon answers meanwhile, and goes on where it was killed. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { type Kysely, PostgresDialect, Kysely as Queries, SqliteDialect } from 'kysely'
import pg from 'pg'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { HOUR_MS } from '../../src/platform/timing.ts'
import { DATABASE_FILE } from '../../src/settings/config.ts'
import { claimFigures, claimWindows } from '../../src/store/airdrops/claim-figures.ts'
import { configuredVault } from '../../src/store/installation/vault.ts'
import { migrationState } from '../../src/store/migrations/migrate.ts'
import { openStore, type StoreOptions } from '../../src/store/open.ts'
import type { Tables } from '../../src/store/schema.ts'
import { earlier, numbers, opened, postgres, sqlite, type TestDatabase } from '../store/databases.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { freePort } from '../support/ports.ts'

const PROGRAM = resolve(import.meta.dirname, '../../dist/svc.js')
const KEY = '7'.repeat(64)
const GENESIS = 'chain'
const AIRDROPS = ['one', 'two', 'three']
const CLAIMS = 24_000
const CLAIMS_OF_ONE = CLAIMS / AIRDROPS.length
const FILLED = '0038-airdrop-claims'

const server = await startPostgres()
const onPostgres = 'missing' in server ? undefined : postgres(server)
afterAll(async () => {
  if (!('missing' in server)) await server.stop()
})

describe.each([
  ['SQLite', sqlite],
  ['PostgreSQL', onPostgres],
] as [string, TestDatabase | undefined][])('a migration that copies many rows on %s', (_, database) => {
  it.skipIf(!database)('lets the daemon answer, and goes on where a killed one was', { timeout: 300_000 }, async () => {
    const options = await manyClaims(database!)
    const { db, end } = looking(options)
    onTestFinished(end)
    const first = await startedDaemon(options)
    await first.until('/ready', ({ status, text }) => status === 503 && text.includes('"database":"migrating: '))
    expect(await first.ask('/v2/health')).toMatchObject({ status: 200, json: { data: { status: 'healthy' } } })
    expect(await first.ask('/v2/airdrops')).toMatchObject({
      status: 500,
      retryAfter: '1',
      json: { error: { code: 'internal_error', message: expect.stringContaining('migrating') }, meta: {} },
    })
    await until(async () => (await migrationState(db)).filling === FILLED)
    await first.kill()

    const stopped = await migrationState(db)
    expect(stopped).toMatchObject({ filling: FILLED, applied: expect.not.arrayContaining([FILLED]) })
    expect(stopped.pending[0]).toBe(FILLED)
    const copied = await countClaims(db)
    expect(copied).toBeGreaterThan(0)
    expect(copied).toBeLessThan(CLAIMS)

    const second = await startedDaemon(options)
    await second.until('/ready', ({ status }) => status === 200)
    await second.kill()
    expect(await migrationState(db)).toMatchObject({ filling: null, pending: [] })
    await expectFigures(options)
  })

  it.skipIf(!database)('is done once by two processes that start together', { timeout: 300_000 }, async () => {
    const options = await manyClaims(database!)
    const stores = await Promise.all([openStore(options), openStore({ ...options, copyFirst: false })])
    for (const store of stores) await store.close()
    await expectFigures(options)
  })

  it.skipIf(!database)('gives every event the latest time so far', async () => {
    const options = await database!.fresh()
    // Clocks jump: each hundredth event is of an hour later than the next ones.
    const timeOf = (n: number) => n * 10 + (n % 100 === 0 ? HOUR_MS : 0)
    await earlier(options, '0013-pool-submissions', async (db) => {
      await inParts(numbers(4_500), async (part) => {
        const rows = part.map((n) => ({ ...eventOf(n, 'pool.live', 'pool', {}), created_at: timeOf(n + 1) }))
        await db
          .insertInto('events')
          .values(rows as never)
          .execute()
      })
    })
    const store = await opened(options)
    const rows = await store.db.selectFrom('events').select(['sequence', 'latest_at']).orderBy('sequence').execute()
    let latest = 0
    const expected = numbers(4_500).map((n) => {
      latest = Math.max(latest, timeOf(n + 1))
      return { sequence: n + 1, latest_at: latest }
    })
    expect(rows).toEqual(expected)
  })

  it.skipIf(!database)('gives every fee claim its kind and claimer', async () => {
    const options = await database!.fresh()
    const types = ['fee_claim.executed', 'fee_claim.split_executed'] as const
    await earlier(options, '0032-ledger', async (db) => {
      await inParts(numbers(1_400), async (part) => {
        const claims = part.map((n) => ({
          id: `claim ${n}`,
          type: types[n % 2]!,
          pool_address: 'pool',
          occurred_at: n,
          created_at: n,
        }))
        await db
          .insertInto('fee_claims')
          .values(claims as never)
          .execute()
        const object = (n: number) => ({ id: `claim ${n}`, kind: 'dbc', claimer: `wallet ${n}`, pool_address: 'pool' })
        const events = part.map((n) => ({ ...eventOf(n, types[n % 2]!, 'fee_claim', object(n)), latest_at: n }))
        await db
          .insertInto('events')
          .values(events as never)
          .execute()
      })
    })
    const store = await opened(options)
    const claims = store.db
      .selectFrom('fee_claims')
      .select(['id', 'kind', 'beneficiary', 'claimer'])
      .orderBy('created_at')
    expect(await claims.execute()).toEqual(
      numbers(1_400).map((n) => ({ id: `claim ${n}`, kind: 'dbc', beneficiary: 'partner', claimer: `wallet ${n}` })),
    )
  })
})

/** A database of an earlier version with the events of many claims, as an installation with a key has it. */
async function manyClaims(database: TestDatabase): Promise<StoreOptions> {
  const options = await database.fresh()
  await earlier(options, '0036-fee-schedules', async (db) => {
    const settings = { vault_fingerprint: configuredVault(options.dataDir, KEY)!.fingerprint, vault_begun: 'yes' }
    const rows = Object.entries(settings).map(([name, value]) => ({ name, value }))
    await db.insertInto('settings').values(rows).execute()
    for (const id of AIRDROPS) {
      const tree = { id, mint: id, airdrop_count: 0, root: 'r', leaf_count: 9, total: '1', list_sha256: 'x' }
      const more = { status: 'claiming', genesis: GENESIS, created_at: 1 }
      await db
        .insertInto('merkle_trees')
        .values({ ...tree, ...more } as never)
        .execute()
    }
    await inParts(numbers(CLAIMS), async (part) => {
      const events = part.map((n) => {
        const object = {
          claimer: `wallet ${n}`,
          amount: String(n),
          signature: `signature ${n}`,
          slot: n,
          source: 'chain',
        }
        return { ...eventOf(n, 'airdrop.claimed', 'airdrop', object), resource_id: airdropOf(n), latest_at: n }
      })
      await db
        .insertInto('events')
        .values(events as never)
        .execute()
    })
  })
  return options
}

const airdropOf = (n: number) => AIRDROPS[n % AIRDROPS.length]!
/** Two thousand claims an hour. */
const hourOf = (n: number) => Math.floor(n / 2_000)

const eventOf = (n: number, type: string, resource: string, object: object) => ({
  ...{ sequence: n + 1, id: `evt_${n}`, type, resource_type: resource, resource_id: resource },
  ...{ object_json: JSON.stringify(object), external_uid: null, metadata_json: null, dedupe_key: `${n}` },
  created_at: hourOf(n) * HOUR_MS + n,
})

async function inParts<T>(items: readonly T[], insert: (part: readonly T[]) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < items.length; at += 200) await insert(items.slice(at, at + 200))
}

async function expectFigures(options: StoreOptions): Promise<void> {
  const store = await opened(options)
  for (const airdrop_id of AIRDROPS) {
    const of = { genesis: GENESIS, airdrop_id }
    const own = numbers(CLAIMS).filter((n) => airdropOf(n) === airdrop_id)
    const middle = own.length / 2
    const at = (n: number) => hourOf(n) * HOUR_MS + n
    expect(await claimFigures(store.db, of)).toEqual({
      ...{ claims: CLAIMS_OF_ONE, wallets: CLAIMS_OF_ONE, amount_locked: 0n },
      amount: own.reduce((sum, n) => sum + BigInt(n), 0n),
      median: BigInt(Math.floor((own[middle - 1]! + own[middle]!) / 2)),
      ...{ first_at: at(own[0]!), last_at: at(own.at(-1)!) },
    })
    const windows = await claimWindows(store.db, of, { since: 0, hours: 1 })
    expect(windows.map(({ claims, amount }) => [claims, amount])).toEqual(
      numbers(hourOf(CLAIMS - 1) + 1).map((hour) => {
        const within = own.filter((n) => hourOf(n) === hour)
        return [within.length, within.reduce((sum, n) => sum + BigInt(n), 0n)]
      }),
    )
  }
  expect(await countClaims(store.db)).toBe(CLAIMS)
}

async function countClaims(db: Kysely<Tables>): Promise<number> {
  const row = await db
    .selectFrom('airdrop_claims')
    .select(({ fn }) => fn.countAll().as('n'))
    .executeTakeFirstOrThrow()
  return Number(row.n)
}

/** Looks at the database beside the process that migrates it. */
function looking({ dataDir, databaseUrl }: StoreOptions): { db: Kysely<Tables>; end(): Promise<void> } {
  const dialect =
    databaseUrl === undefined
      ? new SqliteDialect({ database: new Database(join(dataDir, DATABASE_FILE), { timeout: 10_000 }) })
      : new PostgresDialect({ pool: new pg.Pool({ connectionString: databaseUrl }) })
  const db = new Queries<Tables>({ dialect })
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
async function startedDaemon({ dataDir, databaseUrl }: StoreOptions): Promise<Started> {
  const port = await freePort()
  const child: ChildProcess = spawn(process.execPath, [PROGRAM, 'serve', '--port', String(port), '--rpc-port', '0'], {
    cwd: dataDir,
    env: {
      ...{ PATH: process.env.PATH ?? '', HOME: dataDir, SVC_DATA_DIR: dataDir, SVC_ENCRYPTION_KEY: KEY },
      ...(databaseUrl === undefined ? {} : { SVC_DATABASE_URL: databaseUrl }),
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
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
