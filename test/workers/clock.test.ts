/** Clocks that were wrong, on SQLite and on a real PostgreSQL server; the schedule by a clock that is set. */
import { afterAll, describe, expect, test } from 'vitest'
import { everySlot } from '../../daemon/workers/timing.ts'
import { postgres, sqlite } from '../store/databases.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { startService } from '../support/service.ts'
import { clockSuite } from './clock-suite.ts'

/** Timers by a clock of their own, beside a clock on the wall that can be set. */
function wall(at: number) {
  let wallMs = at
  let passed = 0
  const timers = new Set<{ at: number; act: () => void }>()
  return {
    now: () => wallMs,
    after(milliseconds: number, act: () => void) {
      const timer = { at: passed + milliseconds, act }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
    set: (milliseconds: number) => {
      wallMs = milliseconds
    },
    /** Lets time pass, a timer after the other. */
    pass(milliseconds: number) {
      for (const end = passed + milliseconds; ; ) {
        const [next] = [...timers].sort((a, b) => a.at - b.at)
        const to = next !== undefined && next.at <= end ? next.at : end
        wallMs += to - passed
        passed = to
        if (next === undefined || next.at > end) return
        timers.delete(next)
        next.act()
      }
    },
    waiting: () => timers.size,
  }
}

describe('a schedule', () => {
  test('comes to each of its moments once, by the Unix time', () => {
    const clock = wall(10_300)
    const slots: number[] = []
    const end = everySlot({ everyMs: 2_000 }, (slot) => slots.push(slot), clock)
    clock.pass(6_000)
    expect(slots).toEqual([12_000, 14_000, 16_000])
    end()
    clock.pass(6_000)
    expect([slots.length, clock.waiting()]).toEqual([3, 0])
  })

  test('with an offset comes so long after each multiple', () => {
    const clock = wall(0)
    const slots: number[] = []
    everySlot({ everyMs: 3_600_000, offsetMs: 1_020_000 }, (slot) => slots.push(slot), clock)
    clock.pass(2 * 3_600_000)
    expect(slots).toEqual([1_020_000, 4_620_000])
  })

  test.each([
    ['back by a year', -31_536_000_000],
    ['ahead by a year', 31_536_000_000],
  ])('goes on within one period when the clock is set %s', (_, by) => {
    const clock = wall(100_000_000_000)
    const slots: number[] = []
    everySlot({ everyMs: 2_000 }, (slot) => slots.push(slot), clock)
    clock.pass(4_000)
    clock.set(clock.now() + by)
    clock.pass(6_000)
    expect(slots.length).toBeGreaterThanOrEqual(4)
    expect(slots.at(-1)).toBe(clock.now() - (clock.now() % 2_000))
  })
})

test('requests that were counted by a clock ahead are forgotten a minute after it is set right', async () => {
  const { request, key, clock } = await startService()
  const bearer = await key({ perMinute: 2 })
  const ask = async () => (await request('GET', '/v2/pools', { key: bearer })).status
  clock.advance(86_400_000)
  expect([await ask(), await ask(), await ask()]).toEqual([200, 200, 429])
  clock.advance(-86_400_000)
  expect(await ask()).toBe(429)
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
    afterAll(() => server.stop())
    clockSuite(postgres(server))
  })
}
