/** The schedule of a lock: its parts are its amount, and it unlocks in the steps that it names. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  depositOf,
  type LockSchedule,
  nextUnlock,
  splitLock,
  totalOf,
  unlockedAt,
} from '../../src/solana/lock-schedule.ts'
import { feeOn } from '../../src/solana/transfer-fees.ts'
import { MAX_U64 } from '../../src/solana/u64.ts'
import { runs } from '../support/runs.ts'

const amounts = fc.bigInt({ min: 1n, max: MAX_U64 })
const schedules = fc
  .record({
    amount: amounts,
    share: fc.bigInt({ min: 0n, max: 100n }),
    periods: fc.bigInt({ min: 0n, max: 400n }),
    frequency: fc.bigInt({ min: 1n, max: 10_000_000n }),
    cliffTime: fc.bigInt({ min: 0n, max: 4_000_000_000n }),
  })
  .map(({ amount, share, periods, ...times }) => {
    const split = splitLock({ amount, cliffAmount: periods === 0n ? 0n : (amount * share) / 100n, periods })
    return { amount, schedule: { ...times, ...split, periods } satisfies LockSchedule }
  })

describe('the schedule of a lock', () => {
  it('adds up to the amount, and a remainder is part of the cliff', () => {
    expect(splitLock({ amount: 100n, cliffAmount: 10n, periods: 7n })).toEqual({
      cliffAmount: 16n,
      amountPerPeriod: 12n,
    })
    expect(splitLock({ amount: 5n, cliffAmount: 0n, periods: 0n })).toEqual({ cliffAmount: 5n, amountPerPeriod: 0n })
    fc.assert(
      fc.property(schedules, ({ amount, schedule }) => {
        expect(totalOf(schedule)).toBe(amount)
        expect(schedule.cliffAmount - (amount - schedule.amountPerPeriod * schedule.periods)).toBe(0n)
      }),
      { numRuns: runs(200, 5_000) },
    )
  })

  it('unlocks in its steps alone, from nothing to the whole amount', () => {
    fc.assert(
      fc.property(schedules, ({ amount, schedule }) => {
        expect(unlockedAt(schedule, schedule.cliffTime - 1n)).toBe(0n)
        let [time, sum] = [schedule.cliffTime - 1n, 0n]
        for (let next = nextUnlock(schedule, time); next !== null; next = nextUnlock(schedule, time)) {
          expect(unlockedAt(schedule, next.at - 1n)).toBe(sum)
          ;[time, sum] = [next.at, sum + next.amount]
          expect(unlockedAt(schedule, time)).toBe(sum)
        }
        expect(sum).toBe(amount)
      }),
      { numRuns: runs(100, 1_000) },
    )
  })
})

describe('the deposit of a lock', () => {
  it('leaves at least the amount after a transfer fee', () => {
    const fees = fc.record({
      epoch: fc.constant(0n),
      basisPoints: fc.integer({ min: 0, max: 10_000 }),
      maximumFee: fc.bigInt({ min: 0n, max: MAX_U64 }),
    })
    fc.assert(
      fc.property(fees, amounts, (fee, amount) => {
        const sent = depositOf(fee, amount)
        if (sent !== null) expect(sent - feeOn(fee, sent)).toBeGreaterThanOrEqual(amount)
      }),
      { numRuns: runs(500, 20_000) },
    )
  })
})
