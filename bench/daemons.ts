/** Requests and deliveries a second of one, two and three daemons on one PostgreSQL, and what each costs in processor time. */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { Pool } from 'undici'
import { keyToBase58 } from '../src/merkle/base58.ts'
import type { Daemon } from '../test/support/daemon.ts'
import { type Driven, type DrivenRequest, drive, percentile } from './fleet/drive.ts'
import { writeBenchEvents } from './fleet/events.ts'
import { daemonsMs, type Fleet, openFleet } from './fleet/fleet.ts'
import { openReceivers, type Receivers } from './fleet/receivers.ts'
import { recipients } from './merkle/recipients.ts'
import { median } from './merkle/timing.ts'
import type { Measurement } from './merkle.ts'
import { BARE_SERVER } from './requests.ts'

const DAEMONS = [1, 2, 3]
/** Of each load in turn, because a machine is not as quick at one moment as at the next. */
const LOAD_ROUNDS = 3
const LOAD_MS = 2_000
const WARM_UP_MS = 500
/** Requests under way, whatever the number of daemons. */
const UNDER_WAY = 48
const ORIGINS = 8
const EVENTS_DELIVERED = 500
const BODY_BYTES = 700
const AMPLE_LIMIT = 1_000_000

/** One figure of one round: time per request or delivery, and the processor time in it. */
interface Cost {
  msEach: number
  daemonMs: number
  postgresMs: number
  p50: number
  p99: number
}

type Loads = Record<string, () => DrivenRequest>

/** All figures; some minutes. Nothing where PostgreSQL cannot be run. */
export async function daemons(): Promise<Measurement[]> {
  const fleet = await openFleet()
  if (fleet === null) return []
  const receivers = await openReceivers(ORIGINS)
  try {
    const [requestFloor, deliveryFloor] = [await bareRequests(), await bareDeliveries(receivers)]
    const measured: Measurement[] = []
    for (const count of DAEMONS)
      measured.push(...(await ofDaemons(fleet, receivers, count, requestFloor, deliveryFloor)))
    return [
      floorMeasurement('bare node:http', requestFloor),
      floorMeasurement('undici without a database', deliveryFloor),
      ...measured,
    ]
  } finally {
    receivers.close()
    await fleet.close()
  }
}

const floorMeasurement = (name: string, ms: number): Measurement => ({
  name: `${name}, ${perSecond(ms)}`,
  ms: ms * 1_000,
  ratio: 1,
  floor: 'itself',
})

const perSecond = (msEach: number) => `${Math.round(1_000 / msEach).toLocaleString('en')}/s`

async function ofDaemons(
  fleet: Fleet,
  receivers: Receivers,
  count: number,
  requestFloor: number,
  deliveryFloor: number,
): Promise<Measurement[]> {
  const started = await Promise.all(Array.from({ length: count }, () => fleet.start('all')))
  const pools = started.map(({ url }) => new Pool(url, { connections: UNDER_WAY }))
  const where = `${count} daemon${count === 1 ? '' : 's'}`
  try {
    const loads = await loadsOf(started)
    const costs = new Map(Object.keys(loads).map((name) => [name, [] as Cost[]]))
    for (let round = -1; round < LOAD_ROUNDS; round++) {
      for (const [name, next] of Object.entries(loads)) {
        const cost = await costOfLoad(fleet, started, pools, next, round < 0 ? WARM_UP_MS : LOAD_MS)
        if (round >= 0) costs.get(name)?.push(cost)
      }
    }
    const delivered = await costOfDeliveries(fleet, started, receivers)
    return [
      ...[...costs].map(([name, all]) => described(`${where}: ${name}`, all, requestFloor, 'bare node:http')),
      described(`${where}: deliveries`, delivered, deliveryFloor, 'undici without a database'),
    ]
  } finally {
    await Promise.all(pools.map((pool) => pool.destroy()))
    await Promise.all(started.map(({ stop }) => stop()))
  }
}

/** The requests of a launch's kind, by a key with limits; the record that is read is stored first. */
async function loadsOf([daemon]: readonly Daemon[]): Promise<Loads> {
  if (daemon === undefined) throw new Error('there is no daemon')
  const limits = { name: 'bench', rate_limit_per_minute: AMPLE_LIMIT, rate_limit_per_day: AMPLE_LIMIT }
  const made = await daemon.request('POST', '/v2/api-keys', { body: { ...limits, scopes: ['*'] } })
  const authorization = `Bearer ${made.json.data.key}`
  const entries = Array.from(recipients(4), ([wallet, amount]) => ({ wallet, amount: String(amount) }))
  const tree = () => ({ mint: keyToBase58(randomBytes(32)), entries })
  const run = randomBytes(6).toString('hex')
  let n = 0
  const stored = await daemon.request('POST', '/v2/merkle-trees', { body: tree() })
  const post = (path: string, body: object): DrivenRequest => ({
    method: 'POST',
    path,
    headers: { authorization, 'content-type': 'application/json', 'idempotency-key': `${run}-${n++}` },
    body: JSON.stringify(body),
  })
  const get = (path: string) => (): DrivenRequest => ({ method: 'GET', path, headers: { authorization } })
  return {
    'GET of a record': get(`/v2/merkle-trees/${stored.json.data.id}`),
    'GET of a first page': get('/v2/merkle-trees'),
    'POST of a record with its event': () => post('/v2/merkle-trees', tree()),
    'POST of a record with its audit entry': () => post('/v2/api-keys', { name: `key ${n}` }),
  }
}

async function costOfLoad(
  fleet: Fleet,
  started: readonly Daemon[],
  pools: readonly Pool[],
  next: () => DrivenRequest,
  forMs: number,
): Promise<Cost> {
  const before = { daemons: daemonsMs(started), postgres: fleet.postgresMs() }
  const driven = await drive(pools, { inFlight: UNDER_WAY / pools.length, forMs, next })
  return costOf(driven, daemonsMs(started) - before.daemons, fleet.postgresMs() - before.postgres)
}

const costOf = ({ answered, ms, latencies }: Driven, daemonMs: number, postgresMs: number): Cost => ({
  msEach: ms / answered,
  daemonMs: daemonMs / answered,
  postgresMs: postgresMs / answered,
  p50: percentile(latencies, 0.5),
  p99: percentile(latencies, 0.99),
})

/** One daemon delivers at a time, whichever has the lease; the latency is that of the whole heap. */
async function costOfDeliveries(fleet: Fleet, started: readonly Daemon[], receivers: Receivers): Promise<Cost[]> {
  const [daemon] = started
  if (daemon === undefined) return []
  const ids: string[] = []
  for (const url of receivers.urls) {
    const body = { url, enabled_events: ['pool.live'] }
    ids.push((await daemon.request('POST', '/v2/webhook-subscriptions', { body })).json.data.id)
  }
  const store = await fleet.openStore()
  const costs: Cost[] = []
  try {
    for (let round = 0; round < LOAD_ROUNDS; round++) {
      receivers.reset()
      const before = { daemons: daemonsMs(started), postgres: fleet.postgresMs() }
      const from = performance.now()
      await writeBenchEvents(store, EVENTS_DELIVERED)
      const answered = EVENTS_DELIVERED * receivers.urls.length
      await receivers.reached(answered)
      const ms = performance.now() - from
      const spent = [daemonsMs(started) - before.daemons, fleet.postgresMs() - before.postgres] as const
      costs.push(costOf({ answered, ms, latencies: [ms] }, ...spent))
    }
  } finally {
    await store.close()
    for (const id of ids) await daemon.request('DELETE', `/v2/webhook-subscriptions/${id}`)
  }
  return costs
}

function described(name: string, costs: readonly Cost[], floorMs: number, floor: string): Measurement {
  const middle = (of: (cost: Cost) => number) => median(costs.map(of))
  const msEach = middle(({ msEach: ms }) => ms)
  const [p50, p99] = [middle((cost) => cost.p50), middle((cost) => cost.p99)].map((ms) => ms.toFixed(0))
  const processor = [middle(({ daemonMs }) => daemonMs), middle(({ postgresMs }) => postgresMs)]
  const [daemon, postgres] = processor.map((ms) => ms.toFixed(2))
  return {
    name: `${name}, ${perSecond(msEach)}, p50/p99 ${p50}/${p99} ms, processor ${daemon} + ${postgres} ms`,
    ms: msEach * 1_000,
    ratio: msEach / floorMs,
    floor,
  }
}

/** Milliseconds per request of a server that does nothing, under the same load. */
async function bareRequests(): Promise<number> {
  const child: ChildProcess = spawn(process.execPath, ['-e', BARE_SERVER], { stdio: ['ignore', 'pipe', 'inherit'] })
  const url = await new Promise<string>((resolve) => {
    child.stdout?.on('data', (text) => resolve(JSON.parse(String(text)).url))
  })
  const pool = new Pool(url, { connections: UNDER_WAY })
  try {
    const times: number[] = []
    for (let round = 0; round < LOAD_ROUNDS; round++) {
      const next = (): DrivenRequest => ({ method: 'GET', path: '/' })
      const { ms, answered } = await drive([pool], { inFlight: UNDER_WAY, forMs: LOAD_MS, next })
      times.push(ms / answered)
    }
    return median(times)
  } finally {
    await pool.destroy()
    const exited = new Promise((resolve) => child.once('exit', resolve))
    child.kill()
    await exited
  }
}

/** Milliseconds per delivery of bodies of an event's length to the same receivers, with no database and no signature. */
async function bareDeliveries(receivers: Receivers): Promise<number> {
  const pools = receivers.urls.map((url) => new Pool(url, { connections: 32 }))
  try {
    const body = 'x'.repeat(BODY_BYTES)
    const next = (): DrivenRequest => ({ method: 'POST', path: '/', body })
    const { ms, answered } = await drive(pools, { inFlight: 32, forMs: LOAD_MS, next })
    return ms / answered
  } finally {
    await Promise.all(pools.map((pool) => pool.destroy()))
  }
}
