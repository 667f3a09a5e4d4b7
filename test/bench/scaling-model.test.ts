/** The model behind docs/scaling.md: what it says of a deployment, and that the page says the same. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { MeasuredCosts } from '../../bench/scaling/costs.ts'
import { type Deployment, launchesAtMost, stationsOf } from '../../bench/scaling/model.ts'
import { breakLines, CLOUD, scalingTable } from '../../bench/scaling/report.ts'
import { simulateLoad, smallestFleet } from '../../bench/scaling/scenarios.ts'
import { inSoak } from '../support/runs.ts'

const ROOT = join(import.meta.dirname, '../..')
const costs: MeasuredCosts = JSON.parse(readFileSync(join(ROOT, 'bench/scaling/reference-costs.json'), 'utf8'))

const deployment: Deployment = {
  ...CLOUD,
  ...{ apiDaemons: 2, postgresCores: 4, rpcPerSecond: 10_000, subscriptions: 1 },
}
const load = (launchesPerMinute: number) => ({ launchesPerMinute, deliveriesPerHour: 0, forMs: 20_000 })
const capacity = (changes: Partial<Deployment>, station: string) =>
  launchesAtMost({ costs, deployment: { ...deployment, ...changes }, perSecond: 100 }).get(station) ?? 0

describe('the model of docs/scaling.md', () => {
  it('carries any load below the capacity of its narrowest station, and falls behind above it', () => {
    const stations = launchesAtMost({ costs, deployment, perSecond: 10 })
    // A daemon has every second build and every second submission.
    const api = (2 * 1_000) / (costs.build.daemonMs + costs.submit.daemonMs)
    const narrowest = Math.min(api, ...[...stations].flatMap(([name, most]) => (/ \d+$/.test(name) ? [] : [most])))
    const below = simulateLoad(costs, deployment, load(0.6 * 60 * narrowest))
    expect(below.busiest.utilisation).toBeLessThan(0.9)
    expect(below.launchP99).toBeLessThan(2_000)
    const above = simulateLoad(costs, deployment, load(2 * 60 * narrowest))
    expect(above.busiest.utilisation).toBeGreaterThan(0.95)
    expect(above.carries).toBe(false)
  })

  it.skipIf(!inSoak)(
    'delivers all events of each launch to each subscription, and loses none',
    { tags: 'sampled' },
    () => {
      const { result } = simulateLoad(costs, { ...deployment, subscriptions: 3 }, { ...load(30), forMs: 600_000 })
      const [launches, deliveries] = [result.jobs.get('launch'), result.jobs.get('delivery')]
      const followed = result.jobs.get('followed')
      const waiting = [...result.stations.values()].reduce((sum, { queuedAtEnd }) => sum + queuedAtEnd, 0)
      expect((launches?.arrived ?? 0) - (launches?.ended ?? 0)).toBeLessThanOrEqual(waiting + 5)
      const expected = 3 * Math.round(costs.eventsPerLaunch) * (followed?.ended ?? 0)
      expect(Math.abs((deliveries?.arrived ?? 0) - expected)).toBeLessThanOrEqual(3 * 8 * 3)
    },
  )

  it('shows that a more distant database lets fewer launches write events, and more daemons do not help', () => {
    const near = capacity({}, 'event counter')
    expect(capacity({ roundTripMs: 2 }, 'event counter')).toBeLessThan(0.7 * near)
    expect(capacity({ apiDaemons: 20 }, 'event counter')).toBe(near)
    expect(stationsOf({ ...deployment, apiDaemons: 20 })).toMatchObject({ 'event counter': 1, 'api daemon 19': 1 })
  })

  it('uses more daemons for more launches, and none for loads that daemons cannot carry', () => {
    const base = { ...deployment, apiDaemons: 1, postgresCores: 1 }
    const daemons = [60, 600].map(
      (perMinute) => smallestFleet(costs, base, load(perMinute))?.deployment.apiDaemons ?? 0,
    )
    expect(daemons[0]).toBeGreaterThan(0)
    expect(daemons[1]).toBeGreaterThanOrEqual(daemons[0] ?? 0)
    expect(smallestFleet(costs, base, { ...load(60_000), forMs: 2_000 })).toBeNull()
  })

  it('has the figures of the page', () => {
    const page = readFileSync(join(ROOT, 'docs/scaling.md'), 'utf8')
    expect(page).toContain(scalingTable(costs))
    expect(page).toContain(breakLines(costs))
  })
})
