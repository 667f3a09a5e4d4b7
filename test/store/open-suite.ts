/** Suite: a database is brought to this program's schema, by one or by several processes, and a newer one is left alone. */

import { execaNode } from 'execa'
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { previousSecrets } from '../../src/operations/webhook-subscriptions/secret.ts'
import { insertToken, pageTokens } from '../../src/store/tokens.ts'
import { openVault } from '../../src/store/vault.ts'
import { findWebhookSubscription, insertWebhookSubscription } from '../../src/store/webhook-subscriptions.ts'
import { numbers, opened, type TestDatabase } from './databases.ts'
import { token } from './rows.ts'

const SCRIPT = new URL('open-in-process.ts', import.meta.url).pathname

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

    test('succeeds for four processes that find an empty database together', async () => {
      const options = await database.fresh()
      const runs = await Promise.all(
        numbers(4).map((n) =>
          execaNode(
            SCRIPT,
            [JSON.stringify({ ...options, mint: `mint ${n}`, keyText: options.databaseUrl && 'ab'.repeat(32) })],
            {
              nodeOptions: ['--import', 'tsx'],
            },
          ),
        ),
      )
      const store = await opened(options)
      expect((await pageTokens(store.db, { limit: 9 })).rows.map((row) => row.mint).sort()).toEqual(
        numbers(4).map((n) => `mint ${n}`),
      )
      expect(new Set(runs.map((run) => run.stdout)).size).toBe(1)
      expect(runs[0]!.stdout).toMatch(/^[0-9a-f]{16}$/)
    })

    test('succeeds for many in one process that find an empty database together', async () => {
      const options = await database.fresh()
      const stores = await Promise.all(numbers(4).map(() => opened(options)))
      for (const store of stores) await store.ping()
    })

    test('keeps the secret that a rotation had left signing before there could be several', async () => {
      const options = await database.fresh()
      const store = await opened(options)
      const subscription = {
        url: 'https://a.test',
        enabled_events_json: '["*"]',
        active: 1,
        secret: Buffer.from('new'),
        secret_preview: 'abcd',
        disabled_reason: null,
        created_at: 1,
        updated_at: 1,
      }
      const blob = sql.raw(database.kind === 'sqlite' ? 'blob' : 'bytea')
      await store.write(async (tx) => {
        for (const id of ['rotated', 'plain']) await insertWebhookSubscription(tx, { ...subscription, id })
        for (const change of [
          sql`drop column previous_secrets_json`,
          sql`drop column receiver_revision`,
          sql`add column previous_secret ${blob}`,
          sql`add column previous_secret_until bigint`,
        ]) {
          await sql`alter table webhook_subscriptions ${change}`.execute(tx)
        }
        await sql`alter table leases drop column done`.execute(tx)
        await sql`update webhook_subscriptions set previous_secret = ${Buffer.from('old')}, previous_secret_until = 9
          where id = 'rotated'`.execute(tx)
        await sql`delete from kysely_migration where name >= '0011'`.execute(tx)
      })
      await store.close()
      const again = await opened(options)
      const previous = async (id: string) => previousSecrets((await findWebhookSubscription(again.db, id))!, 8)
      expect(await previous('rotated')).toEqual([{ secret: Buffer.from('old'), until: 9 }])
      expect(await previous('plain')).toEqual([])
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

    test('gives a vault whose key another database does not accept', async () => {
      const options = await database.fresh()
      const store = await opened(options)
      const keyText = Buffer.alloc(32, 1).toString('base64')
      const vault = await openVault({ store, dataDir: options.dataDir, keyText })
      const sealed = vault.seal('secret', 'test')
      const again = await openVault({ store, dataDir: options.dataDir, keyText: '01'.repeat(32) })
      expect(again.open(sealed, 'test').toString()).toBe('secret')
      const other = openVault({ store, dataDir: options.dataDir, keyText: '02'.repeat(32) })
      await expect(other).rejects.toThrow(/fingerprint [0-9a-f]{16}.*put back the earlier SVC_ENCRYPTION_KEY/)
    })
  })
}
