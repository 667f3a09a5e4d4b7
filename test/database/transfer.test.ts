/** A whole database goes from SQLite to PostgreSQL and back, every value of it, or nothing of it does. */
import { describe, expect, it } from 'vitest'
import { openVault } from '../../src/store/installation/vault.ts'
import type { StoreOptions } from '../../src/store/open.ts'
import { insertToken, pageTokens } from '../../src/store/resources/tokens.ts'
import { TABLES } from '../../src/store/schema.ts'
import { type ExportReport, exportDatabase } from '../../src/store/transfer/export.ts'
import { importDatabase } from '../../src/store/transfer/import.ts'
import { opened, postgres, sqlite, type TestDatabase } from '../store/databases.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { token } from '../store/rows.ts'
import { fillEveryTable } from './any-rows.ts'

const KEY = 'ab'.repeat(32)
const server = await startPostgres()
const pg = 'missing' in server ? undefined : postgres(server)

async function exported(options: StoreOptions): Promise<{ lines: string[]; report: ExportReport }> {
  const lines: string[] = []
  const report = await exportDatabase(options, async (line) => {
    expect(line.endsWith('\n')).toBe(true)
    lines.push(line.slice(0, -1))
  })
  return { lines, report }
}

async function* from(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines
}

/** A database with rows in every table and a vault. */
async function filled(database: TestDatabase): Promise<StoreOptions> {
  const options = await database.migrated()
  const store = await opened(options)
  await fillEveryTable(store, 25)
  return options
}

const pairs: [string, TestDatabase | undefined, TestDatabase | undefined][] = [
  ['SQLite to SQLite', sqlite, sqlite],
  ['SQLite to PostgreSQL', sqlite, pg],
  ['PostgreSQL to SQLite', pg, sqlite],
  ['PostgreSQL to PostgreSQL', pg, pg],
]

describe.each(pairs)('%s', (_, source, target) => {
  it.skipIf(!source || !target)('copies every row of every table, and numbering continues', async () => {
    const options = await filled(source!)
    const { lines, report } = await exported(options)
    expect(report.tables.map(({ table }) => table).sort()).toEqual([...TABLES].sort())
    expect(report.tables.every(({ rows }) => rows >= 24)).toBe(true)

    const into = await target!.migrated()
    const imported = await importDatabase(into, from(lines))
    expect(imported.tables).toEqual(report.tables)
    const again = await exported(into)
    expect([...again.lines.slice(1)].sort()).toEqual([...lines.slice(1)].sort())

    const store = await opened(into)
    await store.write((tx) => insertToken(tx, token('next')))
    const { rows } = await pageTokens(store.db, { limit: 1 })
    expect(rows[0]).toMatchObject({ mint: 'next', seq: 26 })
  })

  it.skipIf(!source || !target)('lets sealed values be opened with the same key, and with no other', async () => {
    const options = await source!.migrated()
    const store = await opened(options)
    const vault = await openVault({ store, dataDir: options.dataDir, keyText: KEY })
    const secret = vault.seal('whsec', 'test')
    await store.write((tx) =>
      tx
        .insertInto('settings')
        .values({ name: 'sealed', value: secret.toString('base64') })
        .execute(),
    )
    const into = await target!.migrated()
    await importDatabase(into, from((await exported(options)).lines))
    const moved = await opened(into)
    const { value } = await moved.db
      .selectFrom('settings')
      .select('value')
      .where('name', '=', 'sealed')
      .executeTakeFirstOrThrow()
    const there = await openVault({ store: moved, dataDir: into.dataDir, keyText: KEY })
    expect(there.open(Buffer.from(value, 'base64'), 'test').toString()).toBe('whsec')
    await expect(openVault({ store: moved, dataDir: into.dataDir, keyText: 'cd'.repeat(32) })).rejects.toThrow(
      /sealed with the encryption key of fingerprint/,
    )
  })
})

describe.each([
  ['SQLite', sqlite],
  ['PostgreSQL', pg],
] as [string, TestDatabase | undefined][])('an import into %s', (_, database) => {
  const refused: [string, (lines: string[]) => string[], RegExp][] = [
    ['cut off', (lines) => lines.slice(0, -3), /ends before its last line: it was cut off/],
    ['of another format', ([, ...lines]) => ['{"svc_export":9,"migrations":[]}', ...lines], /has format 9/],
    ['that is none', ([, ...lines]) => ['mint,amount', ...lines], /is not an export/],
    [
      'of an earlier schema',
      ([first, ...lines]) => [first!.replace(',"0002-crank-error"', ''), ...lines],
      /import it with that version and then upgrade/,
    ],
    [
      'of a development version',
      ([first, ...lines]) => [first!.replace('0001-first', '0001-ground'), ...lines],
      /development version of svc .* cannot be imported/,
    ],
    [
      'with a changed value',
      (lines) => lines.map((line) => line.replace('api_keys.name 4', 'api_keys.name five')),
      /line \d+ of the export says that api_keys had other rows/,
    ],
    [
      'with a row too many',
      (lines) => lines.flatMap((line) => (line.includes('tokens.mint 4') ? [line, line] : [line])),
      /tokens/,
    ],
    [
      'with a row of other columns',
      (lines) => lines.map((line) => (line.includes('tokens.mint 4') ? '[1,2]' : line)),
      /is not a row of tokens/,
    ],
  ]
  it.skipIf(!database)('refuses a truncated or changed file, and keeps nothing of it', async () => {
    const { lines } = await exported(await filled(sqlite))
    const into = await database!.migrated()
    const before = await exported(into)
    for (const [, change, why] of refused) {
      await expect(importDatabase(into, from(change(lines)))).rejects.toThrow(why)
    }
    expect((await exported(into)).lines.slice(1)).toEqual(before.lines.slice(1))
    await importDatabase(into, from(lines))
    await expect(importDatabase(into, from(lines))).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(/^the database is not empty/),
    })
  })

  it.skipIf(!database)('refuses a database that belongs to another key', async () => {
    const { lines } = await exported(await filled(sqlite))
    const into = await database!.migrated()
    await openVault({ store: await opened(into), dataDir: into.dataDir, keyText: KEY })
    await expect(importDatabase(into, from(lines))).rejects.toThrow(/belongs to another key/)
  })
})

describe('an export', () => {
  it('shows one moment, while others write', async () => {
    const options = await sqlite.migrated()
    const store = await opened(options)
    await store.write((tx) => insertToken(tx, token('before')))
    const lines: string[] = []
    await exportDatabase(options, async (line) => {
      if (lines.length === 0) await store.write((tx) => insertToken(tx, token('after')))
      lines.push(line)
    })
    expect(lines.join('')).toContain('"before"')
    expect(lines.join('')).not.toContain('"after"')
  })
})
