/** A database is copied before it is migrated, and one that is not as its migrations leave it is not touched. */
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Kysely, sql } from 'kysely'
import { afterAll, describe, expect, it } from 'vitest'
import { silentLog } from '../../src/platform/log.ts'
import { DATABASE_FILE } from '../../src/settings/config.ts'
import { COPIES_FOLDER } from '../../src/store/migrations/copy-before.ts'
import { openStore } from '../../src/store/open.ts'
import { pageTokens } from '../../src/store/resources/tokens.ts'
import type { Tables } from '../../src/store/schema.ts'
import { factsOfSqlite } from '../../src/store/sqlite/copy.ts'
import { resumeHeld } from '../../src/store/webhooks/outcomes.ts'
import { sendable } from '../../src/store/webhooks/queue.ts'
import { earlier, numbers, opened, postgres, sqlite, type TestDatabase } from '../store/databases.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { itOnSqliteAlone } from '../support/database.ts'
import { startService } from '../support/service.ts'

const server = await startPostgres()
const pg = 'missing' in server ? undefined : postgres(server)
afterAll(async () => {
  if (!('missing' in server)) await server.stop()
})

const LAST = '0013-pool-submissions'
const addToken = (db: Kysely<Tables>) =>
  sql`insert into tokens (mint, status, token_program, created_at) values ('m', 'created', 'spl', 1)`.execute(db)

describe('a migration on SQLite', () => {
  it('leaves a copy of the database as it was, and says so', async () => {
    const options = await sqlite.fresh()
    await earlier(options, LAST, addToken)
    const reports: unknown[] = []
    const store = await openStore({ ...options, onMigrated: (report) => reports.push(report) })
    await store.close()
    const [name] = readdirSync(join(options.dataDir, COPIES_FOLDER))
    const copy = join(options.dataDir, COPIES_FOLDER, name!)
    expect(reports).toEqual([{ applied: expect.arrayContaining(['0014-bounded-steps', '0022-signing-ids']), copy }])
    expect(name).toMatch(/^\d{8}T\d{6}Z-0013-pool-submissions\.db$/)
    expect(statSync(copy).mode & 0o777).toBe(0o600)
    const facts = await factsOfSqlite(copy)
    expect(facts).toMatchObject({ damage: [], applied: expect.arrayContaining([LAST]) })
    expect(facts.pending[0]).toBe('0014-bounded-steps')
    // The copy is a database of that time, and becomes one of today when it is put back.
    rmSync(join(options.dataDir, DATABASE_FILE))
    writeFileSync(join(options.dataDir, DATABASE_FILE), '')
    copyFileSync(copy, join(options.dataDir, DATABASE_FILE))
    expect((await pageTokens((await opened(options)).db, { limit: 5 })).rows.map(({ mint }) => mint)).toEqual(['m'])
  })

  it('keeps the newest three copies, and clears what a stopped process left', async () => {
    const options = await sqlite.fresh()
    const folder = join(options.dataDir, COPIES_FOLDER)
    await earlier(options, LAST, addToken)
    mkdirSync(folder)
    for (const n of numbers(5)) writeFileSync(join(folder, `2020010${n + 1}T000000Z-0001-ground.db`), '')
    writeFileSync(join(folder, '20200101T000000Z-0001-ground.db.0123456789ab'), '')
    writeFileSync(join(folder, 'notes.txt'), '')
    await (await openStore(options)).close()
    expect(readdirSync(folder).sort()).toEqual([
      '20200104T000000Z-0001-ground.db',
      '20200105T000000Z-0001-ground.db',
      expect.stringMatching(/-0013-pool-submissions\.db$/),
      'notes.txt',
    ])
  })

  it('does not begin where the copy cannot be made, and begins without one when told to', async () => {
    const options = await sqlite.fresh()
    await earlier(options, LAST, addToken)
    // A file stands where the folder of the copies belongs.
    writeFileSync(join(options.dataDir, COPIES_FOLDER), '')
    await expect(openStore(options)).rejects.toThrow(/could not be copied before: .*svc db migrate --skip-copy/)
    expect((await factsOfSqlite(join(options.dataDir, DATABASE_FILE))).pending[0]).toBe('0014-bounded-steps')
    await (await openStore({ ...options, copyFirst: false })).close()
    expect((await factsOfSqlite(join(options.dataDir, DATABASE_FILE))).pending).toEqual([])
  })

  itOnSqliteAlone('is in the log of the daemon, with the name of the copy', 'PostgreSQL is not copied', async () => {
    const options = await sqlite.fresh()
    await earlier(options, LAST, async () => undefined)
    const logged: unknown[] = []
    const log = { ...silentLog, info: (fields: object, message: string) => logged.push({ ...fields, message }) }
    await startService({ dataDir: options.dataDir, log })
    const copy = expect.stringMatching(/before-migration\/\d{8}T\d{6}Z-0013-pool-submissions\.db$/)
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
] as [string, TestDatabase | undefined][])('a half-applied migration on %s', (_, database) => {
  const changes: [string, (db: Kysely<Tables>) => Promise<unknown>, RegExp][] = [
    [
      'a column of a later migration',
      (db) => sql`alter table audit_entries add column seal text`.execute(db),
      /migration 0013-pool-submissions is the last one recorded, and audit_entries\.seal of a later one is there/,
    ],
    [
      'a table of a later migration',
      (db) => sql`create table webhook_removals (seq integer)`.execute(db),
      /webhook_removals of a later one is there/,
    ],
    ['a lost table', (db) => sql`drop table tickers`.execute(db), /tickers is missing/],
    [
      'lost records of migrations',
      (db) => sql`delete from kysely_migration`.execute(db),
      /no migration is recorded, and api_keys of a later one is there/,
    ],
  ]
  it.skipIf(!database).each(changes)('with %s is refused in words and left as it is', async (_, change, why) => {
    const options = await database!.fresh()
    await earlier(options, LAST, async (db) => {
      await addToken(db)
      await change(db)
    })
    for (const _ of numbers(2)) await expect(openStore(options)).rejects.toThrow(why)
    await expect(openStore(options)).rejects.toThrow(/nothing was changed: restore a backup \(`svc db restore`\)/)
  })
})

describe.each([
  ['SQLite', sqlite],
  ['PostgreSQL', pg],
] as [string, TestDatabase | undefined][])('the delivery queue of an earlier version on %s', (_, database) => {
  it.skipIf(!database)('is delivered by this one', async () => {
    const options = await database!.fresh()
    const rows = [
      ['whs_1', 'evt_1', 1, 'waiting', 0],
      ['whs_1', 'evt_2', 2, 'waiting', 0],
      ['whs_1', 'evt_3', 3, 'waiting', 2],
      ['whs_1', 'evt_4', 4, 'held', 7],
      ['whs_2', 'evt_1', 1, 'held', 7],
    ] as const
    await earlier(options, '0027-assets', async (db) => {
      for (const [subscription_id, event_id, sequence, state, attempts] of rows) {
        const about = { subscription_id, event_id, sequence, resource: `pool:${sequence % 2}`, state, attempts }
        await db
          .insertInto('webhook_queue')
          .values({ ...about, next_attempt_at: 0, claimed_until: 0 })
          .execute()
      }
    })
    const store = await openStore(options)
    const due = () => sendable(store.db, { id: 'whs_1', cursor: 10, has_retries: 1 }, 1, 10)
    const ids = async () => (await due()).map(({ event_id }) => event_id)
    expect(await ids()).toEqual(['evt_1', 'evt_2', 'evt_3'])
    await store.write((tx) => resumeHeld(tx, 'whs_1', 0))
    // The fourth waits for the second, of the same resource.
    expect(await ids()).toEqual(['evt_1', 'evt_2', 'evt_3'])
    await store.write((tx) => tx.deleteFrom('webhook_queue').where('event_id', '=', 'evt_2').execute())
    expect(await ids()).toEqual(['evt_1', 'evt_3', 'evt_4'])
    const held = store.db.selectFrom('webhook_queue').select('subscription_id').where('state', '=', 'held')
    expect(await held.execute()).toEqual([{ subscription_id: 'whs_2' }])
    await store.close()
  })
})

describe.each([
  ['SQLite', sqlite],
  ['PostgreSQL', pg],
] as [string, TestDatabase | undefined][])('trees and sponsorships of an earlier version on %s', (_, database) => {
  it.skipIf(!database)('belong to nobody, and pay only for a list that was stored before they began', async () => {
    const options = await database!.fresh()
    const [begun, list] = [1_000, { leaf_count: 1, total: '1', list_sha256: '', status: 'tree_built' }] as const
    await earlier(options, '0038-airdrop-claims', async (db) => {
      for (const [id, created_at] of Object.entries({ kept: begun - 1, replaced: begun + 1 })) {
        const tree = {
          ...list,
          id,
          mint: id,
          airdrop_count: 0,
          root: `root of ${id}`,
          external_uid: null,
          metadata_json: null,
        }
        await db
          .insertInto('merkle_trees')
          .values({ ...tree, created_at } as never)
          .execute()
      }
      for (const airdrop_id of ['kept', 'replaced', 'gone']) {
        const terms = { airdrop_id, enabled: 1, budget: '5', used: '0', created_by: 'key', updated_by: 'key' }
        await db
          .insertInto('sponsorships')
          .values({ ...terms, created_at: begun, updated_at: begun } as never)
          .execute()
      }
    })
    const { db } = await opened(options)
    const owners = await db.selectFrom('merkle_trees').select('created_by').execute()
    expect(owners).toEqual([{ created_by: null }, { created_by: null }])
    const roots = await db.selectFrom('sponsorships').select(['airdrop_id', 'root']).orderBy('seq').execute()
    expect(roots.map(({ airdrop_id, root }) => [airdrop_id, root])).toEqual([
      ['kept', 'root of kept'],
      ['replaced', ''],
      ['gone', ''],
    ])
  })
})
