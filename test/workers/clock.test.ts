/** Clocks that were wrong, on SQLite and on a real PostgreSQL server; the schedule by a clock that is set. */
import { createTask, getTasks } from 'node-cron'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { cronExpression, systemTiming } from '../../daemon/workers/frame.ts'
import { housekeepingWorker } from '../../daemon/workers/housekeeping.ts'
import type { WorkerSchedule } from '../../daemon/workers/timing.ts'
import {
  airdropFullyClaimedWorker,
  clockRepairWorker,
  goldUnlockEligibleWorker,
  poolMigrationWorker,
  transactionWatcherWorker,
  webhookDeliveryWorker,
} from '../../daemon/workers/workers.ts'
import { postgres, sqlite } from '../store/databases.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { onPostgres } from '../support/database.ts'
import { inSoak } from '../support/runs.ts'
import { startService } from '../support/service.ts'
import { clockSuite } from './clock-suite.ts'

/** What the daemon runs. */
const EVERY = [
  airdropFullyClaimedWorker,
  clockRepairWorker,
  goldUnlockEligibleWorker,
  housekeepingWorker,
  poolMigrationWorker,
  transactionWatcherWorker,
  webhookDeliveryWorker,
]

/** Timers of their own, beside a clock on the wall that can be set: node-cron itself runs on both. */
function wall(at: number) {
  vi.useFakeTimers({ now: at, toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  return {
    now: () => Date.now(),
    set: (milliseconds: number) => void vi.setSystemTime(milliseconds),
    pass: (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds),
    waiting: () => vi.getTimerCount(),
  }
}

describe('a schedule', () => {
  test('comes to each of its moments once, by the Unix time', async () => {
    const clock = wall(10_300)
    const slots: number[] = []
    const end = systemTiming.every({ everyMs: 2_000 }, (slot) => slots.push(slot))
    await clock.pass(6_000)
    expect(slots).toEqual([12_000, 14_000, 16_000])
    end()
    // So long that a timer which an earlier file has left behind runs out too.
    await clock.pass(600_000)
    expect([slots.length, clock.waiting()]).toEqual([3, 0])
  })

  test('with an offset comes so long after each multiple', async () => {
    const clock = wall(0)
    const slots: number[] = []
    onTestFinished(systemTiming.every({ everyMs: 3_600_000, offsetMs: 1_020_000 }, (slot) => slots.push(slot)))
    await clock.pass(2 * 3_600_000)
    expect(slots).toEqual([1_020_000, 4_620_000])
  })

  test.each([
    ['back by a year', -31_536_000_000],
    ['ahead by a year', 31_536_000_000],
  ])('goes on within one period when the clock is set %s', async (_, by) => {
    const clock = wall(100_000_000_000)
    const slots: number[] = []
    onTestFinished(systemTiming.every({ everyMs: 2_000 }, (slot) => slots.push(slot)))
    await clock.pass(4_000)
    clock.set(clock.now() + by)
    await clock.pass(6_000)
    expect(slots.length).toBeGreaterThanOrEqual(4)
    expect(slots.at(-1)).toBe(clock.now() - (clock.now() % 2_000))
  })

  test.each(EVERY)(
    'of the $name comes within its period after the clock was set back, and no moment that was done before is repeated',
    { tags: 'sampled' },
    async ({ schedule }) => {
      const { everyMs } = schedule
      for (const share of inSoak ? [0, 0.3, 0.999] : [0.3]) {
        for (const back of [1_500, everyMs, 1.5 * everyMs, 2 * everyMs, 30 * 86_400_000]) {
          const clock = wall(1_800_000_000_000)
          const slots: number[] = []
          const end = systemTiming.every(schedule, (slot) => slots.push(slot))
          onTestFinished(end)
          await clock.pass(2 * everyMs + Math.floor(share * everyMs))
          clock.set(clock.now() - back)
          const before = slots.length
          // A moment that comes a second time so soon was done: the next is due once the clock has made up for it.
          await clock.pass(back < 2 * everyMs ? everyMs + back : everyMs)
          expect(slots.length, `${share} of a period, back by ${back} ms`).toBeGreaterThan(before)
          expect(clock.now() - slots.at(-1)!).toBeLessThan(everyMs)
          await clock.pass(3 * everyMs)
          expect(slots.every((slot, n) => slot !== slots[n - 1])).toBe(true)
          expect(slots.length).toBeGreaterThanOrEqual(before + 4)
          end()
        }
      }
    },
  )

  test('steps through nothing that a leap ahead has passed: the present moment is done at once, then each that follows', async () => {
    const clock = wall(1_800_000_000_300)
    const slots: number[] = []
    onTestFinished(systemTiming.every({ everyMs: 1_000 }, (slot) => slots.push(slot)))
    const missed: Date[] = []
    for (const task of getTasks().values()) task.on('execution:missed', ({ date }) => void missed.push(date))
    await clock.pass(2_000)
    clock.set(clock.now() + 40 * 86_400_000)
    await clock.pass(3_000)
    const leapt = 1_800_000_000_000 + 40 * 86_400_000
    expect(slots.map((slot) => slot - leapt).slice(2)).toEqual([2_000, 3_000, 4_000, 5_000])
    expect(missed).toEqual([])
  })

  test('is one task of node-cron while it lasts, also once the clock was set, and none when it has ended', async () => {
    const clock = wall(1_800_000_000_000)
    const patterns = () => [...getTasks().values()].map((task) => task.getPattern())
    const ends = EVERY.map(({ schedule }) => systemTiming.every(schedule, () => {}))
    onTestFinished(() => {
      for (const end of ends) end()
    })
    const expected = EVERY.map(({ schedule }) => cronExpression(schedule)).sort()
    expect(patterns().sort()).toEqual(expected)
    clock.set(clock.now() - 86_400_000)
    await clock.pass(10_000)
    expect(patterns().sort()).toEqual(expected)
    for (const end of ends) end()
    expect(patterns()).toEqual([])
    // So long that a timer which an earlier file has left behind runs out too.
    await clock.pass(600_000)
    expect(clock.waiting()).toBe(0)
  })

  test.each([
    [{ everyMs: 1_000 }, '* * * * * *'],
    [{ everyMs: 2_000 }, '0-59/2 * * * * *'],
    [{ everyMs: 10_000, offsetMs: 23_000 }, '3-59/10 * * * * *'],
    [{ everyMs: 60_000, offsetMs: 7_000 }, '7 * * * * *'],
    [{ everyMs: 300_000, offsetMs: 61_000 }, '1 1-59/5 * * * *'],
    [{ everyMs: 3_600_000, offsetMs: 1_020_000 }, '0 17 * * * *'],
    [{ everyMs: 21_600_000, offsetMs: 3_600_000 }, '0 0 1-23/6 * * *'],
    [{ everyMs: 86_400_000, offsetMs: 11_045_000 }, '5 4 3 * * *'],
  ])('%o is the cron expression %s, and matches the same moments', (schedule, expression) => {
    expect(cronExpression(schedule)).toBe(expression)
    const { everyMs, offsetMs = 0 } = schedule as WorkerSchedule
    const task = createTask(expression, () => {}, { timezone: 'Etc/UTC' })
    const phases = task.getNextRuns(30).map((date) => (date.getTime() - offsetMs) / everyMs)
    expect(phases).toEqual(phases.map((_, n) => Math.trunc(phases[0]!) + n))
  })

  test.each([
    { everyMs: 500 },
    { everyMs: 1_500 },
    { everyMs: 7_000 },
    { everyMs: 90_000 },
    { everyMs: 5 * 3_600_000 },
    { everyMs: 2 * 86_400_000 },
    { everyMs: 2_000, offsetMs: 1 },
  ])('of %o is refused: no cron expression says it', (schedule) => {
    expect(() => cronExpression(schedule)).toThrow(/^no cron expression comes every \d+ ms/)
  })
})

test('requests that were counted by a clock ahead are forgotten a minute after it is set right', async () => {
  const { request, key, clock } = await startService()
  const bearer = await key({ perMinute: 2 })
  const ask = async () => (await request('GET', '/v2/pools', { key: bearer })).status
  clock.advance(86_400_000)
  expect([await ask(), await ask(), await ask()]).toEqual([200, 200, 429])
  clock.advance(-86_400_000)
  // PostgreSQL forgets them at once, as a daemon on SQLite does when it starts: no memory tells them from older ones.
  expect(await ask()).toBe(onPostgres ? 200 : 429)
  clock.advance(60_000)
  expect(await ask()).toBe(200)
})

describe('SQLite', () => clockSuite(sqlite))

const server = await startPostgres()
if ('missing' in server) {
  describe('PostgreSQL', () => {
    test.skip(`clocks that were wrong: PostgreSQL cannot be run here (${server.missing})`, () => {})
  })
} else {
  describe('PostgreSQL', () => {
    clockSuite(postgres(server))
  })
}
