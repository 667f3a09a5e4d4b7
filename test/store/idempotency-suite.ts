/** Suite: an idempotency key is run by one, answered alike to all, and signed for once. */
import { describe, expect, test } from 'vitest'
import {
  type ClaimRequest,
  claimKey,
  findIdempotencyKey,
  finish,
  free,
  pruneIdempotencyKeys,
  releaseOwner,
  renewLeases,
  storeSigning,
} from '../../src/store/requests/idempotency.ts'
import type { Store } from '../../src/store/store.ts'
import { freshStore, numbers, type TestDatabase, twoStores } from './databases.ts'

const KEY = { apiKeyId: 'key_1', key: 'k' }
const MINE = { ...KEY, owner: 'a' }
const RUNNING = { kind: 'conflict', reason: 'running' }

const claimed = (store: Store, changes: Partial<ClaimRequest> = {}) =>
  store.write((tx) =>
    claimKey(tx, { ...MINE, requestHash: 'hash', now: 1000, leaseMs: 100, ttlMs: 10_000, ...changes }),
  )

const answered = (store: Store, owner = 'a') =>
  store.write((tx) => finish(tx, { ...KEY, owner, status: 201, response: Buffer.from([0, 255, 1]) }))

const REPLAY = { kind: 'replay', status: 201, response: Buffer.from([0, 255, 1]) }

export function idempotencySuite(database: TestDatabase): void {
  describe('an idempotency key', () => {
    test('is claimed by one of 32 simultaneous requests, from two stores', async () => {
      const stores = await twoStores(database)
      const claims = await Promise.all(numbers(32).map((n) => claimed(stores[n % 2]!, { owner: `owner ${n % 2}` })))
      expect(claims.filter(({ kind }) => kind === 'claimed')).toHaveLength(1)
      expect(claims.filter(({ kind }) => kind !== 'claimed')).toEqual(numbers(31).map(() => RUNNING))
    })

    test('replays the stored answer to the same request, and is a conflict for another', async () => {
      const store = await freshStore(database)
      await claimed(store)
      expect(await claimed(store, { requestHash: 'other' })).toEqual({ kind: 'conflict', reason: 'mismatch' })
      expect(await answered(store)).toBe(true)
      expect(await claimed(store, { owner: 'b', now: 5000 })).toEqual(REPLAY)
      expect(await claimed(store, { requestHash: 'other' })).toEqual({ kind: 'conflict', reason: 'mismatch' })
      expect(await claimed(store, { apiKeyId: 'key_2' })).toEqual({ kind: 'claimed' })
    })

    test('is free again after a failure that signed nothing', async () => {
      const store = await freshStore(database)
      await claimed(store)
      await store.write((tx) => free(tx, MINE))
      expect(await findIdempotencyKey(store.db, KEY)).toBeNull()
      expect(await claimed(store, { requestHash: 'other' })).toEqual({ kind: 'claimed' })
    })

    test('with a signature stays after a failure, and the retry resumes at once with the signature', async () => {
      const store = await freshStore(database)
      await claimed(store)
      expect(await store.write((tx) => storeSigning(tx, { ...MINE, signingId: 's1' }))).toEqual({
        kind: 'stored',
      })
      await store.write((tx) => free(tx, MINE))
      expect(await claimed(store, { owner: 'b', now: 1001 })).toEqual({ kind: 'resumed', signingId: 's1' })
      expect(await answered(store, 'b')).toBe(true)
      expect(await claimed(store)).toEqual(REPLAY)
    })

    test('holds one signature, however many are made for it', async () => {
      const store = await freshStore(database)
      await claimed(store)
      const remembered = await Promise.all(
        numbers(8).map((n) => store.write((tx) => storeSigning(tx, { ...MINE, signingId: `s${n}` }))),
      )
      expect(remembered.filter(({ kind }) => kind === 'stored')).toHaveLength(1)
      const { signing_id: signingId } = (await findIdempotencyKey(store.db, KEY))!
      expect(remembered.filter(({ kind }) => kind === 'earlier')).toEqual(
        numbers(7).map(() => ({ kind: 'earlier', signingId })),
      )
      expect(await store.write((tx) => storeSigning(tx, { ...MINE, signingId: signingId! }))).toEqual({
        kind: 'stored',
      })
    })

    test('is taken over by one request when its lease has expired, and the earlier owner has lost it', async () => {
      const stores = await twoStores(database)
      const store = stores[0]
      await claimed(store)
      expect(await claimed(store, { owner: 'b', now: 1099 })).toEqual(RUNNING)
      const claims = await Promise.all(numbers(16).map((n) => claimed(stores[n % 2]!, { owner: `b${n}`, now: 1100 })))
      expect(claims.filter(({ kind }) => kind === 'resumed')).toEqual([{ kind: 'resumed', signingId: null }])
      expect(claims.filter(({ kind }) => kind !== 'resumed')).toEqual(numbers(15).map(() => RUNNING))
      expect(await answered(store, 'a')).toBe(false)
      expect(await store.write((tx) => storeSigning(tx, { ...MINE, signingId: 's' }))).toEqual({ kind: 'lost' })
      await store.write((tx) => free(tx, MINE))
      expect(await findIdempotencyKey(store.db, KEY)).toMatchObject({ state: 'running', signing_id: null })
      expect(await answered(store, `b${claims.findIndex(({ kind }) => kind === 'resumed')}`)).toBe(true)
    })

    test('is not taken over while its owner renews it, and is at once if its owner is known to be dead', async () => {
      const store = await freshStore(database)
      await claimed(store)
      expect(await store.write((tx) => renewLeases(tx, ['a'], 5000))).toBe(1)
      expect(await store.write((tx) => renewLeases(tx, ['b'], 9000))).toBe(0)
      expect(await store.write((tx) => renewLeases(tx, [], 9000))).toBe(0)
      expect(await claimed(store, { owner: 'b', now: 4999 })).toEqual(RUNNING)
      expect(await store.write((tx) => releaseOwner(tx, 'a'))).toBe(1)
      expect(await store.write((tx) => renewLeases(tx, ['a'], 9000))).toBe(0)
      expect(await claimed(store, { owner: 'b', now: 2000 })).toEqual({ kind: 'resumed', signingId: null })
    })

    test('is removed when it expires, but not while it is in use', async () => {
      const store = await freshStore(database)
      await claimed(store)
      expect(await store.write((tx) => pruneIdempotencyKeys(tx, 10_999, 100))).toBe(0)
      await store.write((tx) => renewLeases(tx, ['a'], 12_000))
      expect(await store.write((tx) => pruneIdempotencyKeys(tx, 11_000, 100))).toBe(0)
      expect(await claimed(store, { owner: 'b', now: 11_000 })).toEqual(RUNNING)
      await answered(store)
      expect(await claimed(store, { requestHash: 'other', now: 10_999 })).toMatchObject({ reason: 'mismatch' })
      expect(await claimed(store, { requestHash: 'other', now: 11_000 })).toEqual({ kind: 'claimed' })
      expect(await store.write((tx) => pruneIdempotencyKeys(tx, 30_000, 100))).toBe(1)
    })
  })
}
