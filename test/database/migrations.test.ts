/** A database is copied before it is migrated, and one that is not as its migrations leave it is not touched. */
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Kysely, sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { silentLog } from '../../src/platform/log.ts'
import { DATABASE_FILE } from '../../src/settings/config.ts'
import { COPIES_FOLDER } from '../../src/store/migrations/copy-before.ts'
import type { SchemaDialect } from '../../src/store/migrations/dialect.ts'
import { openStore } from '../../src/store/open.ts'
import { insertToken, pageTokens } from '../../src/store/resources/tokens.ts'
import { MIGRATIONS, type Tables } from '../../src/store/schema.ts'
import { factsOfSqlite } from '../../src/store/sqlite/copy.ts'
import { earlier, numbers, opened, postgres, sqlite, type TestDatabase } from '../store/databases.ts'
import { ALL_RELEASED, LATER, RELEASED } from '../store/later-migration.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { token } from '../store/rows.ts'
import { itOnSqliteAlone } from '../support/database.ts'
import { inSoak } from '../support/runs.ts'
import { startService } from '../support/service.ts'

const server = await startPostgres()
const pg = 'missing' in server ? undefined : postgres(server)

const addToken = (db: Kysely<Tables>) =>
  sql`insert into tokens (mint, status, token_program, raw_json, created_at) values ('m', 'created', 'spl', '{}', 1)`.execute(
    db,
  )

describe('a migration on SQLite', () => {
  it('keeps a copy of the earlier database and names it', async () => {
    const options = await sqlite.fresh()
    await earlier(options, addToken)
    const reports: unknown[] = []
    const store = await openStore({ ...options, onMigrated: (report) => reports.push(report) })
    await store.close()
    const [name] = readdirSync(join(options.dataDir, COPIES_FOLDER))
    const copy = join(options.dataDir, COPIES_FOLDER, name!)
    expect(reports).toEqual([{ applied: [LATER], copy }])
    expect(name).toMatch(new RegExp(`^\\d{8}T\\d{6}Z-${RELEASED}\\.db$`))
    expect(statSync(copy).mode & 0o777).toBe(0o600)
    expect(await factsOfSqlite(copy)).toMatchObject({ damage: [], applied: ALL_RELEASED, pending: [LATER] })
    // The copy is a database of that time, and becomes one of today when it is put back.
    rmSync(join(options.dataDir, DATABASE_FILE))
    writeFileSync(join(options.dataDir, DATABASE_FILE), '')
    copyFileSync(copy, join(options.dataDir, DATABASE_FILE))
    expect((await pageTokens((await opened(options)).db, { limit: 5 })).rows.map(({ mint }) => mint)).toEqual(['m'])
  })

  it.skipIf(!inSoak)(
    'keeps the newest three copies, and removes what a stopped process left',
    { tags: 'sampled' },
    async () => {
      const options = await sqlite.fresh()
      const folder = join(options.dataDir, COPIES_FOLDER)
      await earlier(options, addToken)
      mkdirSync(folder)
      for (const n of numbers(5)) writeFileSync(join(folder, `2020010${n + 1}T000000Z-${RELEASED}.db`), '')
      writeFileSync(join(folder, `20200101T000000Z-${RELEASED}.db.0123456789ab`), '')
      writeFileSync(join(folder, 'notes.txt'), '')
      await (await openStore(options)).close()
      expect(readdirSync(folder).sort()).toEqual([
        `20200104T000000Z-${RELEASED}.db`,
        `20200105T000000Z-${RELEASED}.db`,
        expect.stringMatching(new RegExp(`-${RELEASED}\\.db$`)),
        'notes.txt',
      ])
    },
  )

  it('does not start if the copy cannot be made, and starts without one if told to', async () => {
    const options = await sqlite.fresh()
    await earlier(options, addToken)
    // A file stands where the folder of the copies belongs.
    writeFileSync(join(options.dataDir, COPIES_FOLDER), '')
    await expect(openStore(options)).rejects.toThrow(/could not be copied first: .*svc db migrate --skip-copy/)
    expect((await factsOfSqlite(join(options.dataDir, DATABASE_FILE))).pending).toEqual([LATER])
    await (await openStore({ ...options, copyFirst: false })).close()
    expect((await factsOfSqlite(join(options.dataDir, DATABASE_FILE))).pending).toEqual([])
  })

  itOnSqliteAlone('is logged by the daemon, with the name of the copy', 'PostgreSQL is not copied', async () => {
    const options = await sqlite.fresh()
    await earlier(options)
    const logged: unknown[] = []
    const log = { ...silentLog, info: (fields: object, message: string) => logged.push({ ...fields, message }) }
    await startService({ dataDir: options.dataDir, log })
    const copy = expect.stringMatching(new RegExp(`before-migration/\\d{8}T\\d{6}Z-${RELEASED}\\.db$`))
    expect(logged).toContainEqual(expect.objectContaining({ copy, message: 'the database was copied and migrated' }))
  })

  it('makes no copy of a database that is new or current', async () => {
    const options = await sqlite.fresh()
    const reports: unknown[] = []
    for (const _ of numbers(2)) {
      const store = await openStore({ ...options, onMigrated: (report) => reports.push(report) })
      await store.close()
    }
    expect(reports).toEqual([])
    expect(existsSync(join(options.dataDir, COPIES_FOLDER))).toBe(false)
  })
})

describe.each([
  ['SQLite', sqlite],
  ['PostgreSQL', pg],
] as [string, TestDatabase | undefined][])('the migration of symbols on %s', (_, database) => {
  it.skipIf(database === undefined)('finds the symbol of every token that was stored before it', async () => {
    const store = await opened(await database!.fresh())
    const raw = (symbol: unknown) => JSON.stringify({ metadata: { name: 'x', symbol } })
    const odd = ['not JSON', 'null', '{"metadata":null}', raw(7), raw('\0'), raw('x'.repeat(500)), raw('\ud800')]
    const texts = [...odd, ...numbers(250).map((n) => raw(` Coin${n}\0`))]
    await store.write(async (tx) => {
      for (const [n, raw_json] of texts.entries()) await insertToken(tx, { ...token(`m${n}`), raw_json })
    })
    const { fill } = MIGRATIONS['0011-symbol-search']!({} as SchemaDialect)
    let steps = 0
    for (let after: string | null = ''; after !== null; steps++) {
      const place: string = after
      after = await store.write((tx) => fill!(tx as never, place))
    }
    expect(steps).toBe(3)
    const symbols = (await store.db.selectFrom('tokens').select('symbol').orderBy('seq').execute()).map(
      (row) => row.symbol,
    )
    expect(symbols.slice(0, 6)).toEqual([null, null, null, null, null, 'x'.repeat(32)])
    expect(symbols.slice(7)).toEqual(numbers(250).map((n) => `Coin${n}`))
    expect((await pageTokens(store.db, { limit: 5, symbol: 'COIN249' })).rows).toHaveLength(1)
  })
})

describe.each([
  ['SQLite', sqlite],
  ['PostgreSQL', pg],
] as [string, TestDatabase | undefined][])('a half-applied migration on %s', (_, database) => {
  const changes: [string, (db: Kysely<Tables>) => Promise<unknown>, RegExp][] = [
    [
      'a column of a later migration',
      (db) => sql`alter table tokens add column made_up text`.execute(db),
      /migration \d{4}-[a-z-]+ is the last one recorded, but tokens\.made_up of a later one exists/,
    ],
    [
      'a table of a later migration',
      (db) => sql`create table event_copies (sequence integer)`.execute(db),
      /event_copies of a later one exists/,
    ],
    ['a lost table', (db) => sql`drop table tickers`.execute(db), /tickers is missing/],
    [
      'lost records of migrations',
      (db) => sql`delete from kysely_migration`.execute(db),
      /no migration is recorded, but airdrop_claim_figures of a later one exists/,
    ],
  ]
  it.skipIf(!database).each(changes)(
    'with %s is refused with an explanation and left unchanged',
    async (_, change, why) => {
      const options = await database!.fresh()
      await earlier(options, async (db) => {
        await addToken(db)
        await change(db)
      })
      for (const _ of numbers(2)) await expect(openStore(options)).rejects.toThrow(why)
      await expect(openStore(options)).rejects.toThrow(/nothing was changed: restore a backup \(`svc db restore`\)/)
    },
  )
})
