/** Finds the smallest fleet that carries a load with a bounded p99, and what breaks first when the load grows. */

import { mergedArrivals, poissonArrivals, seededRandom } from './arrivals.ts'
import type { MeasuredCosts } from './costs.ts'
import { type Deployment, deliveryJob, launchesAtMost, launchJob, stationsOf } from './model.ts'
import { percentile } from './percentile.ts'
import { type SimulationResult, simulate } from './simulation.ts'

/** What a launch's two requests and the deliveries of its events may take at the 99th percentile. */
const LAUNCH_P99_MS = 2_000
const DELIVERY_P99_MS = 5_000
/** Above it a station's queue grows with any burst. */
const HIGHEST_UTILISATION = 0.8
const WARM_UP_MS = 5_000
const SEED = 20_261_122
const MOST_DAEMONS = 64

export interface Load {
  launchesPerMinute: number
  /** Deliveries an hour of events other than those of the launches. */
  deliveriesPerHour: number
  /** Launches that come at one moment; 1 for a Poisson process. */
  burst?: number
  /** When launches arrive, in milliseconds from the start, in place of random times. */
  launchesAtMs?: readonly number[]
  forMs: number
}

export interface Verdict {
  deployment: Deployment
  carries: boolean
  launchP50: number
  launchP99: number
  deliveryP99: number
  /** The busiest station with its utilisation, and PostgreSQL's processors. */
  busiest: { station: string; utilisation: number }
  result: SimulationResult
}

export function simulateLoad(costs: MeasuredCosts, deployment: Deployment, load: Load): Verdict {
  const random = seededRandom(SEED)
  const perSecond = load.launchesPerMinute / 60
  const { forMs, burst = 1 } = load
  const job = (place: number) => launchJob({ costs, deployment, perSecond }, place)
  const { launchesAtMs } = load
  const launches =
    launchesAtMs?.map((atMs, place) => ({ atMs, job: job(place) })) ??
    poissonArrivals({ random, perSecond, forMs, burst, job })
  const events = poissonArrivals({
    ...{ random: seededRandom(SEED + 1), perSecond: load.deliveriesPerHour / 3_600, forMs },
    job: (place) => deliveryJob(costs, deployment, place % deployment.subscriptions),
  })
  const arrivals = mergedArrivals(
    ...(load.launchesPerMinute > 0 ? [launches] : []),
    ...(load.deliveriesPerHour > 0 ? [events] : []),
  )
  const result = simulate({
    stations: stationsOf(deployment),
    arrivals,
    warmUpMs: launchesAtMs === undefined ? Math.min(WARM_UP_MS, forMs / 4) : 0,
    untilMs: forMs,
  })
  const times = (name: string) => result.jobs.get(name)?.latencies ?? []
  const [launchP50, launchP99] = [percentile(times('launch'), 0.5), percentile(times('launch'), 0.99)]
  const deliveryP99 = percentile(times('delivery'), 0.99)
  const busiest = [...result.stations]
    .map(([station, { utilisation }]) => ({ station, utilisation }))
    .reduce((most, each) => (each.utilisation > most.utilisation ? each : most))
  const inTime = launchP99 <= LAUNCH_P99_MS && deliveryP99 <= DELIVERY_P99_MS
  return {
    ...{ deployment, launchP50, launchP99, deliveryP99, busiest, result },
    carries: inTime && busiest.utilisation <= HIGHEST_UTILISATION,
  }
}

/** The fewest API daemons, then the fewest cores of PostgreSQL, that carry the load; null where none do. */
export function smallestFleet(costs: MeasuredCosts, base: Deployment, load: Load): Verdict | null {
  const perSecond = load.launchesPerMinute / 60
  const daemonLoad = (perSecond * (costs.build.daemonMs + costs.submit.daemonMs)) / 1_000
  const postgresCores = Math.max(1, Math.ceil(postgresLoad(costs, base, load) / HIGHEST_UTILISATION))
  const fewest = Math.max(1, Math.ceil(daemonLoad / HIGHEST_UTILISATION))
  for (let apiDaemons = fewest; apiDaemons <= Math.min(MOST_DAEMONS, fewest + 4); apiDaemons++) {
    const verdict = simulateLoad(costs, { ...base, apiDaemons, postgresCores }, load)
    if (verdict.carries) return verdict
    // What all daemons share is not relieved by one more.
    if (!/^(api daemon|pool) /.test(verdict.busiest.station) && verdict.busiest.utilisation > HIGHEST_UTILISATION) break
  }
  return null
}

/** Cores of PostgreSQL that are busy on average. */
export function postgresLoad(costs: MeasuredCosts, { subscriptions }: Deployment, load: Load): number {
  const perSecond = load.launchesPerMinute / 60
  const launch = costs.build.postgresMs + costs.submit.postgresMs + costs.follow.postgresMs
  const deliveries = load.deliveriesPerHour / 3_600 + perSecond * costs.eventsPerLaunch * subscriptions
  return (perSecond * launch + deliveries * costs.delivery.postgresMs) / 1_000
}

/** The launches a minute at which one thing that no further daemon helps is busy all the time. */
export function firstBreak(costs: MeasuredCosts, deployment: Deployment): { station: string; perMinute: number }[] {
  const shared = ['event counter', 'watcher', 'following daemon', 'delivering daemon']
  // As much is gathered as can be when everything is busy.
  const capacities = launchesAtMost({ costs, deployment, perSecond: 1_000 })
  return shared
    .map((station) => ({ station, perMinute: 60 * (capacities.get(station) ?? Number.POSITIVE_INFINITY) }))
    .toSorted((one, other) => one.perMinute - other.perMinute)
}
