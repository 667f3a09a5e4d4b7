/** The hours in which acts need no approval: every moment of every time zone, also when clocks change. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { WEEKDAYS } from '../../src/platform/timing.ts'
import { isTimezone, isWithin, localTime } from '../../src/policy/approvals.ts'
import type { Hours } from '../../src/policy/policy.ts'
import { runs } from '../support/runs.ts'

const MINUTE = 60_000
const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Pacific/Chatham', 'Australia/Lord_Howe']
const two = (n: number) => String(n).padStart(2, '0')
const minutes = fc.integer({ min: 0, max: 1439 })
const moments = fc.integer({ min: Date.UTC(2025, 0), max: Date.UTC(2029, 0) })
const timeOf = (minute: number) => `${two(Math.floor(minute / 60))}:${two(minute % 60)}`
const hours = fc
  .record({
    days: fc.subarray([...WEEKDAYS], { minLength: 1 }),
    from: minutes,
    to: minutes,
    timezone: fc.constantFrom(...ZONES),
  })
  .filter(({ from, to }) => from !== to)
  .map(({ from, to, ...rest }): Hours => ({ ...rest, from: timeOf(from), to: timeOf(to) }))

/** Minute of the week on the wall clock, from another form of the time than the code reads. */
function wallMinute(at: number, timezone: string): number {
  const text = new Date(at).toLocaleString('sv-SE', { timeZone: timezone })
  const wall = Date.parse(`${text.replace(' ', 'T')}Z`)
  const day = (new Date(wall).getUTCDay() + 6) % 7
  return day * 1440 + Math.floor((wall % 86_400_000) / MINUTE)
}

describe('the hours of a policy', () => {
  it('begin at from and end before to, on the day itself or on the next one, in every time zone', () => {
    fc.assert(
      fc.property(hours, moments, (one, at) => {
        const minuteOf = (text: string) => Number(text.slice(0, 2)) * 60 + Number(text.slice(3))
        const [from, to] = [minuteOf(one.from), minuteOf(one.to)]
        const length = from < to ? to - from : to - from + 1440
        const now = wallMinute(at, one.timezone)
        const isInside = one.days.some((day) => {
          const start = WEEKDAYS.indexOf(day) * 1440 + from
          return (now - start + 7 * 1440) % (7 * 1440) < length
        })
        expect(isWithin(one, at)).toBe(isInside)
      }),
      { numRuns: runs(500, 20_000) },
    )
  })

  it('cover a whole day up to 24:00, and nothing of the others', () => {
    fc.assert(
      fc.property(fc.constantFrom(...WEEKDAYS), fc.constantFrom(...ZONES), moments, (day, timezone, at) => {
        const whole: Hours = { days: [day], from: '00:00', to: '24:00', timezone }
        expect(isWithin(whole, at)).toBe(localTime(at, timezone).day === day)
      }),
    )
  })

  it('follow the wall clock when it changes', () => {
    const night: Hours = { days: ['sun'], from: '02:00', to: '03:00', timezone: 'Europe/Berlin' }
    // On 29 March 2026 there is no such hour; on 25 October 2026 there are two.
    const count = (start: number) =>
      Array.from({ length: 1440 }, (_, n) => start + n * MINUTE).filter((at) => isWithin(night, at)).length
    expect(count(Date.UTC(2026, 2, 28, 23))).toBe(0)
    expect(count(Date.UTC(2026, 9, 24, 22))).toBe(120)
    expect(isTimezone('Europe/Berlin') && !isTimezone('Mars/Olympus')).toBe(true)
  })
})
