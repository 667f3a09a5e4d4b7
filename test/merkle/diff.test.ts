/** Differences between two lists, and lists cut into shards. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { diffLists } from '../../src/merkle/diff.ts'
import { entryAt, listFromEntries, shardList } from '../../src/merkle/entry-list.ts'
import { anyAmounts, recipientsOf, walletOf } from './reference.ts'

describe('a diff of two lists', () => {
  it('names wallets added, removed and changed with both amounts', () => {
    const [a, b, c, d] = recipientsOf(4)
    const diff = diffLists(listFromEntries([a!, b!, c!]), listFromEntries([a!, { ...b!, amount: 5n }, d!]))
    expect(diff).toEqual({
      added: [{ ...d, locked: 0n }],
      removed: [{ ...c, locked: 0n }],
      changed: [{ wallet: b!.wallet, before: b!.amount, after: 5n, lockedBefore: 0n, lockedAfter: 0n }],
      unchanged: 1,
      reordered: false,
    })
  })

  it('shows a new order even if nothing else differs', () => {
    const [a, b] = recipientsOf(2)
    const diff = diffLists(listFromEntries([a!, b!]), listFromEntries([b!, a!]))
    expect(diff).toEqual({ added: [], removed: [], changed: [], unchanged: 2, reordered: true })
  })

  it('applied to the earlier list gives the wallets and amounts of the later one', () => {
    const anyList = fc
      .uniqueArray(fc.tuple(fc.nat(30), anyAmounts), { selector: ([number]) => number })
      .map((rows) => rows.map(([number, amounts]) => ({ wallet: walletOf(number), ...amounts })))
    fc.assert(
      fc.property(anyList, anyList, (before, after) => {
        const diff = diffLists(listFromEntries(before), listFromEntries(after))
        const mapOf = (list: typeof before) =>
          new Map(list.map(({ wallet, amount, locked }) => [wallet, { amount, locked }]))
        const amounts = mapOf(before)
        for (const { wallet } of diff.removed) expect(amounts.delete(wallet)).toBe(true)
        for (const change of diff.changed) {
          expect(amounts.get(change.wallet)).toEqual({ amount: change.before, locked: change.lockedBefore })
          amounts.set(change.wallet, { amount: change.after, locked: change.lockedAfter })
        }
        for (const { wallet, amount, locked } of diff.added) amounts.set(wallet, { amount, locked })
        expect(amounts).toEqual(mapOf(after))
        expect(diff.unchanged + diff.changed.length + diff.added.length).toBe(after.length)
      }),
    )
  })
})

describe('a list cut into shards', () => {
  it('keeps every leaf once and in order', () => {
    const recipients = recipientsOf(103)
    const shards = shardList(listFromEntries(recipients), 25)
    expect(shards.map(({ count }) => count)).toEqual([25, 25, 25, 25, 3])
    const joined = shards.flatMap((shard) => Array.from({ length: shard.count }, (_, i) => entryAt(shard, i)))
    expect(joined).toEqual(recipients.map((entry) => ({ ...entry, locked: 0n })))
  })

  it('is one shard at 50,000 leaves and two above', () => {
    expect(shardList({ count: 50_000, bytes: new Uint8Array(2_000_000) })).toHaveLength(1)
    expect(shardList({ count: 50_001, bytes: new Uint8Array(2_000_040) }).map(({ count }) => count)).toEqual([
      50_000, 1,
    ])
    expect(() => shardList({ count: 1, bytes: new Uint8Array(40) }, 0)).toThrow('at least one leaf')
  })
})
