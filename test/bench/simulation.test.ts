/** The simulation behind docs/scaling.md, against what queueing theory knows. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { exponential, mergedArrivals, poissonArrivals, seededRandom } from '../../bench/scaling/arrivals.ts'
import { type Job, type SimulationResult, type Step, simulate } from '../../bench/scaling/simulation.ts'
import { runs } from '../support/runs.ts'

/** Enough for averages to be within some percent of what theory says. */
const JOBS = runs(40_000, 150_000)
const SERVICE_MS = 10

interface QueueOptions {
  servers: number
  /** Offered load of one server. */
  load: number
  seed: number
  fixed?: boolean
  jobs?: number
}

/** A queue with random arrivals, and service that is fixed or exponential. */
function queue({ servers, load, seed, fixed = false, jobs = JOBS }: QueueOptions): SimulationResult {
  const random = seededRandom(seed)
  const perSecond = (1_000 / SERVICE_MS) * servers * load
  const forMs = (jobs / perSecond) * 1_000
  const ms = () => (fixed ? SERVICE_MS : exponential(random, SERVICE_MS))
  const job = (): Job => ({ name: 'job', steps: [{ kind: 'use', station: 'server', ms: ms() }] })
  return simulate({ stations: { server: servers }, arrivals: poissonArrivals({ random, perSecond, forMs, job }) })
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
const latencies = (result: SimulationResult, name = 'job') => result.jobs.get(name)?.latencies ?? []
const utilisation = (result: SimulationResult, station = 'server') => result.stations.get(station)?.utilisation ?? 0

/** Erlang's C: the share of jobs that wait at all. */
function waitingShare(servers: number, load: number): number {
  const offered = servers * load
  let term = 1
  let sum = 1
  for (let n = 1; n < servers; n++) sum += term *= offered / n
  const last = (term * offered) / servers / (1 - load)
  return last / (sum + last)
}

describe('the simulation', () => {
  it.each([
    [1, 0.5],
    [1, 0.8],
    [3, 0.7],
    [16, 0.8],
  ])('has the latency of M/M/%i at a load of %f', { tags: 'sampled' }, (servers, load) => {
    const result = queue({ servers, load, seed: 7 })
    const expected = SERVICE_MS + (waitingShare(servers, load) * SERVICE_MS) / (servers * (1 - load))
    expect(mean(latencies(result)) / expected).toBeGreaterThan(0.95)
    expect(mean(latencies(result)) / expected).toBeLessThan(1.05)
    expect(utilisation(result)).toBeCloseTo(load, 1)
  })

  it('has the latency of M/D/1', { tags: 'sampled' }, () => {
    const load = 0.8
    const expected = SERVICE_MS * (1 + load / (2 * (1 - load)))
    const result = queue({ servers: 1, load, seed: 11, fixed: true })
    expect(mean(latencies(result)) / expected).toBeGreaterThan(0.95)
    expect(mean(latencies(result)) / expected).toBeLessThan(1.05)
  })

  it('shows an overloaded station as busy all the time, with a growing queue', () => {
    const random = seededRandom(3)
    const job = (): Job => ({ name: 'job', steps: [{ kind: 'use', station: 'server', ms: SERVICE_MS }] })
    const arrivals = poissonArrivals({ random, perSecond: 150, forMs: 60_000, job })
    const result = simulate({ stations: { server: 1 }, arrivals, untilMs: 60_000 })
    const { queuedAtEnd = 0 } = result.stations.get('server') ?? {}
    expect(utilisation(result)).toBeGreaterThan(0.99)
    expect(queuedAtEnd).toBeGreaterThan(2_000)
    const { arrived = 0, ended = 0 } = result.jobs.get('job') ?? {}
    expect(arrived - ended).toBe(queuedAtEnd + 1)
  })

  const networks = fc.record({
    seed: fc.integer({ min: 1, max: 2 ** 31 }),
    servers: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 3, maxLength: 3 }),
    perSecond: fc.integer({ min: 1, max: 150 }),
    burst: fc.integer({ min: 1, max: 20 }),
    steps: fc.array(
      fc.record({
        kind: fc.constantFrom('use', 'held', 'wait', 'start'),
        station: fc.integer({ min: 0, max: 2 }),
        ms: fc.double({ min: 0.1, max: 20, noNaN: true }),
      }),
      { minLength: 1, maxLength: 6 },
    ),
  })

  it("loses no job, and follows Little's law, in any network of stations", () => {
    fc.assert(
      fc.property(networks, ({ seed, servers, perSecond, burst, steps: drawn }) => {
        const random = seededRandom(seed)
        const stations = Object.fromEntries(servers.map((count, n) => [`station ${n}`, count]))
        const steps = drawn.flatMap(({ kind, station: n, ms }): Step[] => {
          const station = `station ${n}`
          if (kind === 'use') return [{ kind, station, ms }]
          if (kind === 'wait') return [{ kind, ms }]
          if (kind === 'start') return [{ kind, job: { name: 'child', steps: [{ kind: 'use', station, ms }] } }]
          return [
            { kind: 'take', station },
            { kind: 'wait', ms },
            { kind: 'give', station },
          ]
        })
        const arrivals = [
          ...poissonArrivals({ random, perSecond, burst, forMs: 5_000, job: () => ({ name: 'job', steps }) }),
        ]
        const result = simulate({ stations, arrivals })
        for (const [name, { arrived, ended, latencies: all }] of result.jobs) {
          expect(ended).toBe(arrived)
          expect(all).toHaveLength(ended)
          // Little: as many are under way as arrive in the time that one takes.
          const expected = (arrived / result.ms) * mean(all)
          expect(result.underWay.get(name) ?? 0).toBeCloseTo(expected, 6)
        }
        expect(result.jobs.get('job')?.arrived ?? 0).toBe(arrivals.length)
        for (const [name, count] of Object.entries(stations)) {
          const demanded = drawn.filter(({ kind, station }) => kind !== 'wait' && name === `station ${station}`)
          const busyMs = arrivals.length * demanded.reduce((sum, { ms }) => sum + ms, 0)
          const share = busyMs / (count * result.ms)
          if (result.ms > 0) expect(result.stations.get(name)?.utilisation ?? 0).toBeCloseTo(share, 6)
        }
      }),
      { numRuns: 60 },
    )
  })

  it('gives the same result for the same seed, and another result for another seed', () => {
    const figures = (seed: number) => latencies(queue({ servers: 2, load: 0.7, seed, jobs: 5_000 }))
    expect(figures(5)).toEqual(figures(5))
    expect(figures(5)).not.toEqual(figures(6))
  })

  it('merges arrivals in the order of time', () => {
    const job: Job = { name: 'job', steps: [] }
    const at = (...times: number[]) => times.map((atMs) => ({ atMs, job }))
    expect([...mergedArrivals(at(1, 5, 9), at(), at(2, 5))].map(({ atMs }) => atMs)).toEqual([1, 2, 5, 5, 9])
  })
})
