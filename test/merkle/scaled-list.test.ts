/** A list read with other decimals, against the same shift in bigint. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { entryAt, listFromEntries } from '../../src/merkle/entry-list.ts'
import { scaledList } from '../../src/merkle/scaled-list.ts'
import { runs } from '../support/runs.ts'
import { anyAmount, walletOf } from './reference.ts'

describe('a scaled list', () => {
  it('has every amount times that power of ten, or is null if one does not fit', { tags: 'sampled' }, () => {
    const nearLimits = fc.constantFrom(2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 32n, 2n ** 64n - 1n, 0n)
    const amounts = fc.array(
      fc.oneof(
        anyAmount,
        nearLimits,
        fc.bigInt(0n, 10_000_000n),
        fc
          .tuple(fc.bigInt(0n, 999n), fc.integer({ min: 0, max: 16 }))
          .map(([few, zeros]) => few * 10n ** BigInt(zeros)),
      ),
      { minLength: 1, maxLength: 4 },
    )
    fc.assert(
      fc.property(amounts, fc.integer({ min: -18, max: 18 }), (before, places) => {
        const list = listFromEntries(before.map((amount, i) => ({ wallet: walletOf(i), amount })))
        const factor = 10n ** BigInt(Math.abs(places))
        const after = before.map((amount) => (places < 0 ? amount / factor : amount * factor))
        const fits = after.every((amount, i) => amount < 2n ** 64n && (places >= 0 || amount * factor === before[i]))
        const scaled = scaledList(list, places)
        expect(scaled !== null).toBe(fits)
        if (scaled === null) return
        after.forEach((amount, i) => {
          expect(entryAt(scaled, i)).toEqual({ wallet: walletOf(i), amount, locked: 0n })
        })
      }),
      { numRuns: runs(100, 500) },
    )
  })
})
