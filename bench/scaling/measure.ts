/** Measures what whole launches and deliveries cost: a few hundred of them, on real daemons and a durable PostgreSQL. */
import { performance } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import type { Daemon } from '../../test/support/daemon.ts'
import { median } from '../measurement.ts'
import {
  costBetween,
  type MeasuredCosts,
  NOTHING,
  prepareReadings,
  type Reading,
  readUse,
  type StepCost,
} from './costs.ts'
import { writeBenchEvents } from './events.ts'
import { daemonsMs, type Fleet } from './fleet.ts'
import { type LaunchClient, openLaunchClient, type SignedLaunch, timedInParallel } from './launches.ts'
import { databaseTimes, noteLocks, stopNotingLocks, takeLockTimes, undisturbed } from './locks.ts'
import type { Receivers } from './receivers.ts'
import { openSlowLink } from './slow-link.ts'

/** A launch is built and submitted within the life of its blockhash, so they go in groups. */
const GROUP = 20
const BUILT_GROUPS = 3
const FOLLOWED_GROUPS = 5
const HEAP_GROUPS = 4
const AT_ONCE = 4
const WARM_UP_LAUNCHES = 5
const IDLE_MS = 6_000
const STORM_EVENTS = 600
const SLOW_LAUNCHES = 8
/** Far above the other costs of a request, so the round trips can be separated from them. */
const SLOWER_MS = 40
const FINAL_WITHIN_MS = 180_000

/** Some minutes. The worker is the only one that follows and delivers. */
export async function measureCosts(fleet: Fleet, receivers: Receivers): Promise<MeasuredCosts> {
  await prepareReadings(fleet.database)
  const [api, worker] = [await fleet.start('api'), await fleet.start('worker')]
  const client = await openLaunchClient(fleet, [api])
  try {
    await launchMany(client, WARM_UP_LAUNCHES)
    await allFinal(fleet)
    const idle = await idleUse(fleet, worker)
    worker.process.kill('SIGSTOP')
    await noteLocks(fleet.database)
    const { build, submit, locks } = await buildAndSubmit(fleet, api, client)
    await stopNotingLocks(fleet.database)
    const roundTrips = await countRoundTrips(fleet)
    const times = await databaseTimes(fleet.database)
    const beyondTrips = (held: number, trips: number) => Math.max(0, held - trips * times.roundTripMs)
    const lockMs = {
      build: beyondTrips(locks.build, roundTrips.buildLock),
      submit: beyondTrips(locks.submit, roundTrips.submitLock),
    }
    worker.process.kill('SIGCONT')
    await allFinal(fleet)
    const followed = await followMany(fleet, worker, client, { build, submit, idle })
    const gathered = await followHeap(fleet, worker, client)
    const storm = await deliverStorm(fleet, api, worker, receivers, idle)
    const perSecond = (of: keyof Reading) => (idle[of] * 1_000) / IDLE_MS
    return {
      ...{ build, submit, gathered, ...followed, ...storm, roundTrips, lockMs, ...times },
      idle: { workerMs: perSecond('daemonMs'), postgresMs: perSecond('postgresMs'), rpcCalls: perSecond('rpcCalls') },
    }
  } finally {
    await client.close()
    worker.process.kill('SIGCONT')
    await worker.stop()
    await api.stop()
  }
}

/** Stops the worker while much is submitted, and lets it follow all of that: what a launch costs among many. */
async function followHeap(fleet: Fleet, worker: Daemon, client: LaunchClient): Promise<MeasuredCosts['gathered']> {
  worker.process.kill('SIGSTOP')
  const launches = HEAP_GROUPS * GROUP
  await launchMany(client, launches)
  const before = { daemon: daemonsMs([worker]), postgres: fleet.postgresMs() }
  worker.process.kill('SIGCONT')
  await allFinal(fleet)
  return {
    launches,
    daemonMs: (daemonsMs([worker]) - before.daemon) / launches,
    postgresMs: (fleet.postgresMs() - before.postgres) / launches,
  }
}

async function launchMany(client: LaunchClient, count: number): Promise<void> {
  await timedInParallel(count, AT_ONCE, async () => client.submit(await client.build()))
}

/** The cost of both requests while their transactions are not followed. */
async function buildAndSubmit(fleet: Fleet, api: Daemon, client: LaunchClient) {
  const parts: { build: StepCost; submit: StepCost }[] = []
  const locks = { build: [] as number[], submit: [] as number[] }
  for (let group = 0; group < BUILT_GROUPS; group++) {
    const start = await readUse(fleet, [api])
    const built: SignedLaunch[] = []
    await timedInParallel(GROUP, AT_ONCE, async () => void built.push(await client.build()))
    const middle = await readUse(fleet, [api])
    locks.build.push(...(await takeLockTimes(fleet.database)))
    await timedInParallel(GROUP, AT_ONCE, async (n) => {
      const launch = built[n]
      if (launch !== undefined) await client.submit(launch)
    })
    const end = await readUse(fleet, [api])
    locks.submit.push(...(await takeLockTimes(fleet.database)))
    parts.push({ build: costBetween(start, middle, GROUP), submit: costBetween(middle, end, GROUP) })
  }
  return {
    build: medianCost(parts.map(({ build }) => build)),
    submit: medianCost(parts.map(({ submit }) => submit)),
    locks: { build: undisturbed(locks.build), submit: undisturbed(locks.submit) },
  }
}

function medianCost(costs: readonly StepCost[]): StepCost {
  const of = (name: keyof StepCost) => median(costs.map((cost) => cost[name]))
  return {
    daemonMs: of('daemonMs'),
    postgresMs: of('postgresMs'),
    statements: of('statements'),
    commits: of('commits'),
    rpcCalls: of('rpcCalls'),
    walBytes: of('walBytes'),
  }
}

/**
 * Delays a daemon's connection by a known time; the longer duration of a request and a lock gives the number of round
 * trips.
 */
async function countRoundTrips(fleet: Fleet) {
  const { database } = fleet
  const link = await openSlowLink(fleet.databaseUrl)
  const daemon = await fleet.start('api', { SVC_DATABASE_URL: link.url })
  const client = await openLaunchClient(fleet, [daemon])
  try {
    await launchMany(client, 2)
    // After the daemon has started: it refuses a database that has a trigger of others.
    await noteLocks(database)
    const timed = async (delayMs: number) => {
      link.delayMs = delayMs / 2
      await takeLockTimes(database)
      const built: SignedLaunch[] = []
      const buildMs = await timedInParallel(SLOW_LAUNCHES, 1, async () => void built.push(await client.build()))
      const buildLock = undisturbed(await takeLockTimes(database))
      const submitMs = await timedInParallel(SLOW_LAUNCHES, 1, async (n) => {
        const launch = built[n]
        if (launch !== undefined) await client.submit(launch)
      })
      const submitLock = undisturbed(await takeLockTimes(database))
      return { build: Math.min(...buildMs), submit: Math.min(...submitMs), buildLock, submitLock }
    }
    const quick = await timed(0)
    const slow = await timed(SLOWER_MS)
    const lockTrips = (of: 'buildLock' | 'submitLock') => Math.round((slow[of] - quick[of]) / SLOWER_MS)
    const trips = (of: 'build' | 'submit') => Math.max(1, Math.round((slow[of] - quick[of]) / SLOWER_MS))
    return {
      ...{ build: trips('build'), buildLock: lockTrips('buildLock') },
      ...{ submit: trips('submit'), submitLock: lockTrips('submitLock') },
    }
  } finally {
    link.delayMs = 0
    await stopNotingLocks(database)
    await client.close()
    await daemon.stop()
    await link.close()
  }
}

async function idleUse(fleet: Fleet, worker: Daemon): Promise<Reading> {
  const before = await readUse(fleet, [worker])
  await delay(IDLE_MS)
  return { ...NOTHING, ...costBetween(before, await readUse(fleet, [worker]), 1) }
}

/** Whole launches until they are final; the cost beyond the two requests is that of following. */
async function followMany(
  fleet: Fleet,
  worker: Daemon,
  client: LaunchClient,
  { build, submit, idle }: { build: StepCost; submit: StepCost; idle: Reading },
) {
  const count = FOLLOWED_GROUPS * GROUP
  const [bytes, events] = [await databaseBytes(fleet), await eventCount(fleet)]
  const [of, since] = [await readUse(fleet, [worker]), performance.now()]
  await launchMany(client, count)
  await allFinal(fleet)
  const after = await readUse(fleet, [worker])
  const passed = (performance.now() - since) / IDLE_MS
  // What the requests used of the database is known; their own daemon and its calls to the node are not in the reading.
  const requests = { ...NOTHING }
  for (const name of ['postgresMs', 'statements', 'commits', 'walBytes'] as const) {
    requests[name] = (build[name] + submit[name]) * count
  }
  const others = mapReading((name) => idle[name] * passed + requests[name])
  const follow = costBetween(of, after, count, others)
  return {
    follow,
    eventsPerLaunch: ((await eventCount(fleet)) - events) / count,
    bytesPerLaunch: ((await databaseBytes(fleet)) - bytes) / count,
  }
}

const mapReading = (value: (name: keyof Reading) => number): Reading => ({
  daemonMs: value('daemonMs'),
  postgresMs: value('postgresMs'),
  statements: value('statements'),
  commits: value('commits'),
  rpcCalls: value('rpcCalls'),
  walBytes: value('walBytes'),
})

/** Many events at once to several receivers. */
async function deliverStorm(fleet: Fleet, api: Daemon, worker: Daemon, receivers: Receivers, idle: Reading) {
  const store = await fleet.openStore()
  const ids = await subscribeAll(api, receivers, ['pool.live'])
  try {
    receivers.reset()
    const bytes = await databaseBytes(fleet)
    const [before, since] = [await readUse(fleet, [worker]), performance.now()]
    await writeBenchEvents(store, STORM_EVENTS)
    const count = STORM_EVENTS * receivers.urls.length
    await receivers.reached(count)
    const passed = (performance.now() - since) / IDLE_MS
    const after = await readUse(fleet, [worker])
    const delivery = costBetween(
      before,
      after,
      count,
      mapReading((name) => idle[name] * passed),
    )
    return { delivery, bytesPerDelivery: ((await databaseBytes(fleet)) - bytes) / count }
  } finally {
    await store.close()
    for (const id of ids) await api.request('DELETE', `/v2/webhook-subscriptions/${id}`)
  }
}

export async function subscribeAll(api: Daemon, { urls }: Receivers, enabled_events: string[]): Promise<string[]> {
  const ids: string[] = []
  for (const url of urls) {
    const made = await api.request('POST', '/v2/webhook-subscriptions', { body: { url, enabled_events } })
    ids.push(made.json.data.id)
  }
  return ids
}

/** Resolves once every submitted transaction is followed to its end. */
export async function allFinal({ database }: Fleet): Promise<void> {
  for (const until = performance.now() + FINAL_WITHIN_MS; performance.now() < until; await delay(100)) {
    const { rows } = await database.query("select 1 from transactions where lifecycle != 'finalized' limit 1")
    if (rows.length === 0) return
  }
  throw new Error('some transactions were not followed to their end')
}

async function eventCount({ database }: Fleet): Promise<number> {
  return Number((await database.query('select count(*) as n from events')).rows[0].n)
}

async function databaseBytes({ database }: Fleet): Promise<number> {
  return Number((await database.query('select pg_database_size(current_database()) as bytes')).rows[0].bytes)
}
