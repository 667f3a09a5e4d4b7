/** Suite: pages are whole and in order while rows are added, and only a list's own cursor continues it. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { insertPool, pagePools, updatePool } from '../../src/store/resources/pools.ts'
import { insertToken, pageTokens, storedSymbol } from '../../src/store/resources/tokens.ts'
import type { NewRow } from '../../src/store/schema.ts'
import type { Store } from '../../src/store/store.ts'
import { freshStore, numbers, type TestDatabase } from './databases.ts'
import { token } from './rows.ts'

let pools = 0
const pool = (creator: string, status: 'pending' | 'live' = 'live'): NewRow<'pools'> => ({
  address: `pool ${++pools}`,
  type: 'dbc',
  base_mint: 'base',
  quote_mint: 'quote',
  config: null,
  creator,
  name: null,
  symbol: null,
  metadata_uri: null,
  status,
  external_uid: null,
  metadata_json: null,
  created_at: 0,
})

async function add(store: Store, creator: string, count: number): Promise<string[]> {
  const added = await Promise.all(numbers(count).map(() => store.write((tx) => insertPool(tx, pool(creator)))))
  return added.map((row) => row!.address)
}

export function pagingSuite(database: TestDatabase): void {
  describe('pages', () => {
    test('show every row that existed at the start once, newest first, whatever is added meanwhile', async () => {
      const store = await freshStore(database)
      let runs = 0
      const scenario = fc.record({
        before: fc.nat(12),
        limit: fc.integer({ min: 1, max: 5 }),
        added: fc.array(fc.nat(3), { maxLength: 6 }),
      })
      await fc.assert(
        fc.asyncProperty(scenario, async ({ before, limit, added }) => {
          const creator = `creator ${++runs}`
          await add(store, creator, before)
          const all = await store.db.selectFrom('pools').selectAll().where('creator', '=', creator).execute()
          const expected = all.sort((a, b) => b.seq - a.seq).map((row) => row.address)
          const seen: string[] = []
          let cursor: string | undefined
          for (let turn = 0; ; turn++) {
            const page = await pagePools(store.db, { creator, limit, cursor })
            expect(page.rows.length).toBeLessThanOrEqual(limit)
            seen.push(...page.rows.map((row) => row.address))
            if (page.next_cursor === null) break
            expect(page.rows).toHaveLength(limit)
            cursor = page.next_cursor
            await add(store, creator, added[turn] ?? 0)
          }
          expect(seen).toEqual(expected)
        }),
        { numRuns: 40 },
      )
      expect(runs).toBeGreaterThan(39)
    })

    test('end with a null cursor, also if the last one is full', async () => {
      const store = await freshStore(database)
      await add(store, 'a', 4)
      const first = await pagePools(store.db, { limit: 2 })
      const second = await pagePools(store.db, { limit: 2, cursor: first.next_cursor! })
      expect(second.rows).toHaveLength(2)
      expect(second.next_cursor).toBeNull()
    })

    test('hold only rows that match every filter', async () => {
      const store = await freshStore(database)
      await store.write((tx) => insertPool(tx, pool('a', 'pending')))
      await store.write((tx) => insertPool(tx, pool('a', 'live')))
      await store.write((tx) => insertPool(tx, pool('b', 'live')))
      const count = async (filters: Partial<Parameters<typeof pagePools>[1]>) =>
        (await pagePools(store.db, { limit: 9, ...filters })).rows.length
      expect(await count({ creator: 'a' })).toBe(2)
      expect(await count({ creator: 'a', status: 'live' })).toBe(1)
      expect(await count({ type: 'damm_v2' })).toBe(0)
      expect(await count({ creator: undefined })).toBe(3)
    })

    test('of a narrow filter hold only rows that match the wider ones too, whatever the case of a symbol', async () => {
      const store = await freshStore(database)
      const launched = (symbol: string, status: 'pending' | 'live', base_mint: string) =>
        store.write((tx) => insertPool(tx, { ...pool('a', status), symbol, base_mint }))
      for (const status of ['pending', 'live'] as const) {
        for (const mint of ['m', 'n']) for (const symbol of ['CN', 'cn', 'CN2']) await launched(symbol, status, mint)
      }
      const count = async (filters: Partial<Parameters<typeof pagePools>[1]>) =>
        (await pagePools(store.db, { limit: 99, ...filters })).rows.length
      expect(await count({ symbol: 'Cn' })).toBe(8)
      expect(await count({ symbol: 'cn', status: 'live' })).toBe(4)
      expect(await count({ symbol: 'cn', status: 'live', base_mint: 'm' })).toBe(2)
      expect(await count({ symbol: 'cn2', base_mint: 'm', creator: 'a', type: 'dbc' })).toBe(2)
      expect(await count({ symbol: 'cn2', base_mint: 'm', creator: 'b' })).toBe(0)
      for (const symbol of ['Ünï', 'ÜNÏ', '猫']) {
        await store.write((tx) => insertToken(tx, { ...token(symbol), symbol: storedSymbol(` ${symbol}\0`) }))
      }
      const tokens = async (symbol: string) =>
        (await pageTokens(store.db, { limit: 9, symbol, status: 'created' })).rows.map(({ mint }) => mint)
      expect(await tokens('猫')).toEqual(['猫'])
      expect(await tokens('Ünï')).toContain('Ünï')
    })

    test('skip rows that no longer match once they are read, and continue behind them', async () => {
      const store = await freshStore(database)
      await add(store, 'a', 4)
      const all = (await pagePools(store.db, { limit: 4 })).rows.map((row) => row.address)
      let results = 0
      const moved = store.db.withPlugin({
        transformQuery: ({ node }) => node,
        // The rows of the page are known by then, and have yet to be read.
        async transformResult({ result }) {
          const change = { status: 'pending' as const }
          if (++results === 1) await store.write((tx) => updatePool(tx, all[0]!, change))
          return result
        },
      })
      const first = await pagePools(moved, { limit: 2, status: 'live' })
      expect(first.rows.map((row) => row.address)).toEqual([all[1]])
      const rest = await pagePools(store.db, { limit: 2, status: 'live', cursor: first.next_cursor! })
      expect(rest.rows.map((row) => row.address)).toEqual([all[2], all[3]])
    })

    test('are refused for the cursor of another list, a truncated or a changed one', async () => {
      const store = await freshStore(database)
      await add(store, 'a', 3)
      for (const mint of ['a', 'b']) await store.write((tx) => insertToken(tx, token(mint)))
      const { next_cursor: own } = await pagePools(store.db, { limit: 1 })
      const { next_cursor: foreign } = await pageTokens(store.db, { limit: 1 })
      const refused = { code: 'bad_request', param: 'cursor' }
      const ask = (cursor: string) => pagePools(store.db, { limit: 1, cursor })
      await expect(ask(foreign!)).rejects.toMatchObject({
        ...refused,
        message: expect.stringContaining('another list'),
      })
      for (const length of numbers(own!.length)) await expect(ask(own!.slice(0, length))).rejects.toMatchObject(refused)
      for (const at of numbers(own!.length)) {
        const other = own![at] === 'A' ? 'B' : 'A'
        await expect(ask(own!.slice(0, at) + other + own!.slice(at + 1))).rejects.toMatchObject(refused)
      }
      await expect(ask(`${own}=`)).rejects.toMatchObject(refused)
      expect((await ask(own!)).rows).toHaveLength(1)
    })
  })
}
