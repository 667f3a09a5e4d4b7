/** What only SQLite can do wrong: files, locks between processes, and the commit that many writes share. */
import { chmodSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { sql } from 'kysely'
import { describe, expect, onTestFinished, test } from 'vitest'
import { insertToken, pageTokens } from '../../src/store/resources/tokens.ts'
import { openSqlite } from '../../src/store/sqlite/store.ts'
import { numbers, temporaryFolder } from './databases.ts'
import { token } from './rows.ts'

async function open(dataDir = temporaryFolder(), busyTimeoutMs?: number) {
  const store = await openSqlite(busyTimeoutMs === undefined ? { dataDir } : { dataDir, busyTimeoutMs })
  onTestFinished(() => store.close())
  return store
}

describe('the SQLite store', () => {
  test('makes its folder and files private to their owner', async () => {
    const dataDir = join(temporaryFolder(), 'new', 'folder')
    const store = await open(dataDir)
    await store.write((tx) => insertToken(tx, token('a')))
    expect(statSync(dataDir).mode & 0o777).toBe(0o700)
    const files = readdirSync(dataDir).sort()
    expect(files).toEqual(['svc.db', 'svc.db-shm', 'svc.db-wal'])
    for (const file of files) expect(statSync(join(dataDir, file)).mode & 0o777).toBe(0o600)
  })

  test('uses a write-ahead log, syncs it fully and checks foreign keys', async () => {
    const store = await open()
    const pragma = (name: string) =>
      store.write((tx) => sql<Record<string, unknown>>`pragma ${sql.raw(name)}`.execute(tx))
    expect((await pragma('journal_mode')).rows).toEqual([{ journal_mode: 'wal' }])
    expect((await pragma('synchronous')).rows).toEqual([{ synchronous: 2 }])
    expect((await pragma('foreign_keys')).rows).toEqual([{ foreign_keys: 1 }])
  })

  test('repeats works if another one of their commit fails, each with one effect', async () => {
    const store = await open()
    const runs = new Map<number, number>()
    const outcomes = await Promise.allSettled(
      numbers(5).map((n) =>
        store.write(async (tx) => {
          runs.set(n, (runs.get(n) ?? 0) + 1)
          await insertToken(tx, token(`${n}`))
          if (n === 3) throw new Error('no')
          return n
        }),
      ),
    )
    expect(outcomes.map(({ status }) => status).filter((status) => status === 'rejected')).toHaveLength(1)
    expect(Math.max(...runs.values())).toBe(2)
    const { rows } = await pageTokens(store.db, { limit: 10 })
    expect(rows.map(({ mint }) => mint).toSorted()).toEqual(['0', '1', '2', '4'])
  })

  test('undoes a single work that fails without repeating it', async () => {
    const store = await open()
    let runs = 0
    const failing = store.write(async (tx) => {
      runs++
      await insertToken(tx, token('a'))
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    expect([runs, (await pageTokens(store.db, { limit: 10 })).rows]).toEqual([1, []])
  })

  test('commits writes that arrive together once', async () => {
    const dataDir = temporaryFolder()
    const store = await open(dataDir)
    await store.write((tx) => insertToken(tx, token('first')))
    const watcher = new Database(join(dataDir, 'svc.db'), { readonly: true })
    onTestFinished(() => void watcher.close())
    // Changes by one with every commit of another connection.
    const commits = () => watcher.pragma('data_version', { simple: true }) as number
    const before = commits()
    await Promise.all(numbers(100).map((n) => store.write((tx) => insertToken(tx, token(`${n}`)))))
    expect(commits() - before).toBe(1)
    expect((await pageTokens(store.db, { limit: 200 })).rows).toHaveLength(101)
  })

  test('rejects every write of a group whose commit fails, and continues', async () => {
    const store = await open()
    const outcomes = await Promise.allSettled([
      store.write((tx) => insertToken(tx, token('a'))),
      store.write(async (tx) => {
        await sql`pragma defer_foreign_keys = on`.execute(tx)
        await tx
          .insertInto('merkle_blobs')
          .values({ tree_id: 'none', kind: 'k', n: 0, bytes: Buffer.alloc(1) })
          .execute()
      }),
      store.write((tx) => insertToken(tx, token('b'))),
    ])
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { message: 'FOREIGN KEY constraint failed' } })
    }
    await store.write((tx) => insertToken(tx, token('c')))
    expect((await pageTokens(store.db, { limit: 9 })).rows.map((row) => row.mint)).toEqual(['c'])
  })

  test('rejects every write of a group that a work has ended, and continues', async () => {
    const store = await open()
    const outcomes = await Promise.allSettled([
      store.write((tx) => insertToken(tx, token('a'))),
      store.write(async (tx) => {
        await sql`rollback`.execute(tx)
        throw new Error('as a full disk would')
      }),
      store.write((tx) => insertToken(tx, token('b'))),
    ])
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    await store.write((tx) => insertToken(tx, token('c')))
    expect((await pageTokens(store.db, { limit: 9 })).rows.map((row) => row.mint)).toEqual(['c'])
  })

  test('reports a busy database if another process writes too long, and reads meanwhile', async () => {
    const dataDir = temporaryFolder()
    const store = await open(dataDir, 500)
    const other = new Database(join(dataDir, 'svc.db'))
    onTestFinished(() => void other.close())
    other.exec('begin immediate')
    const refused = store.write((tx) => insertToken(tx, token('a')))
    let settled = false
    const done = refused.catch(() => {}).finally(() => (settled = true))
    let reads = 0
    while (!settled) {
      await pageTokens(store.db, { limit: 1 })
      reads++
      await new Promise(setImmediate)
    }
    await done
    expect(reads).toBeGreaterThan(1)
    await expect(refused).rejects.toMatchObject({
      code: 'internal_error',
      message: expect.stringMatching(/^database is busy/),
    })
    other.exec('rollback')
    await store.write((tx) => insertToken(tx, token('b')))
  })

  test('names the file that it cannot open', async () => {
    const dataDir = temporaryFolder()
    writeFileSync(join(dataDir, 'svc.db'), 'this is no database, whatever its name may say'.repeat(200))
    await expect(openSqlite({ dataDir })).rejects.toMatchObject({
      code: 'internal_error',
      message: expect.stringMatching(
        /^cannot open the database .*svc\.db: file is not a database; restore it from a backup/,
      ),
    })
    writeFileSync(join(dataDir, 'file'), '')
    await expect(openSqlite({ dataDir: join(dataDir, 'file') })).rejects.toThrow(/^cannot open the database .*EEXIST/)
    chmodSync(join(dataDir, 'file'), 0o600)
  })
})
