/** Schedules of locks as people type them, and what unlocks when. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { unlockDrawing, unlocksOf } from '../../commands/locks/plan.ts'
import { type LockPlan, lockPlan, type ScheduleTexts } from '../../commands/locks/schedule.ts'
import { drawingLines } from '../../commands/ui/drawing.ts'
import { endOf, unlockedAt } from '../../src/solana/lock-schedule.ts'

const NOW = 1_800_000_000n
const planOf = (texts: ScheduleTexts, decimals = 6) =>
  lockPlan(texts, { decimals, now: NOW, shown: (field) => `--${field}` })

const SPANS = [
  ['s', 1n],
  ['min', 60n],
  ['h', 3_600n],
  ['d', 86_400n],
  ['w', 604_800n],
] as const

/** Texts of a schedule that can be locked. */
const schedules = fc
  .record({
    amount: fc.bigInt({ min: 1n, max: 2n ** 64n - 1n }),
    percent: fc.integer({ min: 0, max: 99 }),
    cliff: fc.nat(5_000),
    periods: fc.nat(2_000),
    frequency: fc.integer({ min: 1, max: 100 }),
    unit: fc.constantFrom(...SPANS),
  })
  .filter(({ amount, periods, percent }) => amount - (amount * BigInt(percent)) / 100n >= BigInt(periods))

describe('A schedule of a lock', () => {
  it('is what was typed, and its parts are the amount to the unit', () => {
    fc.assert(
      fc.property(schedules, ({ amount, percent, cliff, periods, frequency, unit: [unit, seconds] }) => {
        const plan = planOf(
          {
            amount: String(amount),
            cliff: `${cliff}${unit}`,
            ...(periods === 0
              ? {}
              : { periods: String(periods), frequency: `${frequency}${unit}`, cliff_amount: `${percent}%` }),
          },
          0,
        )
        expect(plan).toMatchObject({ startTime: NOW, cliffTime: NOW + BigInt(cliff) * seconds, amount })
        expect(plan.cliffAmount + plan.amountPerPeriod * plan.periods).toBe(amount)
        const wanted = periods === 0 ? amount : (amount * BigInt(percent)) / 100n
        expect(plan.cliffAmount).toBeGreaterThanOrEqual(wanted)
        expect(plan.cliffAmount - wanted).toBeLessThan(BigInt(periods || 1))
        expect(plan.frequency).toBe(periods === 0 ? 1n : BigInt(frequency) * seconds)
      }),
    )
  })

  it('lists what the program has unlocked at each moment, of several locks together, and fits a terminal', () => {
    fc.assert(
      fc.property(fc.array(schedules, { minLength: 1, maxLength: 4 }), (several) => {
        const plans = several.map(
          ({ amount, periods, frequency, cliff, unit: [unit] }): LockPlan =>
            planOf({
              amount: String(amount % 1_000_000_000n || 1n),
              cliff: `${cliff}${unit}`,
              ...(periods === 0 ? {} : { periods: String(periods), frequency: `${frequency}${unit}` }),
            }),
        )
        const { unlocks } = unlocksOf(plans)
        const total = plans.reduce((sum, { amount }) => sum + amount, 0n)
        expect(unlocks.reduce((sum, { unlocked }) => sum + unlocked, 0n)).toBe(total)
        for (const { at, cumulative } of unlocks) {
          expect(plans.reduce((sum, plan) => sum + unlockedAt(plan, at), 0n)).toBe(cumulative)
        }
        const lines = drawingLines(unlockDrawing(plans, { title: 'Unlocked', decimals: 6 }), 80, true)
        expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(80)
      }),
      { numRuns: 40 },
    )
  })

  it.each([
    ['1s', '63072000', 'day'],
    ['1min', '52596000', 'month'],
    ['7d', '30000', 'month'],
    ['30d', '90000', 'year'],
  ])('with periods of %s, %s of them, has fewer lines that add up', (frequency, periods, each) => {
    const texts = { amount: '1000000000', frequency, periods }
    const plan = planOf(texts)
    const found = unlocksOf([plan])
    expect(found.each).toBe(each)
    expect(found.unlocks.length).toBeLessThanOrEqual(10_000)
    expect(found.unlocks.at(-1)?.cumulative).toBe(plan.amount)
    expect(found.unlocks.at(-1)?.at).toBeGreaterThanOrEqual(endOf(plan))
  })

  it.each<[Partial<ScheduleTexts>, string]>([
    [{ amount: '0' }, '--amount must be more than 0'],
    [{ amount: '1.1234567' }, '--amount has more than 6 fractional digits'],
    [{ amount: '18446744073710' }, '--amount is more than a token account can hold'],
    [{ start: 'soon' }, '--start must be a time in ISO 8601 with a zone, not "soon"'],
    [{ start: '2027-01-01T00:00:00' }, '--start must be a time in ISO 8601 with a zone'],
    [{ start: '1969-12-31' }, '--start is before 1970'],
    [{ cliff: '1m' }, '--cliff must be a time in ISO 8601 with a zone, or a span such as 365d, not "1m"'],
    [{ start: '2027-01-02', cliff: '2027-01-01' }, '--cliff is before the start'],
    [{ periods: '2' }, '--frequency is required with periods'],
    [{ frequency: '1d' }, '--periods is required with frequency'],
    [{ periods: '2', frequency: '0d' }, '--frequency must be a span such as 30d or 12h, not "0d"'],
    [{ periods: '-2', frequency: '1d' }, '--periods must be a whole number, not "-2"'],
    [{ cliff_amount: '2' }, '--cliff_amount is more than the amount'],
    [{ cliff_amount: '50%' }, '--cliff_amount is only a part, and without periods everything unlocks at the cliff'],
    [{ amount: '0.000001', periods: '2', frequency: '1d' }, '--periods is 2, and 1 raw units after the cliff are less'],
    [{ periods: '8640000', frequency: '30d', amount: '1000' }, '--periods reaches beyond the year 9999'],
    [{ cliff: '9000y' }, '--cliff reaches beyond the year 9999'],
  ])('is refused with %j', (texts, message) => {
    expect(() => planOf({ amount: '1', ...texts })).toThrow(message)
  })
})
