/** Suite: what `write` promises, on either database. */
import type { KyselyPlugin } from 'kysely'
import { describe, expect, test } from 'vitest'
import { ApiError } from '../../src/platform/errors.ts'
import { appendAudit, auditHash, FIRST_HASH } from '../../src/store/audit/entries.ts'
import { findToken, insertToken } from '../../src/store/resources/tokens.ts'
import type { Store, Tx } from '../../src/store/store.ts'
import { onCommit } from '../../src/store/writing/work.ts'
import { freshStore, numbers, opened, type TestDatabase, twoStores } from './databases.ts'
import { token } from './rows.ts'

const mints = async (store: Store) =>
  (await store.db.selectFrom('tokens').select('mint').orderBy('mint').execute()).map((row) => row.mint)

const insertPlainly = (tx: Tx, mint: string) => tx.insertInto('tokens').values(token(mint)).execute()

export function writesSuite(database: TestDatabase): void {
  describe('write', () => {
    test('returns the result of the work after it can be read', async () => {
      const store = await freshStore(database)
      const stored = await store.write((tx) => insertToken(tx, token('a')))
      expect(stored).toMatchObject({ seq: 1, mint: 'a' })
      expect(await findToken(store.db, 'a')).toEqual(stored)
    })

    test('rejects only the failing work of many that arrive together', async () => {
      const store = await freshStore(database)
      const outcomes = await Promise.allSettled(
        numbers(60).map((n) =>
          store.write(async (tx) => {
            await insertPlainly(tx, `mint ${n}`)
            if (n % 7 === 0) throw new Error(`no ${n}`)
            return n
          }),
        ),
      )
      for (const [n, outcome] of outcomes.entries()) {
        if (n % 7 === 0) expect(outcome).toMatchObject({ status: 'rejected', reason: { message: `no ${n}` } })
        else expect(outcome).toEqual({ status: 'fulfilled', value: n })
      }
      const expected = numbers(60).filter((n) => n % 7 !== 0)
      expect(await mints(store)).toEqual(expected.map((n) => `mint ${n}`).sort())
    })

    test('keeps the audit log intact if some of many writes fail after they have added to it', async () => {
      const store = await freshStore(database)
      const vault = { mac: (text: string) => `seal of ${text}` }
      const about = { at: 1, action: 'test', signer: null, api_key_id: '', request_id: '', details_json: '{}' }
      await Promise.allSettled(
        numbers(40).map((n) =>
          store.write(async (tx) => {
            await appendAudit(tx, vault, about)
            await appendAudit(tx, vault, about)
            if (n % 3 === 0) throw new Error(`no ${n}`)
          }),
        ),
      )
      const entries = await store.db.selectFrom('audit_entries').selectAll().orderBy('sequence').execute()
      expect(entries).toHaveLength(2 * numbers(40).filter((n) => n % 3 !== 0).length)
      for (const [at, entry] of entries.entries()) {
        expect(entry).toMatchObject({ sequence: at + 1, previous_hash: entries[at - 1]?.hash ?? FIRST_HASH })
        expect(entry.hash).toBe(auditHash(entry))
      }
    })

    test('rejects with what a work throws before it awaits anything', async () => {
      const store = await freshStore(database)
      const thrower = () => {
        throw new RangeError('at once')
      }
      const [failed, fine] = await Promise.allSettled([
        store.write(thrower),
        store.write((tx) => insertToken(tx, token('a'))),
      ])
      expect(failed).toMatchObject({ status: 'rejected', reason: expect.any(RangeError) })
      expect(fine.status).toBe('fulfilled')
    })

    test('undoes what a failing work had sent together with the query that failed', async () => {
      const store = await freshStore(database)
      await store.write((tx) => insertPlainly(tx, 'taken'))
      const sideBySide = store.write((tx) => {
        const one = insertPlainly(tx, 'taken')
        const others = ['b', 'c', 'e'].reduce(
          (done, mint) => done.then(() => insertPlainly(tx, mint)),
          Promise.resolve<unknown>(0),
        )
        others.catch(() => {})
        return Promise.all([one, others])
      })
      const after = store.write((tx) => insertPlainly(tx, 'd'))
      await expect(sideBySide).rejects.toThrow()
      await after
      expect(await mints(store)).toEqual(['d', 'taken'])
    })

    test('gives the same result with prepared statements and the query builder, in the order of its statements', async () => {
      const store = await freshStore(database)
      // A plugin has every statement go through the query builder.
      const plain: KyselyPlugin = { transformQuery: ({ node }) => node, transformResult: async ({ result }) => result }
      await store.write(async (tx) => {
        const built = tx.withPlugin(plain)
        await insertPlainly(tx, 'a')
        const rows = [await insertToken(tx, token('b')), await insertToken(built, token('c'))]
        for (const [i, mint] of ['b', 'c'].entries()) {
          expect(await findToken(tx, mint)).toEqual(rows[i])
          expect(await findToken(built, mint)).toEqual(rows[i])
        }
        expect(rows).toMatchObject([{ seq: 2 }, { seq: 3 }])
      })
      for (const mint of ['a', 'b', 'c', 'none'])
        expect(await findToken(store.db, mint)).toEqual(await findToken(store.db.withPlugin(plain), mint))
    })

    test('refuses a prepared statement once its transaction is over', async () => {
      const store = await freshStore(database)
      let leaked: Tx | undefined
      await store.write(async (tx) => {
        leaked = tx
        await insertToken(tx, token('a'))
      })
      const late = leaked
      if (late === undefined) throw new Error('the work did not run')
      await expect(insertToken(late, token('b'))).rejects.toThrow()
      await store.write((tx) => insertToken(tx, token('c')))
      expect(await mints(store)).toEqual(['a', 'c'])
    })

    test('reports a taken unique key as a conflict', async () => {
      const store = await freshStore(database)
      await store.write((tx) => insertPlainly(tx, 'a'))
      const error = await store.write((tx) => insertPlainly(tx, 'a')).catch((thrown) => thrown)
      expect(error).toBeInstanceOf(ApiError)
      expect(error).toMatchObject({ code: 'bad_request', message: 'a record with this key already exists' })
    })

    test('refuses a write inside a write, and the outer one can still finish', async () => {
      const store = await freshStore(database)
      await store.write(async (tx) => {
        await expect(store.write((inner) => insertPlainly(inner, 'inner'))).rejects.toThrow('inside write()')
        await insertPlainly(tx, 'outer')
      })
      expect(await mints(store)).toEqual(['outer'])
    })

    test('allows a write that a work started once the work is over', async () => {
      const store = await freshStore(database)
      let later: Promise<unknown> | undefined
      await store.write(async (tx) => {
        await insertPlainly(tx, 'first')
        setImmediate(() => setImmediate(() => (later = store.write((next) => insertPlainly(next, 'second')))))
      })
      await expect.poll(() => later).toBeDefined()
      await later
      expect(await mints(store)).toEqual(['first', 'second'])
    })

    test('commits works together, and a failing work fails alone', async () => {
      const store = await freshStore(database)
      const committed: number[] = []
      const outcomes = await Promise.allSettled(
        numbers(30).map((n) =>
          store.write(async (tx) => {
            onCommit(() => committed.push(n))
            const stored = insertToken(tx, token(`mint ${n}`))
            if (n % 5 === 0) throw new Error(`no ${n}`)
            await (n % 2 === 0 ? stored : findToken(tx, 'none'))
            return n
          }),
        ),
      )
      for (const [n, outcome] of outcomes.entries()) {
        if (n % 5 === 0) expect(outcome).toMatchObject({ status: 'rejected', reason: { message: `no ${n}` } })
        else expect(outcome).toEqual({ status: 'fulfilled', value: n })
      }
      const expected = numbers(30).filter((n) => n % 5 !== 0)
      expect(await mints(store)).toEqual(expected.map((n) => `mint ${n}`).sort())
      expect(committed.sort((one, other) => one - other)).toEqual(expected)
    })

    test('refuses a write inside a work that awaits nothing, and allows it once the work is over', async () => {
      const store = await freshStore(database)
      let [inside, later]: (Promise<unknown> | undefined)[] = []
      await store.write(async () => {
        inside = store.write((inner) => insertPlainly(inner, 'inner'))
        inside.catch(() => {})
        setImmediate(() => (later = store.write((next) => insertPlainly(next, 'second'))))
      })
      await expect(inside).rejects.toThrow('inside write()')
      await expect.poll(() => later).toBeDefined()
      await later
      expect(await mints(store)).toEqual(['second'])
    })

    test('shows readers nothing before the commit, and does not make them wait for it', async () => {
      const store = await freshStore(database)
      await store.write(async (tx) => {
        await insertPlainly(tx, 'a')
        expect(await findToken(tx, 'a')).not.toBeNull()
        expect(await findToken(store.db, 'a')).toBeNull()
      })
      expect(await findToken(store.db, 'a')).not.toBeNull()
    })

    test('is the only way to write', async () => {
      const store = await freshStore(database)
      const around = store.db.insertInto('tokens').values(token('a')).execute()
      await expect(around).rejects.toThrow(/read-?only/)
    })

    test('is awaited by close, after which nothing is written', async () => {
      const options = await database.fresh()
      const store = await opened(options)
      const written = numbers(20).map((n) => store.write((tx) => insertPlainly(tx, `${n}`)))
      const closed = store.close()
      await expect(store.write((tx) => insertPlainly(tx, 'late'))).rejects.toThrow('the store is closed')
      await Promise.all([...written, closed])
      expect(await mints(await opened(options))).toHaveLength(20)
    })

    test('works from two stores on one database at once', async () => {
      const stores = await twoStores(database)
      await Promise.all(numbers(100).map((n) => stores[n % 2]!.write((tx) => insertPlainly(tx, `${n}`))))
      for (const store of stores) expect(await mints(store)).toHaveLength(100)
    })
  })
}
