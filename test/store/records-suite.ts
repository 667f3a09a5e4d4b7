/** Suite: every family stores, finds, changes and lists its records, and both databases give the same values back. */
import { describe, expect, test } from 'vitest'
import { pageAirdrops, updateAirdrop } from '../../src/store/airdrops/airdrops.ts'
import { findTree, insertTree, pageTrees, readBlob, replaceTree } from '../../src/store/airdrops/merkle-trees.ts'
import { insertFeeClaim, pageFeeClaims } from '../../src/store/fees/fee-claims.ts'
import {
  findApiKey,
  findApiKeyByHash,
  insertApiKey,
  pageApiKeys,
  revokeApiKey,
} from '../../src/store/requests/api-keys.ts'
import {
  dueGoldLocks,
  findLatestGoldLock,
  findLiveGoldLock,
  insertGoldLock,
  isAnyGoldLockLive,
  moveGoldLock,
  nextGoldLocks,
  pageGoldLocks,
  planGoldLockCheck,
  planReplaced,
} from '../../src/store/resources/gold-locks.ts'
import { findNft, insertNft, pageNfts, updateNft } from '../../src/store/resources/nfts.ts'
import {
  findStake,
  findStakedByWallet,
  insertStake,
  pageStakes,
  updateStake,
} from '../../src/store/resources/stakes.ts'
import { insertToken, updateToken } from '../../src/store/resources/tokens.ts'
import type { NewRow } from '../../src/store/schema.ts'
import { addTransaction, findTransaction, moveTransaction } from '../../src/store/transactions/transactions.ts'
import { insertWebhookDeliveries, pageWebhookDeliveries } from '../../src/store/webhooks/deliveries.ts'
import {
  deleteWebhookSubscription,
  findWebhookSubscription,
  insertWebhookSubscription,
  pageWebhookSubscriptions,
  updateWebhookSubscription,
} from '../../src/store/webhooks/subscriptions.ts'
import { freshStore, numbers, type TestDatabase, twoStores } from './databases.ts'
import { apiKey, token } from './rows.ts'

const U64_MAX = '18446744073709551615'
const LATE = 4_102_444_800_000
const recorded = { external_uid: 'uid', metadata_json: '{"a":"ä"}', created_at: LATE }

const tree = (changes: Partial<NewRow<'merkle_trees'>> = {}): NewRow<'merkle_trees'> => ({
  ...recorded,
  id: 'tree',
  mint: 'mint',
  airdrop_count: 65_535,
  root: 'root 1',
  leaf_count: 1,
  total: U64_MAX,
  list_sha256: 'list',
  status: 'tree_built',
  ...changes,
})

const lock = (
  escrow: string,
  status: 'locked' | 'unlocked',
  changes: Partial<NewRow<'gold_locks'>> = {},
): NewRow<'gold_locks'> => ({
  ...recorded,
  escrow,
  user: 'user',
  mint: 'mint',
  amount: U64_MAX,
  unlocks_at: LATE,
  status,
  signature: `of ${escrow}`,
  slot: 7,
  genesis: 'chain',
  next_check_at: null,
  ...changes,
})

const stake = (asset: string, status: 'staked' | 'unstaked', owner = 'w'): NewRow<'stakes'> => ({
  ...recorded,
  asset,
  collection: 'c',
  owner,
  status,
  platform_id: null,
})

export function recordsSuite(database: TestDatabase): void {
  describe('records', () => {
    test('keep 64-bit amounts as digits, times as numbers and bytes as bytes', async () => {
      const store = await freshStore(database)
      const stored = await store.write((tx) => insertGoldLock(tx, lock('e', 'locked')))
      expect(stored).toEqual({ ...lock('e', 'locked'), seq: 1 })
      const raw = Buffer.from(numbers(256))
      const row: NewRow<'transactions'> = {
        ...recorded,
        signature: 's',
        raw,
        lifecycle: 'submitted',
        confirmation_status: null,
        err_json: null,
        slot: 2 ** 40,
        confirmations: 0,
        tracked_resource_json: null,
        tracked_id: null,
        bundle_id: null,
        max_retries: 2,
        blockhash: 'b',
        nonce_account: null,
        genesis: 'g',
        since_slot: null,
        checked_at: 0,
        next_check_at: null,
        next_send_at: null,
        sends: 0,
      }
      expect(await store.write((tx) => addTransaction(tx, row))).toBe(true)
      const found = await findTransaction(store.db, 's')
      expect(found).toEqual({ ...row, seq: 1, raw_removed_at: null, retried_at: null, ledger_at: null })
      expect(Buffer.isBuffer(found?.raw)).toBe(true)
      expect(await store.write((tx) => addTransaction(tx, row))).toBe(false)
      const failed = { lifecycle: 'failed', err_json: '"x"' } as const
      expect(await store.write((tx) => moveTransaction(tx, found!, { ...found!, ...failed }))).toBe(true)
      expect(await findTransaction(store.db, 's')).toEqual({
        ...row,
        seq: 1,
        raw_removed_at: null,
        retried_at: null,
        ledger_at: null,
        ...failed,
      })
      const confirmed = { ...found!, lifecycle: 'confirmed' } as const
      const late = await store.write((tx) => moveTransaction(tx, found!, confirmed))
      expect([late, (await findTransaction(store.db, 's'))?.lifecycle]).toEqual([false, 'failed'])
    })

    test('that are seen twice are stored once, and an empty or unmatched change does no harm', async () => {
      const store = await freshStore(database)
      const first = await store.write((tx) => insertToken(tx, token('a')))
      expect(await store.write((tx) => insertToken(tx, { ...token('a'), status: 'fully_immutable' }))).toBeNull()
      expect(await store.write((tx) => updateToken(tx, 'a', {}))).toEqual(first)
      expect(await store.write((tx) => updateToken(tx, 'none', { status: 'created' }))).toBeNull()
    })

    test('of API keys are found by id and hash, and revoked once', async () => {
      const store = await freshStore(database)
      const key = await store.write((tx) => insertApiKey(tx, apiKey('key_1')))
      expect(await findApiKeyByHash(store.db, 'hash of key_1')).toEqual(key)
      expect(await findApiKeyByHash(store.db, 'other')).toBeNull()
      await store.write((tx) => revokeApiKey(tx, 'key_1', 5))
      const again = await store.write((tx) => revokeApiKey(tx, 'key_1', 6))
      expect(again).toEqual({ ...key, status: 'revoked', revoked_at: 5 })
      expect(await findApiKey(store.db, 'key_1')).toEqual(again)
      expect(await store.write((tx) => revokeApiKey(tx, 'key_2', 6))).toBeNull()
      await expect(store.write((tx) => insertApiKey(tx, apiKey('key_1')))).rejects.toMatchObject({
        code: 'bad_request',
      })
      expect((await pageApiKeys(store.db, { limit: 5 })).rows).toEqual([again])
    })

    test('of fee claims, NFTs, stakes and gold locks are listed by their filters', async () => {
      const store = await freshStore(database)
      await store.write(async (tx) => {
        for (const [id, pool_address] of [
          ['1', 'p'],
          ['2', 'q'],
          ['3', 'p'],
        ] as const) {
          await insertFeeClaim(tx, {
            ...recorded,
            id,
            pool_address,
            type: 'fee_claim.executed',
            signature: null,
            recipients_json: null,
            occurred_at: LATE,
          })
          await insertNft(tx, {
            ...recorded,
            asset: id,
            collection: 'c',
            owner: pool_address,
            name: 'n',
            uri: 'u',
            status: 'minted',
            frozen: 0,
          })
        }
        for (const row of [
          stake('1', 'staked'),
          stake('2', 'unstaked'),
          stake('3', 'staked', 'v'),
          stake('4', 'staked'),
        ]) {
          await insertStake(tx, row)
        }
        await insertGoldLock(tx, lock('e1', 'unlocked'))
        await insertGoldLock(tx, lock('e2', 'locked'))
      })
      const { db } = store
      expect((await pageFeeClaims(db, { limit: 5, pool_address: 'p' })).rows.map((row) => row.id)).toEqual(['3', '1'])
      expect((await pageFeeClaims(db, { limit: 5 })).rows.map((row) => row.id)).toEqual(['3', '2', '1'])
      expect((await pageNfts(db, { limit: 5, owner: 'q', collection: 'c' })).rows.map((row) => row.asset)).toEqual([
        '2',
      ])
      await store.write((tx) => updateNft(tx, '2', { owner: 'r', frozen: 1 }))
      expect(await findNft(db, '2')).toMatchObject({ owner: 'r', frozen: 1 })
      expect((await findStakedByWallet(db, 'w')).map((row) => row.asset)).toEqual(['4', '1'])
      await store.write((tx) => updateStake(tx, '4', { status: 'burned' }))
      expect((await pageStakes(db, { limit: 5, owner: 'w', status: 'staked' })).rows.map((row) => row.asset)).toEqual([
        '1',
      ])
      expect(await findStake(db, '4')).toMatchObject({ status: 'burned' })
      expect((await pageGoldLocks(db, { limit: 5, user: 'user', status: 'unlocked' })).rows).toHaveLength(1)
      expect(await findLatestGoldLock(db, 'user', 'chain')).toMatchObject({ escrow: 'e2' })
      expect(await findLatestGoldLock(db, 'none', 'chain')).toBeNull()
      expect(await findLatestGoldLock(db, 'user', 'another')).toBeNull()
    })

    test('of gold locks distinguish the locks of one address, and say when to look at each', async () => {
      const store = await freshStore(database)
      const { db } = store
      expect(await isAnyGoldLockLive(db)).toBe(false)
      const [first, second] = await store.write(async (tx) => [
        (await insertGoldLock(tx, lock('e', 'locked', { unlocks_at: 1000, signature: 's1', slot: 10 })))!,
        (await insertGoldLock(tx, lock('e', 'locked', { unlocks_at: 3000, signature: 's2', slot: 20 })))!,
      ])
      expect(await store.write((tx) => insertGoldLock(tx, lock('e', 'locked', { signature: 's2' })))).toBeNull()
      expect((await findLatestGoldLock(db, 'user', 'chain'))!.signature).toBe('s2')
      const liveAt = async (before: number, genesis = 'chain') =>
        (await findLiveGoldLock(db, { escrow: 'e', genesis, before }))?.signature
      expect([await liveAt(10), await liveAt(11), await liveAt(21), await liveAt(21, 'another')]).toEqual([
        undefined,
        's1',
        's1',
        undefined,
      ])
      const due = async (chainNow: number, now = 0, limit = 10) =>
        (await dueGoldLocks(db, { genesis: 'chain', chainNow, now, limit })).map(({ signature }) => signature)
      expect([await due(999), await due(1000), await due(3000), await due(3000, 0, 1)]).toEqual([
        [],
        ['s1'],
        ['s1', 's2'],
        ['s1'],
      ])
      expect(await nextGoldLocks(db, 'chain')).toEqual({ unlocks_at: 1000, next_check_at: null })
      expect(await nextGoldLocks(db, 'another')).toEqual({ unlocks_at: null, next_check_at: null })
      const move = (row: typeof first, status: 'unlockable' | 'unlocked', next_check_at: number | null) =>
        store.write((tx) => moveGoldLock(tx, row, { status, next_check_at }))
      expect([await move(first, 'unlockable', 5000), await move(first, 'unlocked', null)]).toEqual([true, false])
      expect([await due(3000, 4999), await due(3000, 5000)]).toEqual([['s2'], ['s2', 's1']])
      expect(await nextGoldLocks(db, 'chain')).toEqual({ unlocks_at: 3000, next_check_at: 5000 })
      await store.write((tx) => planGoldLockCheck(tx, first, 9000))
      expect(await due(0, 8999)).toEqual([])
      await store.write((tx) => planReplaced(tx, second, 8000))
      expect(await due(0, 8000)).toEqual(['s1'])
      expect(await isAnyGoldLockLive(db)).toBe(true)
      expect(await move({ ...first, status: 'unlockable' }, 'unlocked', null)).toBe(true)
      expect([await liveAt(21), (await findLatestGoldLock(db, 'user', 'chain'))!.signature]).toEqual(['s2', 's2'])
    })

    test('of webhook subscriptions are removed with their deliveries', async () => {
      const store = await freshStore(database)
      const { db } = store
      const subscription = {
        url: 'https://a.test',
        enabled_events_json: '["*"]',
        active: 1,
        secret: Buffer.from('sealed'),
        secret_preview: 'abcd',
        disabled_reason: null,
        created_at: 1,
        updated_at: 1,
      }
      const delivery = {
        event_id: 'evt',
        attempt: 1,
        status: 'failed',
        response_code: 500,
        duration_ms: 3,
        error: null,
        response_body: null,
        next_attempt_at: LATE,
        created_at: 1,
      }
      await store.write(async (tx) => {
        for (const id of ['whs_1', 'whs_2']) {
          await insertWebhookSubscription(tx, { ...subscription, id })
          await insertWebhookDeliveries(tx, [{ ...delivery, id: `dlv ${id}`, subscription_id: id }])
        }
      })
      await store.write((tx) => updateWebhookSubscription(tx, 'whs_2', { active: 0 }))
      expect((await pageWebhookSubscriptions(db, { limit: 5, active: 1 })).rows.map((row) => row.id)).toEqual(['whs_1'])
      expect((await pageWebhookDeliveries(db, { limit: 5, subscription_id: 'whs_1' })).rows).toMatchObject([delivery])
      expect(await store.write((tx) => deleteWebhookSubscription(tx, 'whs_1', 5))).toBe(true)
      expect(await store.write((tx) => deleteWebhookSubscription(tx, 'whs_1', 5))).toBe(false)
      expect(await findWebhookSubscription(db, 'whs_1')).toBeNull()
      expect((await pageWebhookDeliveries(db, { limit: 5 })).rows.map((row) => row.subscription_id)).toEqual(['whs_2'])
    })

    test('of trees hold every piece, and a replaced tree keeps its place and none of the old pieces', async () => {
      const store = await freshStore(database)
      const { db } = store
      const piece = (n: number) => ({ kind: 'leaves', n, bytes: new Uint8Array(1000).fill(n % 251) })
      const stored = await store.write((tx) => insertTree(tx, tree(), numbers(150).map(piece)))
      expect(await readBlob(db, 'tree', 'leaves', 149)).toEqual(Buffer.alloc(1000, 149))
      expect(await readBlob(db, 'tree', 'leaves', 150)).toBeNull()
      const other = store.write((tx) => insertTree(tx, tree({ id: 'other name' }), []))
      await expect(other).rejects.toMatchObject({ code: 'bad_request' })
      const replaced = await store.write((tx) => replaceTree(tx, tree({ root: 'root 2' }), [piece(7)]))
      expect(replaced).toEqual({ ...stored, root: 'root 2' })
      expect(await readBlob(db, 'tree', 'leaves', 149)).toBeNull()
      expect(await readBlob(db, 'tree', 'leaves', 7)).toEqual(Buffer.alloc(1000, 7))
      expect((await pageTrees(db, { limit: 5, mint: 'mint' })).rows).toEqual([replaced])
    })

    test('of a tree that is on chain are not replaced', async () => {
      const store = await freshStore(database)
      await store.write((tx) => insertTree(tx, tree(), []))
      await store.write((tx) => updateAirdrop(tx, 'tree', { status: 'initialized' }))
      const replacing = store.write((tx) => replaceTree(tx, tree({ root: 'root 2' }), []))
      await expect(replacing).rejects.toMatchObject({ code: 'bad_request' })
      expect(await findTree(store.db, 'tree')).toMatchObject({ root: 'root 1', status: 'initialized' })
      expect((await pageAirdrops(store.db, { limit: 5, mint: 'other' })).rows).toEqual([])
    })

    test('inserted by many at once after a lookup are stored once, and everyone gets the same', async () => {
      const stores = await twoStores(database)
      const answers = await Promise.all(
        numbers(16).map((n) =>
          stores[n % 2]!.write(
            async (tx) => (await findTree(tx, 'tree')) ?? insertTree(tx, tree({ root: `root ${n}` }), []),
          ),
        ),
      )
      expect(new Set(answers.map((row) => row.root)).size).toBe(1)
    })
  })
}
