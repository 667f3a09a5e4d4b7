/** Which accounts are followed for records: each once, with a bounded look at many records and no write where none is new. */
import { expect, it } from 'vitest'
import { accountsAfter, followMissing } from '../src/store/following/followed-accounts.ts'
import { newNfts, newTokens } from '../src/store/following/newcomers.ts'
import { insertNft } from '../src/store/resources/nfts.ts'
import { insertToken } from '../src/store/resources/tokens.ts'
import type { Store } from '../src/store/store.ts'
import { opened, sqlite } from './store/databases.ts'
import { token } from './store/rows.ts'

const genesis = 'GENESIS'
const LATER = 600_000

/** The store with its writes counted. */
function counted(store: Store) {
  const count = { writes: 0 }
  const write: Store['write'] = (...of) => {
    count.writes++
    return store.write(...of)
  }
  return { count, store: { ...store, db: store.db, write } as Store }
}

const nft = (asset: string, collection: string) => ({
  asset,
  collection,
  owner: 'OWNER',
  name: '',
  uri: '',
  status: 'minted' as const,
  frozen: 0 as const,
  external_uid: null,
  metadata_json: null,
  created_at: 1,
  changed_slot: 1,
  changed_order: 1,
})

it('a search of all assets names each collection once, and a later one reads only newer assets', async () => {
  const store = await opened(await sqlite.migrated())
  await store.write(async (tx) => {
    for (let n = 0; n < 300; n++) await insertNft(tx, nft(`ASSET ${n}`, `COLLECTION ${n % 3}`))
  })
  const look = async (now: number) => (await newNfts(store.db, { genesis, now })).map(({ collection }) => collection)
  const three = ['COLLECTION 0', 'COLLECTION 1', 'COLLECTION 2']
  expect(await look(0)).toEqual(three)
  expect(await look(1)).toEqual([])
  await store.write((tx) => insertNft(tx, nft('ANOTHER', 'COLLECTION 3')))
  expect([await look(2), await look(3), await look(4)]).toEqual([['COLLECTION 3'], ['COLLECTION 3'], []])
  expect(await look(LATER)).toEqual([...three, 'COLLECTION 3'])
  expect(await look(LATER + 1)).toEqual([])
})

it('a later search of all tokens skips those that are followed, and does not start again', async () => {
  const store = await opened(await sqlite.migrated())
  await store.write(async (tx) => {
    for (const mint of ['ONE', 'OTHER']) await insertToken(tx, token(mint))
  })
  const look = async (now: number) => (await newTokens(store.db, { genesis, now })).map(({ mint }) => mint)
  expect(await look(0)).toEqual(['ONE', 'OTHER'])
  await followMissing(store, [{ address: 'ONE', kind: 'mint', watch: 'state' }], { genesis, from: 0, now: 0 })
  expect([await look(LATER), await look(LATER + 1)]).toEqual([['OTHER'], []])
})

it('accounts are written some hundred at a time, and only those that are missing for this reason', async () => {
  const { count, store } = counted(await opened(await sqlite.migrated()))
  const accounts = Array.from(
    { length: 1_200 },
    (_, n) => ({ address: `ADDRESS ${n}`, kind: 'mint', watch: 'state' }) as const,
  )
  const follow = (all: Parameters<typeof followMissing>[1]) => followMissing(store, all, { genesis, from: 7, now: 1 })
  await follow(accounts)
  expect(count.writes).toBe(3)
  await follow(accounts)
  expect(count.writes).toBe(3)
  await follow([...accounts, { address: 'ADDRESS 0', kind: 'gold_mint', watch: 'history', beside: 'LOCK' }])
  expect(count.writes).toBe(4)
  expect(await accountsAfter(store.db, { genesis, after: 0, limit: 2_000 })).toHaveLength(1_201)
})
