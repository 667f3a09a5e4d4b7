/** The model behind docs/scaling.md: measured costs and a deployment become stations and jobs of the simulation. */
import type { MeasuredCosts } from './costs.ts'
import type { Job, Step } from './simulation.ts'

/** What carries the load. */
export interface Deployment {
  /** Daemons that answer requests, each with a core. */
  apiDaemons: number
  /** Two or more: one follows transactions and another delivers, each under its lease. One does both. */
  workerDaemons: number
  postgresCores: number
  /** `postgres.pool-size` of each daemon. */
  poolSize: number
  /** Milliseconds of a round trip between daemon and database, and of a commit's write to disk. */
  roundTripMs: number
  flushMs: number
  /** Of the node: requests a second that it takes, and milliseconds until it answers. */
  rpcPerSecond: number
  rpcMs: number
  /** Of the receivers: how many there are that get every event, and milliseconds until they answer. */
  subscriptions: number
  receiverMs: number
  /** Cores that daemons and PostgreSQL share; without it each daemon has one, and PostgreSQL its own. */
  sharedCores?: number
}

/** What `src/operations/webhook-deliveries/deliver.ts` allows one origin, and one API key: the model has all of one. */
const UNDER_WAY_PER_ORIGIN = 32
const UNDER_WAY_OF_KEY = 256
/** The share of the pool that `/ready`, the workers and the quarter for reads do not reserve. */
const writeConnections = (poolSize: number) => Math.max(1, poolSize - 2 - Math.max(1, Math.floor(poolSize / 4)))
/** Parts in which a request uses the processor, between which others have their turn. */
const TURNS = 4
/** A watcher that is woken gathers what came in half a second, and commits 64 rows at once at the most. */
const GATHERED_SECONDS = 0.5
const ROWS_PER_COMMIT = 64
const TRANSACTIONS_PER_LAUNCH = 2
/** Calls of one launch that no deployment makes fewer by gathering. */
const WATCHER_CALLS_PER_SECOND = 1

type StationSizes = Record<string, number>

export function stationsOf(deployment: Deployment): StationSizes {
  const sizes: StationSizes = {
    postgres: deployment.sharedCores ?? deployment.postgresCores,
    'RPC requests': 1,
    'event counter': 1,
    watcher: 1,
    'following daemon': 1,
    ...(deployment.workerDaemons > 1 ? { 'delivering daemon': 1 } : {}),
    'deliveries under way': UNDER_WAY_OF_KEY,
  }
  for (let n = 0; n < deployment.apiDaemons; n++) {
    sizes[`api daemon ${n}`] = 1
    sizes[`pool ${n}`] = writeConnections(deployment.poolSize)
  }
  for (let n = 0; n < deployment.subscriptions; n++) sizes[`receiver ${n}`] = UNDER_WAY_PER_ORIGIN
  return sizes
}

/** One processor for all, or the daemon's own and PostgreSQL's. */
const processorOf = ({ sharedCores }: Deployment): string | undefined =>
  sharedCores === undefined ? undefined : 'postgres'

/** Keeps a daemon's event loop busy, and with it a core of the machine that it shares. */
function loopSteps(deployment: Deployment, loop: string, ms: number): Step[] {
  const processor = processorOf(deployment)
  if (processor === undefined) return [{ kind: 'use', station: loop, ms }]
  return [
    { kind: 'take', station: loop },
    { kind: 'use', station: processor, ms },
    { kind: 'give', station: loop },
  ]
}

const use = (station: string, ms: number): Step => ({ kind: 'use', station, ms })
const wait = (ms: number): Step => ({ kind: 'wait', ms })

interface RequestOptions {
  costs: MeasuredCosts
  deployment: Deployment
  daemon: number
  step: 'build' | 'submit'
}

/** A request of a launch: processor, node and database in turns, and at its end the write that others wait for. */
function requestSteps({ costs, deployment, daemon, step }: RequestOptions): Step[] {
  const cost = costs[step]
  const { roundTrips, lockMs } = costs
  const underLock = step === 'build' ? roundTrips.buildLock : roundTrips.submitLock
  const inSeries = roundTrips[step]
  const loop = `api daemon ${daemon}`
  const processor = () => loopSteps(deployment, loop, cost.daemonMs / TURNS)
  const calls = Array.from({ length: Math.round(cost.rpcCalls) }, (): Step[] => [
    use('RPC requests', 1_000 / deployment.rpcPerSecond),
    wait(deployment.rpcMs),
  ])
  const pool = `pool ${daemon}`
  return [
    ...processor(),
    ...calls.slice(0, calls.length >> 1).flat(),
    ...processor(),
    ...calls.slice(calls.length >> 1).flat(),
    ...processor(),
    { kind: 'take', station: pool },
    wait(Math.max(0, inSeries - underLock) * deployment.roundTripMs),
    // Commits besides the one under the lock share their writes to disk with others.
    wait(Math.max(0, cost.commits - 1) * deployment.flushMs),
    use('postgres', cost.postgresMs),
    ...lockSteps(underLock * deployment.roundTripMs + lockMs[step] + deployment.flushMs),
    { kind: 'give', station: pool },
    ...processor(),
  ]
}

/** A transaction that writes an event locks the counter of events until its commit is on disk. */
const lockSteps = (ms: number): Step[] => [use('event counter', ms)]

const deliveringDaemon = ({ workerDaemons }: Deployment): string =>
  workerDaemons > 1 ? 'delivering daemon' : 'following daemon'

/** One delivery of an event, by the one daemon that delivers. */
export function deliveryJob(costs: MeasuredCosts, deployment: Deployment, subscription: number): Job {
  const { delivery } = costs
  return {
    name: 'delivery',
    steps: [
      { kind: 'take', station: `receiver ${subscription}` },
      { kind: 'take', station: 'deliveries under way' },
      ...loopSteps(deployment, deliveringDaemon(deployment), delivery.daemonMs / 2),
      wait(deployment.receiverMs),
      ...loopSteps(deployment, deliveringDaemon(deployment), delivery.daemonMs / 2),
      use('postgres', delivery.postgresMs),
      wait(delivery.statements * deployment.roundTripMs + delivery.commits * deployment.flushMs),
      { kind: 'give', station: 'deliveries under way' },
      { kind: 'give', station: `receiver ${subscription}` },
    ],
  }
}

/** What happens to a launch after its submission: the watcher looks, writes its events, and they are delivered. */
function followJob(costs: MeasuredCosts, deployment: Deployment, perSecond: number): Job {
  const { follow } = costs
  const rows = Math.min(ROWS_PER_COMMIT, Math.max(1, perSecond * TRANSACTIONS_PER_LAUNCH * GATHERED_SECONDS))
  // A transaction is written twice, when it is confirmed and when it is final.
  const share = (2 * TRANSACTIONS_PER_LAUNCH) / rows
  const perCommit = costs.roundTrips.buildLock * deployment.roundTripMs + costs.lockMs.build + deployment.flushMs
  const statements = Math.min(
    follow.statements,
    2 * TRANSACTIONS_PER_LAUNCH * STATEMENTS_PER_ROW + share * follow.commits,
  )
  const cost = followingCost(costs, rows)
  const calls = Math.min(follow.rpcCalls, WATCHER_CALLS_PER_SECOND / perSecond)
  return {
    name: 'followed',
    steps: [
      { kind: 'take', station: 'watcher' },
      ...(calls > 0 ? [use('RPC requests', (calls * 1_000) / deployment.rpcPerSecond)] : []),
      ...loopSteps(deployment, 'following daemon', cost.daemonMs),
      use('postgres', cost.postgresMs),
      wait(statements * deployment.roundTripMs),
      ...lockSteps(share * perCommit),
      { kind: 'give', station: 'watcher' },
      ...deliveriesOf(costs, deployment),
    ],
  }
}

/**
 * Between the cost of a single launch and that of many. In the latter every transaction was written once instead of
 * twice, so the limit is twice that.
 */
function followingCost({ follow, gathered }: MeasuredCosts, rows: number): { daemonMs: number; postgresMs: number } {
  const between = (alone: number, among: number) => {
    const least = Math.min(alone, 2 * among)
    return least + (alone - least) / rows
  }
  return {
    daemonMs: between(follow.daemonMs, gathered.daemonMs),
    postgresMs: between(follow.postgresMs, gathered.postgresMs),
  }
}

/** Statements that the watcher makes for each row that it writes, one after the other. */
const STATEMENTS_PER_ROW = 2

function deliveriesOf(costs: MeasuredCosts, deployment: Deployment): Step[] {
  return Array.from({ length: deployment.subscriptions }, (_, subscription) =>
    Array.from(
      { length: Math.round(costs.eventsPerLaunch) },
      (): Step => ({ kind: 'start', job: deliveryJob(costs, deployment, subscription) }),
    ),
  ).flat()
}

export interface LaunchOptions {
  costs: MeasuredCosts
  deployment: Deployment
  /** Launches a second on average, which decides how much the watcher gathers. */
  perSecond: number
  /** Milliseconds that the client needs to sign. */
  signMs?: number
}

/** One launch as its client makes it: build, sign, submit; the daemons take turns. */
export function launchJob({ costs, deployment, perSecond, signMs = 0 }: LaunchOptions, place: number): Job {
  const request = (step: 'build' | 'submit', daemon: number): Step[] =>
    requestSteps({ costs, deployment, daemon: daemon % deployment.apiDaemons, step })
  return {
    name: 'launch',
    steps: [
      ...request('build', place),
      wait(signMs),
      ...request('submit', place + 1),
      { kind: 'start', job: followJob(costs, deployment, perSecond) },
    ],
  }
}

/**
 * The launches a second at which each station is always busy; the lowest one limits the system. Stations of one daemon
 * are given for one daemon.
 */
export function launchesAtMost(options: LaunchOptions): Map<string, number> {
  const demand = new Map<string, number>()
  const sizes = stationsOf(options.deployment)
  const add = (job: Job) => {
    for (const step of job.steps) {
      if (step.kind === 'start') add(step.job)
      else if (step.kind === 'use') demand.set(step.station, (demand.get(step.station) ?? 0) + step.ms)
    }
  }
  add(launchJob(options, 0))
  const watcherMs = followJob(options.costs, options.deployment, options.perSecond).steps.reduce(
    (sum, step) => sum + (step.kind === 'use' || step.kind === 'wait' ? step.ms : 0),
    0,
  )
  demand.set('watcher', watcherMs)
  return new Map([...demand].map(([name, ms]) => [name, ((sizes[name] ?? 1) * 1_000) / ms]))
}
