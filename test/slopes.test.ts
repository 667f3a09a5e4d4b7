/** The slope by which a night of load is judged: a leak is seen, noise is not. */
import { describe, expect, it } from 'vitest'
import { BOUNDS, growing } from './soak/night-bounds.ts'
import { randomOf } from './support/random.ts'
import { afterWarmUp, type Sample, slopeOf } from './support/slopes.ts'

const SAMPLE_SECONDS = 3

/** Samples of so many minutes: a daemon that is noisy and collects garbage, with what leaks on top. */
function night(minutes: number, leak: Record<string, number> = {}, seed = 7): Sample[] {
  const { next, chance } = randomOf(seed)
  return Array.from({ length: (minutes * 60) / SAMPLE_SECONDS }, (_, n) => {
    const minute = (n * SAMPLE_SECONDS) / 60
    const leaked = (name: string) => (leak[name] ?? 0) * minute
    const values = {
      // It fills its caches first; then the heap goes up and is collected.
      resident_mb: 180 + 40 * (1 - Math.exp(-minute)) + 8 * next() + ((n * 2) % 25) + leaked('resident_mb'),
      descriptors: 60 + Math.floor(20 * next()) + leaked('descriptors'),
      sockets: 20 + Math.floor(10 * next()) + leaked('sockets'),
      timers: 15 + Math.floor(15 * next()) + leaked('timers'),
      wal_mb: (n % 12) / 3 + leaked('wal_mb'),
      loop_ms: chance(0.1) ? 200 * next() : 12 + 4 * next() + leaked('loop_ms'),
    }
    return { minute, values }
  })
}

describe.each([4, 10])('in a night of %i minutes', (minutes) => {
  it.each([1, 2, 3, 4, 5])('noise alone is not reported as growth (seed %i)', (seed) => {
    expect(growing(afterWarmUp(night(minutes, {}, seed)))).toEqual([])
  })

  it.each([
    ['one descriptor a second', 'descriptors', 60],
    ['20 MB a minute', 'resident_mb', 20],
    ['a socket every two seconds', 'sockets', 30],
    ['a timer every two seconds', 'timers', 30],
    ['a log that is never checkpointed', 'wal_mb', 8],
    ['an event loop that falls behind', 'loop_ms', 100],
  ])('a leak of %s is reported', (_, name, perMinute) => {
    for (const seed of [1, 2, 3]) {
      expect(growing(afterWarmUp(night(minutes, { [name]: perMinute }, seed)))).toEqual([
        expect.stringMatching(`^${name} grows by`),
      ])
    }
  })
})

describe('the slope', () => {
  const line = (values: number[]): Sample[] => values.map((value, minute) => ({ minute, values: { value } }))

  it('is that of a line, whatever a quarter of the samples say', () => {
    expect(slopeOf(line([1, 3, 5, 7, 9]), 'value')).toBe(2)
    expect(slopeOf(line([1, 3, 500, 7, 9, 11, -80, 15, 17]), 'value')).toBeCloseTo(2, 5)
  })

  it('is NaN if there is nothing to measure, and a step does not count as growth', () => {
    expect(slopeOf([], 'value')).toBeNaN()
    expect(slopeOf(line([5]), 'value')).toBeNaN()
    expect(slopeOf(line([5, 6]), 'other')).toBeNaN()
    expect(Object.keys(BOUNDS)).toContain('resident_mb')
  })
})
