/** The table of docs/scaling.md: loads, the smallest fleet that carries each, and what breaks first beyond it. */
import type { MeasuredCosts } from './costs.ts'
import type { Deployment } from './model.ts'
import { firstBreak, type Load, postgresLoad, smallestFleet } from './scenarios.ts'

/** A database in the same region on a network disk, a remote node, and receivers that answer in a tenth of a second. */
export const CLOUD: Omit<Deployment, 'apiDaemons' | 'postgresCores' | 'rpcPerSecond' | 'subscriptions'> = {
  ...{ workerDaemons: 2, poolSize: 16, roundTripMs: 0.5, flushMs: 1, rpcMs: 50, receiverMs: 100 },
}
/** The node can answer this many times the average number of calls. */
const RPC_SPARE = 2
/** Requests a second that the smallest plans of providers allow. */
const LEAST_RPC = 100
const DAY_SECONDS = 86_400
const SUBSCRIPTIONS = 1
/** Connections that a daemon opens in addition to its pool: the one for wake-ups. */
const LISTENING = 1

interface NamedLoad extends Load {
  name: string
  /** Receivers that every event goes to; a storm of deliveries spreads over some. */
  receivers?: number
}

const LOADS: readonly NamedLoad[] = [
  { name: '1 launch a minute', launchesPerMinute: 1, deliveriesPerHour: 0, forMs: 1_200_000 },
  { name: '100 launches a minute', launchesPerMinute: 100, deliveriesPerHour: 0, forMs: 120_000 },
  { name: '100 a minute, in bursts of 10', launchesPerMinute: 100, burst: 10, deliveriesPerHour: 0, forMs: 240_000 },
  { name: '1,000 launches a minute', launchesPerMinute: 1_000, deliveriesPerHour: 0, forMs: 40_000 },
  { name: '10,000 launches a minute', launchesPerMinute: 10_000, deliveriesPerHour: 0, forMs: 20_000 },
  {
    name: '1,000,000 deliveries an hour',
    launchesPerMinute: 0,
    deliveriesPerHour: 1_000_000,
    receivers: 4,
    forMs: 40_000,
  },
]

/** Markdown; the same for the same costs. */
export function scalingTable(costs: MeasuredCosts): string {
  const head = [
    '| Load | Daemons `api` + `worker` | Cores of PostgreSQL | Connections | RPC requests/s | Disk a day | p50, p99 of a launch | p99 of a delivery | Busiest |',
    '|---|---|---|---|---|---|---|---|---|',
  ]
  return [...head, ...LOADS.map((load) => scalingRow(costs, load))].join('\n')
}

function scalingRow(costs: MeasuredCosts, load: NamedLoad): string {
  const perSecond = load.launchesPerMinute / 60
  const calls =
    perSecond * (costs.build.rpcCalls + costs.submit.rpcCalls) + Math.min(1, perSecond) * costs.follow.rpcCalls
  const subscriptions = load.receivers ?? SUBSCRIPTIONS
  const base = {
    ...CLOUD,
    subscriptions,
    rpcPerSecond: Math.max(LEAST_RPC, RPC_SPARE * calls),
    apiDaemons: 1,
    postgresCores: 1,
  }
  const found = smallestFleet(costs, base, load)
  const deliveries = load.deliveriesPerHour / 3_600 + perSecond * costs.eventsPerLaunch * subscriptions
  const bytes = (perSecond * costs.bytesPerLaunch + deliveries * costs.bytesPerDelivery) * DAY_SECONDS
  const cells = [whole(calls), `${Number((bytes / 1e9).toPrecision(2)).toLocaleString('en')} GB`]
  if (found === null) {
    const [first] = firstBreak(costs, base)
    const limit = first === undefined ? '' : `${first.station}, from ${hundreds(first.perMinute)} a minute on`
    const cores = Math.ceil(postgresLoad(costs, base, load) / 0.8)
    return `| ${[load.name, 'none carries it', `(${cores})`, '', ...cells, '', '', limit].join(' | ')} |`
  }
  const { deployment, launchP50, launchP99, deliveryP99, busiest } = found
  const { apiDaemons, postgresCores, workerDaemons, poolSize } = deployment
  const connections = (apiDaemons + workerDaemons) * (poolSize + LISTENING)
  return `| ${[
    load.name,
    `${apiDaemons} + ${workerDaemons}`,
    postgresCores,
    connections,
    ...cells,
    load.launchesPerMinute === 0 ? '' : `${whole(launchP50)}, ${whole(launchP99)} ms`,
    `${whole(deliveryP99)} ms`,
    `${busiest.station}, ${percent(busiest.utilisation)}`,
  ].join(' | ')} |`
}

const whole = (value: number) => Math.ceil(value).toLocaleString('en')
const hundreds = (value: number) => whole(Math.round(value / 100) * 100)
const percent = (share: number) => `${Math.round(share * 100)} %`

/** What no further daemon helps, with the launches a minute at which it is busy all the time. */
export function breakLines(costs: MeasuredCosts): string {
  const deployment = { ...CLOUD, subscriptions: SUBSCRIPTIONS, rpcPerSecond: 1e9, apiDaemons: 1, postgresCores: 1 }
  return firstBreak(costs, deployment)
    .map(({ station, perMinute }) => `| ${station} | ${hundreds(perMinute)} |`)
    .join('\n')
}
