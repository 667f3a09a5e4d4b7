/** Suite: a database is brought to this program's schema, by one or by several processes, and a newer one is left alone. */

import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { execaNode } from 'execa'
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { previousSecrets } from '../../src/operations/webhook-subscriptions/secret.ts'
import { pageEvents } from '../../src/store/events/events.ts'
import { claimsOfSignature } from '../../src/store/fees/fee-claims.ts'
import { sealedWith } from '../../src/store/installation/installation.ts'
import { openVault } from '../../src/store/installation/vault.ts'
import { claimKey, findIdempotencyKey } from '../../src/store/requests/idempotency.ts'
import { insertToken, pageTokens } from '../../src/store/resources/tokens.ts'
import { findWebhookSubscription } from '../../src/store/webhooks/subscriptions.ts'
import { earlier, numbers, opened, type TestDatabase } from './databases.ts'
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
      await earlier(options, '0010-stakes', (db) =>
        sql`insert into webhook_subscriptions (id, url, enabled_events_json, active, secret, secret_preview,
          previous_secret, previous_secret_until, created_at, updated_at)
          values ('rotated', 'https://a.test', '["*"]', 1, ${Buffer.from('new')}, 'abcd', ${Buffer.from('old')}, 9, 1, 1),
          ('plain', 'https://a.test', '["*"]', 1, ${Buffer.from('new')}, 'abcd', null, null, 1, 1)`.execute(db),
      )
      const again = await opened(options)
      const previous = async (id: string) => previousSecrets((await findWebhookSubscription(again.db, id))!, 8)
      expect(await previous('rotated')).toEqual([{ secret: Buffer.from('old'), until: 9 }])
      expect(await previous('plain')).toEqual([])
      // Nobody is known to have made what was there before.
      expect(await findWebhookSubscription(again.db, 'plain')).toMatchObject({ api_key_id: null })
    })

    test('finds events of before by their moments, though clocks had jumped', async () => {
      const options = await database.fresh()
      const moments = [50, 90, 30, 10, 100, 95]
      await earlier(options, '0011-webhook-secrets', async (db) => {
        for (const [n, at] of moments.entries()) {
          await sql`insert into events (sequence, id, type, resource_type, resource_id, object_json, dedupe_key, created_at)
            values (${n + 1}, ${`evt ${n}`}, 'pool.live', 'pool', 'pool 1', '{}', ${`key ${n}`}, ${at})`.execute(db)
        }
      })
      const store = await opened(options)
      for (const moment of [0, 10, 30, 50, 60, 90, 94, 95, 100]) {
        const { rows } = await pageEvents(store.db, { limit: 9, order: 'asc', created_after: moment })
        expect(rows.map((row) => row.created_at)).toEqual(moments.filter((at) => at > moment))
      }
    })

    test('gives fee claims of an earlier version their kind and claimer from their events', async () => {
      const options = await database.fresh()
      const claim = (id: string) => ({
        ...{ id, type: 'fee_claim.executed' as const, pool_address: 'pool', signature: 's', recipients_json: null },
        ...{ occurred_at: 1, created_at: 1, external_uid: null, metadata_json: null },
      })
      await earlier(options, '0031-shared-configs', async (db) => {
        for (const id of ['1', '2', '3']) await db.insertInto('fee_claims').values(claim(id)).execute()
        const pool = { address: 'pool', type: 'damm_v2', status: 'live', creator: 'owner', base_mint: 'm' } as const
        const empty = { external_uid: null, metadata_json: null, created_at: 1 }
        await db
          .insertInto('pools')
          .values({ ...pool, quote_mint: 'q', ...empty })
          .execute()
        for (const [n, object] of [
          { id: '1', kind: 'surplus', claimer: 'partner', pool_address: 'pool' },
          { id: '2', kind: 'damm_v2', claimer: 'owner', pool_address: 'pool' },
        ].entries()) {
          const about = { type: 'fee_claim.executed', resource_type: 'pool', resource_id: 'pool' } as const
          const row = { sequence: n + 1, id: `evt_${n}`, dedupe_key: `${n}`, object_json: JSON.stringify(object) }
          await db
            .insertInto('events')
            .values({ ...about, ...row, ...empty, latest_at: 1 })
            .execute()
        }
      })
      const store = await opened(options)
      const rows = await claimsOfSignature(store.db, 's')
      expect(rows.map(({ kind, beneficiary, claimer }) => [kind, beneficiary, claimer])).toEqual([
        ['surplus', 'partner', 'partner'],
        ['damm_v2', 'creator', 'owner'],
        [null, null, null],
      ])
    })

    test('keeps the signings that idempotency keys of before are bound to, under the name of what they are', async () => {
      const options = await database.fresh()
      await earlier(options, '0021-worker-indexes', (db) =>
        sql`insert into idempotency_keys (api_key_id, key, request_hash, state, owner, lease_until, signature, status,
          response, created_at, expires_at)
          values ('key_1', 'interrupted', 'hash', 'running', 'a', 0, 'sgn_1', null, null, 1, 10000),
          ('key_1', 'answered', 'hash', 'done', 'a', 5, null, 201, ${Buffer.from('sealed')}, 2, 20000)`.execute(db),
      )
      const store = await opened(options)
      const keyOf = (key: string) => findIdempotencyKey(store.db, { apiKeyId: 'key_1', key })
      const common = { api_key_id: 'key_1', request_hash: 'hash', owner: 'a' }
      expect(await keyOf('interrupted')).toEqual({
        ...common,
        ...{ key: 'interrupted', state: 'running', lease_until: 0, signing_id: 'sgn_1' },
        ...{ status: null, response: null, created_at: 1, expires_at: 10_000 },
      })
      expect(await keyOf('answered')).toEqual({
        ...common,
        ...{ key: 'answered', state: 'done', lease_until: 5, signing_id: null },
        ...{ status: 201, response: Buffer.from('sealed'), created_at: 2, expires_at: 20_000 },
      })
      const request = { apiKeyId: 'key_1', key: 'interrupted', requestHash: 'hash', owner: 'b' }
      const resumed = await store.write((tx) => claimKey(tx, { ...request, now: 2, leaseMs: 100, ttlMs: 10_000 }))
      expect(resumed).toEqual({ kind: 'resumed', signingId: 'sgn_1' })
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

    test('refuses a database that holds rows and no fingerprint, and one that is empty beside the keys of another', async () => {
      const options = await database.fresh()
      const store = await opened(options)
      const vault = { store, dataDir: options.dataDir, keyText: '01'.repeat(32) }
      writeFileSync(join(options.dataDir, 'operator.key'), 'svc_live_x', { mode: 0o600 })
      await expect(openVault(vault)).rejects.toThrow(
        /^the database .* is empty, and operator\.key in .* is of an installation that had another database; restore that/,
      )
      rmSync(join(options.dataDir, 'operator.key'))
      await store.write((tx) => insertToken(tx, token('planted')))
      await expect(openVault(vault)).rejects.toThrow(
        /^the database .* holds data and no fingerprint of an encryption key: .*; restore it from a backup, or choose another/,
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
      await expect(other).rejects.toThrow(/fingerprint [0-9a-f]{16}.*put back the earlier SVC_ENCRYPTION_KEY/)
    })
  })
}
