/** The files of a SQLite database: the write-ahead log under readers without end, and a file from which much was removed. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { sql } from 'kysely'
import { describe, expect, onTestFinished, test } from 'vitest'
import { insertToken, pageTokens } from '../../src/store/resources/tokens.ts'
import { openSqlite } from '../../src/store/sqlite/store.ts'
import type { Store } from '../../src/store/store.ts'
import { numbers, temporaryFolder } from './databases.ts'
import { token } from './rows.ts'

const MIB = 1024 * 1024

async function open(dataDir: string, largestWalBytes = 64 * MIB): Promise<Store> {
  const store = await openSqlite({ dataDir, largestWalBytes })
  onTestFinished(() => store.close())
  return store
}

const large = (name: string) => ({ ...token(name), raw_json: 'x'.repeat(256 * 1024) })

describe('the write-ahead log', () => {
  test('grows behind a reader that never ends, which keeps its view, and no write is lost', async () => {
    const dataDir = temporaryFolder()
    const store = await open(dataDir, MIB)
    await store.write((tx) => insertToken(tx, token('first')))
    const reader = new Database(join(dataDir, 'svc.db'), { readonly: true })
    onTestFinished(() => void reader.close())
    reader.exec('begin')
    reader.prepare('select count(*) from tokens').get()
    for (const n of numbers(40)) await store.write((tx) => insertToken(tx, large(`${n}`)))
    expect(statSync(join(dataDir, 'svc.db-wal')).size).toBeGreaterThan(8 * MIB)
    expect(reader.prepare('select count(*) as rows from tokens').get()).toEqual({ rows: 1 })
    reader.exec('commit')
    expect(reader.prepare('select count(*) as rows from tokens').get()).toEqual({ rows: 41 })
  })
})

describe('the database file', () => {
  test('returns the space of removed rows in steps, and keeps every other row', async () => {
    const dataDir = temporaryFolder()
    const store = await open(dataDir)
    for (const n of numbers(100)) await store.write((tx) => insertToken(tx, large(`${n}`)))
    const settled = () => {
      const watcher = new Database(join(dataDir, 'svc.db'))
      watcher.pragma('wal_checkpoint(TRUNCATE)')
      const pages = watcher.pragma('page_count', { simple: true }) as number
      watcher.close()
      return pages
    }
    const before = settled()
    expect(await store.reclaim()).toBe(false)
    await store.write((tx) => sql`delete from tokens where seq > 10`.execute(tx))
    expect(settled()).toBe(before)
    let steps = 0
    while (await store.reclaim()) steps++
    expect(steps).toBeGreaterThan(3)
    expect(settled()).toBeLessThan(before / 2)
    expect((await pageTokens(store.db, { limit: 100 })).rows.map(({ raw_json }) => raw_json?.length)).toEqual(
      numbers(10).map(() => 256 * 1024),
    )
    expect((await sql`pragma quick_check`.execute(store.db)).rows).toEqual([{ quick_check: 'ok' }])
  })
})
