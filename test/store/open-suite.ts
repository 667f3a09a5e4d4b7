/** Suite: a database is brought to this program's schema, by one or by several processes, and a newer one is left alone. */

import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { execaNode } from 'execa'
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { sealedWith } from '../../src/store/installation/installation.ts'
import { openVault } from '../../src/store/installation/vault.ts'
import { insertToken, pageTokens } from '../../src/store/resources/tokens.ts'
import { numbers, opened, type TestDatabase } from './databases.ts'
import { token } from './rows.ts'

const SCRIPT = new URL('open-in-process.ts', import.meta.url).pathname

export function processesOpenTogether(database: TestDatabase, count: number): void {
  test(`opening succeeds for ${count} processes that find an empty database together`, async () => {
    const options = await database.fresh()
    const runs = await Promise.all(
      numbers(count).map((n) =>
        execaNode(
          SCRIPT,
          [
            JSON.stringify({
              ...options,
              // A busy machine may need longer than the default for what another one writes.
              busyTimeoutMs: 100_000,
              mint: `mint ${n}`,
              keyText: options.databaseUrl && 'ab'.repeat(32),
            }),
          ],
          { nodeOptions: ['--import', 'tsx'] },
        ),
      ),
    )
    const store = await opened(options)
    expect((await pageTokens(store.db, { limit: 9 })).rows.map((row) => row.mint).sort()).toEqual(
      numbers(count).map((n) => `mint ${n}`),
    )
    expect(new Set(runs.map((run) => run.stdout)).size).toBe(1)
    expect(runs[0]!.stdout).toMatch(/^[0-9a-f]{16}$/)
  })
}

export function openSuite(database: TestDatabase): void {
  describe('opening', () => {
    test('finds the database as the last one left it', async () => {
      const options = await database.fresh()
      const first = await opened(options)
      await first.write((tx) => insertToken(tx, token('a')))
      await first.close()
      const second = await opened(options)
      await second.ping()
      expect(second.kind).toBe(database.kind)
      expect((await pageTokens(second.db, { limit: 5 })).rows.map((row) => row.mint)).toEqual(['a'])
      await second.close()
      await second.close()
      await expect(second.ping()).rejects.toThrow()
    })

    test('succeeds for many in one process that find an empty database together', async () => {
      const options = await database.fresh()
      const stores = await Promise.all(numbers(4).map(() => opened(options)))
      for (const store of stores) await store.ping()
    })

    test('refuses a database that a newer program has migrated', async () => {
      const options = await database.fresh()
      const store = await opened(options)
      await store.write((tx) =>
        sql`insert into kysely_migration (name, timestamp) values ('9999-later', '2030')`.execute(tx),
      )
      await store.close()
      const error = await opened(options).catch((thrown) => thrown)
      expect(error).toMatchObject({ code: 'internal_error', message: expect.stringContaining('9999-later') })
      expect(error.message).toContain('upgrade svc')
    })

    test('refuses a database of a development version, and says to start with a new one', async () => {
      const options = await database.fresh()
      const store = await opened(options)
      await store.write((tx) =>
        sql`update kysely_migration set name = '0001-ground' where name = '0001-first'`.execute(tx),
      )
      await store.close()
      await expect(opened(options)).rejects.toThrow(/development version of svc .* start with a new data folder/)
    })

    test('refuses a database with rows and no fingerprint, and an empty one beside the keys of another', async () => {
      const options = await database.fresh()
      const store = await opened(options)
      const vault = { store, dataDir: options.dataDir, keyText: '01'.repeat(32) }
      writeFileSync(join(options.dataDir, 'operator.key'), 'svc_live_x', { mode: 0o600 })
      await expect(openVault(vault)).rejects.toThrow(
        /^the database .* is empty, and operator\.key in .* belongs to an installation with another database; restore that/,
      )
      rmSync(join(options.dataDir, 'operator.key'))
      await store.write((tx) => insertToken(tx, token('planted')))
      await expect(openVault(vault)).rejects.toThrow(
        /^the database .* has data but no fingerprint of an encryption key: .*; restore it from a backup, or choose another/,
      )
      expect(await sealedWith(store)).toBeNull()
    })

    test('gives a vault whose key another database does not accept', async () => {
      const options = await database.fresh()
      const store = await opened(options)
      const keyText = Buffer.alloc(32, 1).toString('base64')
      const vault = await openVault({ store, dataDir: options.dataDir, keyText })
      const sealed = vault.seal('secret', 'test')
      const again = await openVault({ store, dataDir: options.dataDir, keyText: '01'.repeat(32) })
      expect(again.open(sealed, 'test').toString()).toBe('secret')
      const other = openVault({ store, dataDir: options.dataDir, keyText: '02'.repeat(32) })
      await expect(other).rejects.toThrow(/fingerprint [0-9a-f]{16}.*restore the earlier SVC_ENCRYPTION_KEY/)
    })
  })
}
