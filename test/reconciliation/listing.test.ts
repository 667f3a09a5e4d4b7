/** A listing proves that nothing is missing before it moves on: a short history or a late index loses nothing. */
import { describe, expect, it } from 'vitest'
import { awaitedAfter, awaitedHash, awaitedSlot, hashAfter } from '../../src/following/reconciliation/listing.ts'
import { followAccounts } from '../../src/store/following/followed-accounts.ts'
import { lacksCore } from '../support/assets.ts'
import { type Lie, onLyingNode } from './lying-node.ts'

const truth: Lie = (_, __, answer) => answer

describe.skipIf(lacksCore)('the history of a followed account (needs Metaplex Core)', () => {
  /** A node whose history begins behind a transaction. */
  const without =
    (lost: { signature: string }): Lie =>
    (method, _, answer) => {
      if (method === 'getFirstAvailableBlock') return Number.MAX_SAFE_INTEGER
      if (method !== 'getSignaturesForAddress') return answer
      return (answer as { signature: string }[]).filter(({ signature }) => signature !== lost.signature)
    }

  it('waits for a node that has all of it, and is then reported in order', async () => {
    const { acts, lying, mint, rounds, told, accountOf, collection } = await onLyingNode()
    const earlier = mint()
    await rounds(60, 3)
    const [lost, kept] = [mint(), mint()]
    lying.call = lying.witnesses = without(lost)
    const before = await accountOf(collection)
    await rounds(60, 3)
    const { seen_slot, seen_signature } = await accountOf(collection)
    expect([seen_slot, seen_signature]).toEqual([before.seen_slot, before.seen_signature])
    expect([await told(earlier), await told(lost), await told(kept)]).toEqual([['nft.created'], [], []])
    lying.call = lying.witnesses = truth
    await rounds(660, 2)
    const order = (await acts.events()).filter(({ type }) => type === 'nft.created')
    expect(order.map(({ data }) => data.object.asset)).toEqual([earlier, lost, kept].map(({ asset }) => asset))
  })

  it('is read from the endpoint that has it, if another has not', async () => {
    const { lying, mint, rounds, told, services } = await onLyingNode()
    mint()
    await rounds(60, 3)
    const [lost, kept] = [mint(), mint()]
    lying.call = without(lost)
    Object.assign(services.chain, { hasSeveralEndpoints: true })
    await rounds(60, 2)
    expect([await told(lost), await told(kept)]).toEqual([['nft.created'], ['nft.created']])
  })

  it('is listed again while it does not explain a change of the data that the node shows earlier', async () => {
    const { lying, mint, transfer, rounds, services, genesis, accountOf, stateOf } = await onLyingNode()
    const { asset } = mint()
    await rounds(60, 2)
    const followed = [{ address: asset, kind: 'distributor', watch: 'state' } as const]
    const now = services.clock.now()
    await services.store.write((tx) => followAccounts(tx, followed, { genesis, from: 0, now }))
    await rounds(60, 6)
    const { state_hash } = await accountOf(asset)
    expect(state_hash).toMatch(/^[0-9a-f]{64}$/)
    const moved = transfer({ asset })
    lying.call = (method, _, answer) => (method === 'getSignaturesForAddress' ? [] : answer)
    await rounds(30, 4)
    expect((await accountOf(asset)).state_hash).toBe(`4:${state_hash}`)
    expect(await stateOf(moved)).toBeUndefined()
    lying.call = truth
    await rounds(60, 6)
    expect(await stateOf(moved)).toBeDefined()
    expect((await accountOf(asset)).state_hash).toMatch(/^[0-9a-f]{64}$/)
    expect((await accountOf(asset)).state_hash).not.toBe(state_hash)
  })
})

describe.skipIf(lacksCore)('an index of signatures that lags behind the accounts (needs Metaplex Core)', () => {
  it('loses no change: the account stays open although an earlier transaction was listed', async () => {
    const { lying, mint, transfer, rounds, services, genesis, accountOf, stateOf } = await onLyingNode()
    const { asset } = mint()
    const followed = [{ address: asset, kind: 'distributor', watch: 'state' } as const]
    const now = services.clock.now()
    await services.store.write((tx) => followAccounts(tx, followed, { genesis, from: 0, now }))
    const moved = transfer({ asset })
    lying.call = (method, _, answer) =>
      method === 'getSignaturesForAddress'
        ? (answer as { signature: string }[]).filter(({ signature }) => signature !== moved.signature)
        : answer
    await rounds(5, 3)
    expect([(await accountOf(asset)).state_hash?.[0], await stateOf(moved)]).toEqual(['@', undefined])
    lying.call = truth
    await rounds(30, 6)
    expect(await stateOf(moved)).toBeDefined()
    expect((await accountOf(asset)).state_hash).toMatch(/^[0-9a-f]{64}$/)
  })
})

describe('the stored hash of an account', () => {
  it('of an open change is accepted after three listings that add nothing, and counts them anew for another change', () => {
    expect(awaitedAfter('a', 'b', 7)).toBeNull()
    expect(awaitedAfter('@7:b', 'b', 9)).toEqual({ stored: '@7:b:1', tries: 1, isGivenUp: false })
    expect(awaitedAfter('@7:b:2', 'b', 9)).toEqual({ stored: '@7:b:3', tries: 3, isGivenUp: false })
    expect(awaitedAfter('@7:b:2', 'c', 9)).toEqual({ stored: '@9:c:1', tries: 1, isGivenUp: false })
    expect(awaitedAfter('@7:b:3', 'b', 9)).toEqual({ stored: 'b', tries: 0, isGivenUp: false })
    expect(awaitedSlot('@7:b:3', 'b')).toBe(7)
  })

  it('becomes the new one if a listing explains it, and after too many that do not', () => {
    expect(hashAfter(null, 'b', false)).toEqual({ stored: 'b', tries: 0, isGivenUp: false })
    expect(hashAfter('a', 'b', true)).toEqual({ stored: 'b', tries: 0, isGivenUp: false })
    expect(hashAfter('5:a', 'a', false)).toEqual({ stored: 'a', tries: 0, isGivenUp: false })
    expect(hashAfter('', 'b', false)).toEqual({ stored: '1:', tries: 1, isGivenUp: false })
    let stored = 'a'
    for (let tries = 1; tries <= 8; tries++) {
      const after = hashAfter(stored, 'b', false)
      expect(after).toEqual({ stored: `${tries}:a`, tries, isGivenUp: false })
      stored = after.stored
    }
    expect(hashAfter(stored, 'b', false)).toEqual({ stored: 'b', tries: 0, isGivenUp: true })
  })

  it('waits for the slot in which a change was first read, until another follows', () => {
    const awaited = awaitedHash('a', 'b', 7)
    expect(awaited).toBe('@7:b')
    expect(awaitedHash(awaited, 'b', 9)).toBe('@7:b')
    expect(awaitedHash(awaited, 'c', 9)).toBe('@9:c')
    expect([awaitedSlot(awaited, 'b'), awaitedSlot(awaited, 'c'), awaitedSlot('3:b', 'b')]).toEqual([7, null, null])
    expect(hashAfter(awaited, 'b', false)).toEqual({ stored: 'b', tries: 0, isGivenUp: false })
  })
})
