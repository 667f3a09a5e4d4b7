/** Suite: what only PostgreSQL can do wrong. */
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { openVault } from '../../src/store/installation/vault.ts'
import { insertEntries, latestEntryAt, lockLedger, type NewLedgerEntry } from '../../src/store/ledger/ledger.ts'
import { openStore } from '../../src/store/open.ts'
import { insertToken, updateToken } from '../../src/store/resources/tokens.ts'
import { opened, postgres, temporaryFolder, twoStores } from './databases.ts'
import type { PostgresServer } from './postgres-server.ts'
import { token } from './rows.ts'

function gate(): [open: () => void, opened: Promise<void>] {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return [open, opened]
}

const ledgerEntry = (at: number): NewLedgerEntry => ({
  genesis: 'g',
  signature: 's',
  slot: 1,
  occurred_at: at,
  latest_at: at,
  month: '2026-11',
  account: 'a',
  owner: 'a',
  token: '',
  symbol: null,
  decimals: 9,
  amount: '1',
  amount_high: 0,
  amount_low: 1,
  balance_after: null,
  kind: 'other',
  detail: null,
  party: 'other',
  counterparty: null,
  pool: null,
  price: null,
  price_currency: null,
  price_source: null,
  created_at: at,
})

export function postgresSuite(server: PostgresServer): void {
  const database = postgres(server)

  describe('the driver', () => {
    test('repeats a transaction that lost a deadlock', async () => {
      const stores = await twoStores(database)
      await stores[0].write((tx) => insertToken(tx, token('a')))
      await stores[0].write((tx) => insertToken(tx, token('b')))
      let attempts = 0
      let holding = 0
      const cross = (store: (typeof stores)[number], first: string, second: string) =>
        store.write(async (tx) => {
          attempts++
          await updateToken(tx, first, { external_uid: first })
          holding++
          while (holding < 2) await new Promise(setImmediate)
          await updateToken(tx, second, { raw_json: first })
        })
      await Promise.all([cross(stores[0], 'a', 'b'), cross(stores[1], 'b', 'a')])
      expect(attempts).toBe(3)
    })

    test('repeats a transaction after a serialization failure, at most three times', async () => {
      const store = await opened(await database.fresh())
      const fail = sql`do $$ begin raise exception 'again' using errcode = '40001'; end $$`
      let attempts = 0
      const twice = store.write(async (tx) => {
        if (++attempts < 3) await fail.execute(tx)
        return attempts
      })
      expect(await twice).toBe(3)
      attempts = 0
      const always = store.write(async (tx) => {
        attempts++
        await fail.execute(tx)
      })
      await expect(always).rejects.toThrow('again')
      expect(attempts).toBe(4)
    })

    test('lets writers of the ledger take turns, so that each starts where the one before has ended', async () => {
      const stores = await twoStores(database)
      const [holds, held] = gate()
      const [begins, begun] = gate()
      const first = stores[0].write(async (tx) => {
        await lockLedger(tx)
        holds()
        await begun
        await insertEntries(tx, [ledgerEntry(100)])
      })
      await held
      let isRead = false
      const second = stores[1].write(async (tx) => {
        await lockLedger(tx)
        isRead = true
        return latestEntryAt(tx)
      })
      const waiting = sql<{ n: number }>`select count(*)::int as n from pg_locks where not granted`
      while (!isRead && (await waiting.execute(stores[0].db)).rows[0]?.n === 0) await new Promise(setImmediate)
      begins()
      await first
      expect(await second).toBe(100)
    })

    test('reveals neither the URL nor the password if it cannot open', async () => {
      const { databaseUrl, dataDir } = await database.fresh()
      const good = new URL(databaseUrl!)
      const variants = { password: 'wr0ng-pässword', pathname: '/nowhere', port: '1', username: 'stranger' }
      for (const [part, value] of Object.entries(variants)) {
        const bad = Object.assign(new URL(good.href), { [part]: value })
        const error = await openStore({ dataDir, databaseUrl: bad.href }).catch((thrown) => thrown)
        expect(error).toMatchObject({ code: 'internal_error' })
        expect(error.cause).toBeUndefined()
        expect(error.message).toMatch(/^cannot open the PostgreSQL database: ./)
        for (const secret of [bad.href, bad.password, decodeURIComponent(bad.password)]) {
          expect(error.message).not.toContain(secret)
        }
      }
    })

    test('refuses an invalid URL without repeating it', async () => {
      const dataDir = temporaryFolder()
      for (const databaseUrl of ['postgres://user:s3cret@ho st:notaport/x', 'mysql://user:s3cret@host/x']) {
        const error = await openStore({ dataDir, databaseUrl }).catch((thrown) => thrown)
        expect(error).toMatchObject({ code: 'internal_error', message: expect.stringContaining('the database URL') })
        expect(JSON.stringify([error.message, error.stack, error.cause])).not.toContain('s3cret')
      }
    })

    test('opens no vault without a shared key', async () => {
      const options = await database.fresh()
      const store = await opened(options)
      await expect(openVault({ store, dataDir: options.dataDir })).rejects.toThrow('set SVC_ENCRYPTION_KEY')
    })

    test('survives a server that closes its connections', async () => {
      const store = await opened(await database.fresh())
      await store.write((tx) => insertToken(tx, token('a')))
      const ending = sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`
      await Promise.all([store.ping(), store.ping(), store.ping()])
      await ending.execute(store.db)
      await expect
        .poll(() =>
          store.ping().then(
            () => true,
            () => false,
          ),
        )
        .toBe(true)
      expect(await store.write((tx) => insertToken(tx, token('b')))).toMatchObject({ mint: 'b' })
    })
  })
}
