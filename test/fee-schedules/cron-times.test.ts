/** The times of a schedule: those that node-cron matches, each once, in every time zone and from any moment. */
import fc from 'fast-check'
import { createTask } from 'node-cron'
import { describe, expect, it } from 'vitest'
import { openCron } from '../../src/operations/fee-schedules/cron-times.ts'
import { runs } from '../support/runs.ts'

const MINUTE = 60_000
const DAY = 1_440 * MINUTE
const ZONES = ['UTC', 'Europe/Zurich', 'America/New_York', 'Asia/Kolkata', 'Pacific/Chatham', 'Australia/Lord_Howe']

const field = (least: number, most: number) =>
  fc.oneof(
    fc.constant('*'),
    fc.integer({ min: least, max: most }).map(String),
    fc.integer({ min: 2, max: 20 }).map((step) => `*/${step}`),
    fc
      .tuple(fc.integer({ min: least, max: most }), fc.integer({ min: least, max: most }))
      .map((ends) => ends.toSorted((a, b) => a - b).join('-')),
  )
const crons = fc
  .tuple(field(0, 59), field(0, 23), fc.constant('*'), fc.constant('*'), field(0, 6))
  .map((fields) => fields.join(' '))
const moments = fc.integer({ min: Date.UTC(2025, 0), max: Date.UTC(2029, 0) })

describe('the times of a cron expression', () => {
  it('are minutes that node-cron matches, in order, with none missing if no clock changes', {
    tags: 'sampled',
  }, async () => {
    await fc.assert(
      fc.asyncProperty(crons, fc.constantFrom(...ZONES), moments, async (cron, zone, at) => {
        const times = await openCron(cron, zone, 0)
        const task = createTask(cron, () => undefined, { timezone: zone })
        const next = times.after(at)
        expect([next > at, next % MINUTE, task.match(new Date(next))]).toEqual([true, 0, true])
        const offset = (ms: number) =>
          new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' })
            .formatToParts(ms)
            .find(({ type }) => type === 'timeZoneName')!.value
        const first = Math.floor(at / MINUTE) * MINUTE + MINUTE
        const end = Math.min(next, at + DAY / 2)
        const isSteady = offset(at - DAY / 2) === offset(end)
        for (let each = first; isSteady && each < end; each += MINUTE) {
          if (task.match(new Date(each)))
            throw new Error(`${cron} in ${zone}: ${new Date(each).toISOString()} is left out`)
        }
        void task.destroy()
      }),
      { numRuns: runs(15, 150) },
    )
  })

  it('have the same count as when stepped through, and a last one that is found directly', {
    tags: 'sampled',
  }, async () => {
    await fc.assert(
      fc.asyncProperty(crons, moments, fc.integer({ min: 0, max: 3 * DAY }), async (cron, at, length) => {
        const times = await openCron(cron, 'UTC', 0)
        const from = times.after(at)
        const all: number[] = []
        for (let next = from; next <= at + length; next = times.after(next)) all.push(next)
        const found = times.lastUntil(at + length, from, 100_000)
        expect(found).toEqual(
          all.length === 0 ? null : { at: all.at(-1), before: all.length - 1, previous: all.at(-2) ?? null },
        )
      }),
      { numRuns: runs(6, 60) },
    )
  })

  it('are counted over four centuries without a look at each minute', async () => {
    const times = await openCron('* * * * *', 'UTC', 0)
    const [from, until] = [Date.UTC(2026, 0), Date.UTC(2426, 0)]
    expect(times.lastUntil(until, from, 1_000)).toEqual({ at: until, before: 1_000, previous: until - MINUTE })
  })

  it('include a repeated local time once, and a skipped local time not at all', async () => {
    const times = await openCron('30 2 * * *', 'Europe/Zurich', 0)
    const texts = (from: number, count: number) => {
      const found: string[] = []
      for (let at = times.after(from); found.length < count; at = times.after(at))
        found.push(new Date(at).toISOString())
      return found
    }
    expect(texts(Date.UTC(2026, 9, 24), 3)).toEqual([
      '2026-10-24T00:30:00.000Z',
      '2026-10-25T01:30:00.000Z',
      '2026-10-26T01:30:00.000Z',
    ])
    expect(texts(Date.UTC(2026, 2, 28), 2)).toEqual(['2026-03-28T01:30:00.000Z', '2026-03-30T00:30:00.000Z'])
  })

  it.each([
    ['61 6 * * *', 'UTC', 'cron'],
    ['* * * * * *', 'UTC', 'cron'],
    ['0 0 30 2 *', 'UTC', 'cron'],
    ['', 'UTC', 'cron'],
    ['every hour', 'UTC', 'cron'],
    ['@never', 'UTC', 'cron'],
    ['0-99999999999 * * * *', 'UTC', 'cron'],
    ['*/0 * * * *', 'UTC', 'cron'],
    ['* * * * *\n', 'Mars/Base', 'timezone'],
    ['@hourly', '+02:00', 'timezone'],
    ['@hourly', '__proto__', 'timezone'],
  ])('of %j in %s are refused by the name of %s', async (cron, zone, param) => {
    await expect(openCron(cron, zone, 0)).rejects.toMatchObject({ code: 'bad_request', param })
  })

  it.each([
    ['99 * * * *', 'its minute cannot be 99'],
    ['0 0 0 * *', 'its day of month cannot be 0'],
    ['0 0 * * 9', 'its day of week cannot be 9'],
    ['0 0 30 2 *', 'none of its months has a day 30'],
    ['@never', 'it is neither five fields nor a name such as @daily'],
  ])('of %j are refused with our own message', async (cron, words) => {
    await expect(openCron(cron, 'UTC', 0)).rejects.toThrow(
      `"${cron}" is not a schedule: ${words}. The fields are minute`,
    )
  })

  it('are refused if a change of clocks removes the only remaining hour', async () => {
    const opened = (from: number) => openCron('30 2 29 3 0', 'Europe/Zurich', from)
    expect(new Date((await opened(0)).after(0)).toISOString()).toBe('1970-03-29T01:30:00.000Z')
    await expect(opened(Date.UTC(2026, 5))).rejects.toMatchObject({ code: 'bad_request', param: 'cron' })
  })

  it('are found or refused quickly for any text', async () => {
    const characters = fc.constantFrom(...'0123456789*/,-#?@LW abcdef')
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: characters, maxLength: 40 }), async (cron) => {
        const times = await openCron(cron, 'UTC', 0).catch((error) => {
          expect([error.code, error.param]).toEqual(['bad_request', 'cron'])
          return null
        })
        if (times !== null) expect(times.after(0)).toBeGreaterThan(0)
      }),
      { numRuns: 1_000 },
    )
  })
})
