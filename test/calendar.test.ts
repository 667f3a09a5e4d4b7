/** Dates and times as people and programs write them: what exists is read exactly, and nothing else is read at all. */
import { z } from '@hono/zod-openapi'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { vestingOf } from '../commands/airdrops/vesting-flags.ts'
import { lockPlan } from '../commands/locks/schedule.ts'
import { moment } from '../src/api/filters.ts'
import { timestamp } from '../src/api/scalars.ts'
import { calendarMoment, momentFault } from '../src/platform/calendar.ts'

const two = (number: number) => String(number).padStart(2, '0')
const DAY_MS = 86_400_000
/** Years 0000 to 9999, each moment a whole second. */
const seconds = fc.integer({ min: -62_167_219_200, max: 253_402_300_799 })

describe('A date', () => {
  it('that exists is read exactly, with a time in any zone and without one', () => {
    fc.assert(
      fc.property(seconds, fc.integer({ min: -23 * 60, max: 23 * 60 }), (at, offset) => {
        const iso = new Date(at * 1000).toISOString()
        expect(calendarMoment(iso)).toBe(at * 1000)
        expect(calendarMoment(iso.slice(0, 10))).toBe(Math.floor((at * 1000) / DAY_MS) * DAY_MS)
        const local = new Date((at + offset * 60) * 1000).toISOString()
        if (!/^\d{4}-/.test(local)) return
        const zone = `${offset < 0 ? '-' : '+'}${two(Math.trunc(Math.abs(offset) / 60))}:${two(Math.abs(offset) % 60)}`
        expect(calendarMoment(local.replace(/\.\d+Z$/, zone))).toBe(at * 1000)
        expect(calendarMoment(local.replace(/\.\d+Z$/, zone.replace(':', '')))).toBe(at * 1000)
      }),
    )
  })

  it('that does not exist is refused by the one parser and by every schema of the API', () => {
    const parts = fc.tuple(
      fc.integer({ min: 0, max: 9999 }),
      fc.integer({ min: 0, max: 14 }),
      fc.integer({ min: 0, max: 33 }),
    )
    fc.assert(
      fc.property(parts, ([year, month, day]) => {
        const date = `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`
        const real = new Date(0)
        real.setUTCFullYear(year, month - 1, day)
        const exists = real.toISOString().slice(0, 10) === date
        const time = `${date}T10:30:00Z`
        expect(calendarMoment(date) !== null, date).toBe(exists)
        expect(calendarMoment(time) !== null, time).toBe(exists)
        for (const schema of [timestamp, z.iso.datetime({ offset: true }), moment]) {
          expect(schema.safeParse(time).success, time).toBe(exists)
        }
      }),
      { numRuns: 500 },
    )
  })

  it.each([
    ['2030-02-30', 'is "2030-02-30", a date that does not exist: that month has the days 01 to 28'],
    ['2027-06-31T00:00:00Z', 'is "2027-06-31T00:00:00Z", a date that does not exist: that month has the days 01 to 30'],
    ['2100-02-29', 'is "2100-02-29", a date that does not exist: that month has the days 01 to 28'],
    ['2030-13-01', 'is "2030-13-01", a date that does not exist: a year has the months 01 to 12'],
    ['2030-01-00', 'is "2030-01-00", a date that does not exist: that month has the days 01 to 31'],
    ['2030-01-01T24:00:00Z', 'must be a time, not "2030-01-01T24:00:00Z"'],
    ['2030-01-01T12:60Z', 'must be a time, not "2030-01-01T12:60Z"'],
    ['2030-01-01T12:00:60Z', 'must be a time, not "2030-01-01T12:00:60Z"'],
    ['2030-01-01T12:00:00', 'must be a time, not "2030-01-01T12:00:00"'],
    ['2030-01-01T12:00:00+24:00', 'must be a time, not "2030-01-01T12:00:00+24:00"'],
    ['01/02/2030', 'must be a time, not "01/02/2030"'],
    ['2030-1-2', 'must be a time, not "2030-1-2"'],
    ['May 2030', 'must be a time, not "May 2030"'],
    [' 2030-01-01', 'must be a time, not " 2030-01-01"'],
    ['', 'must be a time, not ""'],
  ])('as %j is refused, and the reason is said', (text, fault) => {
    expect(calendarMoment(text)).toBeNull()
    expect(momentFault(text, 'a time')).toBe(fault)
    expect(moment.safeParse(text).success).toBe(false)
  })

  it('of a leap year exists', () => {
    expect(calendarMoment('2028-02-29')).toBe(Date.UTC(2028, 1, 29))
    expect(calendarMoment('2000-02-29T23:59:59.5z')).toBe(Date.UTC(2000, 1, 29, 23, 59, 59, 500))
  })

  it('in a filter is its beginning in UTC', () => {
    expect(moment.parse('2026-05-01')).toBe(Date.UTC(2026, 4, 1))
    expect(moment.parse('1777593600')).toBe(1_777_593_600_000)
  })
})

describe('Every flag with a date', () => {
  const planned = (texts: object) => () =>
    lockPlan({ amount: '1', ...texts }, { decimals: 0, now: 0n, shown: (field) => `--${field}` })

  it.each<[string, () => unknown]>([
    ['--start', planned({ start: '2030-02-30' })],
    ['--cliff', planned({ cliff: '2030-02-30' })],
    ['--starts-at', () => vestingOf({ starts_at: '2030-02-30', ends_at: '2031-01-01' })],
    ['--ends-at', () => vestingOf({ ends_at: '2030-02-30' })],
  ])('refuses %s 2030-02-30', (flag, read) => {
    expect(read).toThrow(`${flag} is "2030-02-30", a date that does not exist: that month has the days 01 to 28`)
  })
})
