/** Runs a real load of the size that this machine carries, and the same load in the model: predicted against measured. */
import { availableParallelism } from 'node:os'
import { performance } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import type { Daemon } from '../../test/support/daemon.ts'
import { exponential, seededRandom } from './arrivals.ts'
import { type MeasuredCosts, rpcCallsOf } from './costs.ts'
import { daemonsMs, type Fleet } from './fleet.ts'
import { openLaunchClient, timedInParallel } from './launches.ts'
import { allFinal, subscribeAll } from './measure.ts'
import type { Deployment } from './model.ts'
import { percentile } from './percentile.ts'
import type { Receivers } from './receivers.ts'
import { simulateLoad } from './scenarios.ts'

const API_DAEMONS = 2
const RUN_MS = 60_000
const LAUNCH_SEED = 7
/** Launches that are not measured: code that was never run is slower. */
const WARM_UP = 30

export interface Compared {
  what: string
  predicted: number
  measured: number
}

/** Work takes `stretch` times its processor time here and now, because others may use the machine. */
export async function compareWithReal(
  fleet: Fleet,
  receivers: Receivers,
  costs: MeasuredCosts,
  { stretch, launchesPerMinute }: { stretch: number; launchesPerMinute: number },
): Promise<Compared[]> {
  const daemons = await Promise.all(Array.from({ length: API_DAEMONS }, () => fleet.start('api')))
  const worker = await fleet.start('worker')
  try {
    const measured = await runLoad(fleet, receivers, { daemons, worker, launchesPerMinute })
    const deployment: Deployment = {
      ...{ apiDaemons: API_DAEMONS, workerDaemons: 1 },
      ...{ postgresCores: 1, sharedCores: availableParallelism(), poolSize: 16 },
      ...{ roundTripMs: costs.roundTripMs, flushMs: costs.flushMs, rpcPerSecond: 10_000, rpcMs: measured.rpcMs },
      ...{ subscriptions: receivers.urls.length, receiverMs: 1 },
    }
    const { launchP50, launchP99 } = simulateLoad(slowedCosts(costs, stretch), deployment, {
      ...{ launchesPerMinute, launchesAtMs: measured.arrivals, deliveriesPerHour: 0, forMs: 2 * RUN_MS },
    })
    const launches = measured.latencies.length
    const perLaunch = costs.build.daemonMs + costs.submit.daemonMs
    const [follow, deliveries] = [costs.follow, costs.eventsPerLaunch * receivers.urls.length]
    const workerMs = follow.daemonMs + deliveries * costs.delivery.daemonMs + idleShare(costs.idle.workerMs, launches)
    const postgresMs =
      costs.build.postgresMs + costs.submit.postgresMs + follow.postgresMs + deliveries * costs.delivery.postgresMs
    const compared = (what: string, predicted: number, real: number): Compared => ({ what, predicted, measured: real })
    return [
      compared('launch p50, ms', launchP50, percentile(measured.latencies, 0.5)),
      compared('launch p99, ms', launchP99, percentile(measured.latencies, 0.99)),
      compared('daemon processor ms a launch', perLaunch, measured.apiMs / launches),
      compared('worker processor ms a launch', workerMs, measured.workerMs / launches),
      compared(
        'PostgreSQL processor ms a launch',
        postgresMs + idleShare(costs.idle.postgresMs, launches),
        measured.postgresMs / launches,
      ),
      compared('deliveries a launch', deliveries, measured.deliveries / launches),
    ]
  } finally {
    await worker.stop()
    await Promise.all(daemons.map((daemon) => daemon.stop()))
  }
}

/** Milliseconds of an idle second, spread over the launches of the run. */
const idleShare = (msPerSecond: number, launches: number) => (msPerSecond * (RUN_MS / 1_000)) / Math.max(1, launches)

function slowedCosts(costs: MeasuredCosts, by: number): MeasuredCosts {
  const slowed = (step: 'build' | 'submit' | 'follow' | 'delivery') => ({
    ...costs[step],
    daemonMs: costs[step].daemonMs * by,
    postgresMs: costs[step].postgresMs * by,
  })
  return {
    ...costs,
    build: slowed('build'),
    submit: slowed('submit'),
    follow: slowed('follow'),
    delivery: slowed('delivery'),
  }
}

interface RealLoad {
  daemons: readonly Daemon[]
  worker: Daemon
  launchesPerMinute: number
}

/** Launches come when they come, whether or not the earlier ones are done. */
async function runLoad(fleet: Fleet, receivers: Receivers, { daemons, worker, launchesPerMinute }: RealLoad) {
  const [first] = daemons
  if (first === undefined) throw new Error('there is no daemon')
  const client = await openLaunchClient(fleet, daemons)
  await timedInParallel(WARM_UP, 4, async () => client.submit(await client.build()))
  await allFinal(fleet)
  const ids = await subscribeAll(first, receivers, ['*'])
  try {
    receivers.reset()
    const [before, calls] = [await usedBy(fleet, daemons, worker), await callTimes(daemons)]
    const [latencies, arrivals]: [number[], number[]] = [[], []]
    const underWay: Promise<void>[] = []
    const launch = async () => {
      const from = performance.now()
      await client.submit(await client.build())
      latencies.push(performance.now() - from)
    }
    const random = seededRandom(LAUNCH_SEED)
    const start = performance.now()
    const end = start + RUN_MS
    for (;;) {
      await delay(exponential(random, 60_000 / launchesPerMinute))
      if (performance.now() >= end) break
      arrivals.push(performance.now() - start)
      underWay.push(launch())
    }
    await Promise.all(underWay)
    await allFinal(fleet)
    await receivers.reached(latencies.length * EVENTS_OF_A_LAUNCH * receivers.urls.length)
    const [after, callsAfter] = [await usedBy(fleet, daemons, worker), await callTimes(daemons)]
    return {
      arrivals,
      latencies: latencies.toSorted((a, b) => a - b),
      deliveries: receivers.count,
      apiMs: after.api - before.api,
      workerMs: after.worker - before.worker,
      postgresMs: after.postgres - before.postgres,
      rpcMs: (callsAfter.ms - calls.ms) / Math.max(1, callsAfter.count - calls.count),
    }
  } finally {
    for (const id of ids) await first.request('DELETE', `/v2/webhook-subscriptions/${id}`)
    await client.close()
  }
}

/** `pool.created`, `pool.live`, and of each of the two transactions that it was submitted, confirmed and final. */
const EVENTS_OF_A_LAUNCH = 8

async function usedBy(fleet: Fleet, daemons: readonly Daemon[], worker: Daemon) {
  return { api: daemonsMs(daemons), worker: daemonsMs([worker]), postgres: fleet.postgresMs() }
}

/** Calls to the node since the start, and the time that they took. */
async function callTimes(daemons: readonly Daemon[]): Promise<{ count: number; ms: number }> {
  let [count, ms] = [0, 0]
  for (const daemon of daemons) {
    count += await rpcCallsOf(daemon)
    const { text } = await daemon.request('GET', '/metrics')
    for (const line of text.split('\n')) {
      if (/^svc_(rpc|provider)_call_duration_seconds_sum/.test(line)) ms += 1_000 * Number(line.split(' ').at(-1))
    }
  }
  return { count, ms }
}
