/** Suite: of many rows the bad ones are found, and no row is blamed for what the database does. */
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { internal } from '../../src/platform/errors.ts'
import { insertToken } from '../../src/store/resources/tokens.ts'
import type { Store, Tx } from '../../src/store/store.ts'
import { writeEach } from '../../src/store/writing/write-each.ts'
import { freshStore, numbers, type TestDatabase } from './databases.ts'
import { token } from './rows.ts'

const BAD = new Error('bad')
const insertAll = async (tx: Tx, mints: readonly string[]) => {
  for (const mint of mints) {
    if (mint.startsWith('bad')) throw BAD
    await insertToken(tx, token(mint))
  }
}
const mints = async (store: Store) =>
  (await store.db.selectFrom('tokens').select('mint').orderBy('mint').execute()).map(({ mint }) => mint)

/** Ends the connection of a transaction, as a server that is restarted or a proxy in between does. */
async function cut(tx: Tx, { kind }: TestDatabase): Promise<void> {
  if (kind === 'postgres') await sql`select pg_terminate_backend(pg_backend_pid())`.execute(tx)
  throw new Error('Connection terminated')
}

/** The store, once its database takes no write any more. */
async function readOnly(store: Store): Promise<Store> {
  if (store.kind === 'sqlite') {
    await store.write((tx) => sql`pragma query_only = on`.execute(tx))
    return store
  }
  return {
    ...store,
    write: (work) =>
      store.write(async (tx) => {
        await sql`set transaction read only`.execute(tx)
        return work(tx)
      }),
  }
}

/** Counts the writes of rows. */
function counting() {
  const counted = { writes: 0 }
  const write = (tx: Tx, rows: readonly string[]) => {
    counted.writes++
    return insertAll(tx, rows)
  }
  return { counted, write }
}

export function writeEachSuite(database: TestDatabase): void {
  describe('rows that are written together', () => {
    test('are written except for the bad ones, which are returned', async () => {
      const store = await freshStore(database)
      const rows = ['a', 'bad 1', 'b', 'c', 'bad 2']
      expect(await writeEach(store, rows, insertAll)).toEqual([
        { row: 'bad 1', error: BAD },
        { row: 'bad 2', error: BAD },
      ])
      expect(await mints(store)).toEqual(['a', 'b', 'c'])
      expect(await store.db.selectFrom('settings').select('name').where('name', 'like', 'probe%').execute()).toEqual([])
    })

    test('are not blamed if the connection is cut, not even a single row', async () => {
      const store = await freshStore(database)
      let writes = 0
      const write = async (tx: Tx, rows: readonly string[]) => {
        await insertAll(tx, rows)
        if (++writes === 1) await cut(tx, database)
      }
      expect(await writeEach(store, ['a'], write)).toEqual([])
      writes = 0
      expect(await writeEach(store, ['b', 'c', 'd'], write)).toEqual([])
      expect(await mints(store)).toEqual(['a', 'b', 'c', 'd'])
    })

    test('are not searched for a bad one if the database refuses every write', async () => {
      const store = await readOnly(await freshStore(database))
      let writes = 0
      const watched: Store = {
        ...store,
        write: (work) => {
          writes++
          return store.write(work)
        },
      }
      const rows = numbers(256).map((n) => `${n}`)
      await expect(writeEach(watched, rows, insertAll)).rejects.toThrow(/read-?only/)
      // The rows, and the look at whether anything can be written.
      expect(writes).toBe(2)
    })

    test('are not searched for a bad one if the database is busy', async () => {
      const store = await freshStore(database)
      const { counted, write } = counting()
      const busy: Store = {
        ...store,
        write: (work) =>
          store.write(async (tx) => {
            await work(tx)
            throw internal('database is busy: try again')
          }),
      }
      await expect(writeEach(busy, ['a', 'b'], write)).rejects.toThrow('database is busy')
      expect(counted.writes).toBe(1)
    })

    test('are searched no further after an abort', async () => {
      const store = await freshStore(database)
      const aborting = new AbortController()
      const { counted, write } = counting()
      const once = async (tx: Tx, rows: readonly string[]) => {
        if (counted.writes === 2) aborting.abort(new Error('its time is over'))
        await write(tx, rows)
      }
      const rows = ['bad 1', 'bad 2', 'bad 3', 'bad 4', 'bad 5', 'bad 6', 'bad 7', 'bad 8']
      await expect(writeEach(store, rows, once, aborting.signal)).rejects.toThrow('its time is over')
      expect(counted.writes).toBe(3)
    })

    test('are at most 64 under one transaction, in order, and each bad one of hundreds is returned', async () => {
      const store = await freshStore(database)
      const parts: number[] = []
      const rows = numbers(300).map((n) => (n === 70 || n === 299 ? `bad ${n}` : `${1000 + n}`))
      const faults = await writeEach(store, rows, async (tx, part) => {
        parts.push(part.length)
        await insertAll(tx, part)
      })
      expect(Math.max(...parts)).toBe(64)
      expect(faults.map(({ row }) => row)).toEqual(['bad 70', 'bad 299'])
      expect(await mints(store)).toEqual(rows.filter((row) => !row.startsWith('bad')))
    })

    test('are written no further after an abort between two transactions', async () => {
      const store = await freshStore(database)
      const aborting = new AbortController()
      const write = async (tx: Tx, part: readonly string[]) => {
        await insertAll(tx, part)
        aborting.abort(new Error('its time is over'))
      }
      const rows = numbers(200).map((n) => `${n}`)
      await expect(writeEach(store, rows, write, aborting.signal)).rejects.toThrow('its time is over')
      expect(await mints(store)).toHaveLength(64)
    })

    if (database.kind === 'sqlite') {
      test('are not searched for a bad one if the disk is full', async () => {
        const store = await freshStore(database)
        await store.write((tx) => sql`pragma max_page_count = 1`.execute(tx))
        const { counted, write } = counting()
        const rows = numbers(256).map((n) => `${n} ${'x'.repeat(4096)}`)
        await expect(writeEach(store, rows, write)).rejects.toMatchObject({ code: 'SQLITE_FULL' })
        expect(counted.writes).toBe(1)
      })
    } else {
      test('are not blamed if other transactions were in the way four times', async () => {
        const store = await freshStore(database)
        const write = async (tx: Tx) => {
          await sql`do $$ begin raise exception 'in the way' using errcode = '40P01'; end $$`.execute(tx)
        }
        await expect(writeEach(store, ['a', 'b'], write)).rejects.toMatchObject({
          code: 'internal_error',
          message: 'database is busy: try again',
        })
      })
    }
  })
}
