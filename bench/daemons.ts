/** Requests and deliveries a second of one, two and three daemons on one PostgreSQL, and what each costs in processor time. */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
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
const EVENTS_DELIVERED = 250
const IDLE_MS = 3_000
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
    const measured: Measurement[] = []
    for (const count of DAEMONS) measured.push(...(await ofDaemons(fleet, receivers, count)))
    return measured
  } finally {
    receivers.close()
    await fleet.close()
  }
}

const perSecond = (msEach: number) => `${Math.round(1_000 / msEach).toLocaleString('en')}/s`

async function ofDaemons(fleet: Fleet, receivers: Receivers, count: number): Promise<Measurement[]> {
  const started = await Promise.all(Array.from({ length: count }, () => fleet.start('all')))
  const pools = started.map(({ url }) => new Pool(url, { connections: UNDER_WAY }))
  const bare = await openBareServer()
  const where = `${count} daemon${count === 1 ? '' : 's'}`
  try {
    const loads = await loadsOf(started)
    const meter = await openMeter(fleet, started)
    const [floors, costs] = [[] as Cost[], new Map(Object.keys(loads).map((name) => [name, [] as Cost[]]))]
    for (let round = -1; round < LOAD_ROUNDS; round++) {
      const forMs = round < 0 ? WARM_UP_MS : LOAD_MS
      const floor = await costOfLoad(meter, [bare.pool], () => ({ method: 'GET', path: '/' }), forMs)
      if (round >= 0) floors.push(floor)
      for (const [name, next] of Object.entries(loads)) {
        const cost = await costOfLoad(meter, pools, next, forMs)
        if (round >= 0) costs.get(name)?.push(cost)
      }
    }
    const delivered = await costOfDeliveries(fleet, meter, started, receivers)
    const floor = { name: 'bare node:http', costs: floors }
    return [
      described(`${where}: bare node:http beside them`, floors, floor),
      ...[...costs].map(([name, all]) => described(`${where}: ${name}`, all, floor)),
      described(`${where}: deliveries`, delivered.costs, { name: 'undici, no database', costs: delivered.floors }),
    ]
  } finally {
    await bare.close()
    await Promise.all(pools.map((pool) => pool.destroy()))
    await Promise.all(started.map(({ stop }) => stop()))
  }
}

/** Tells the processor time since it was asked before, less what daemons and database use when nobody asks them. */
type Meter = () => { daemonMs: number; postgresMs: number }

async function openMeter(fleet: Fleet, started: readonly Daemon[]): Promise<Meter> {
  const read = () => ({ at: performance.now(), daemonMs: daemonsMs(started), postgresMs: fleet.postgresMs() })
  const idle = { daemonMs: 0, postgresMs: 0 }
  let last = read()
  const meter: Meter = () => {
    const now = read()
    const passed = now.at - last.at
    const used = (of: 'daemonMs' | 'postgresMs') => Math.max(0, now[of] - last[of] - idle[of] * passed)
    const spent = { daemonMs: used('daemonMs'), postgresMs: used('postgresMs') }
    last = now
    return spent
  }
  await pause(IDLE_MS)
  const spent = meter()
  idle.daemonMs = spent.daemonMs / IDLE_MS
  idle.postgresMs = spent.postgresMs / IDLE_MS
  return meter
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
  meter: Meter,
  pools: readonly Pool[],
  next: () => DrivenRequest,
  forMs: number,
): Promise<Cost> {
  meter()
  const driven = await drive(pools, { inFlight: UNDER_WAY / pools.length, forMs, next })
  return costOf(driven, meter())
}

const costOf = ({ answered, ms, latencies }: Driven, { daemonMs, postgresMs }: ReturnType<Meter>): Cost => ({
  msEach: ms / answered,
  daemonMs: daemonMs / answered,
  postgresMs: postgresMs / answered,
  p50: percentile(latencies, 0.5),
  p99: percentile(latencies, 0.99),
})

/** One daemon delivers at a time, whichever has the lease; no latency is told of a heap that is delivered at once. */
async function costOfDeliveries(fleet: Fleet, meter: Meter, started: readonly Daemon[], receivers: Receivers) {
  const [daemon] = started
  const [costs, floors]: [Cost[], Cost[]] = [[], []]
  if (daemon === undefined) return { costs, floors }
  const ids: string[] = []
  for (const url of receivers.urls) {
    const body = { url, enabled_events: ['pool.live'] }
    ids.push((await daemon.request('POST', '/v2/webhook-subscriptions', { body })).json.data.id)
  }
  const store = await fleet.openStore()
  try {
    for (let round = 0; round < LOAD_ROUNDS; round++) {
      floors.push(await bareDeliveries(receivers))
      receivers.reset()
      meter()
      const from = performance.now()
      await writeBenchEvents(store, EVENTS_DELIVERED)
      const answered = EVENTS_DELIVERED * receivers.urls.length
      await receivers.reached(answered)
      costs.push(costOf({ answered, ms: performance.now() - from, latencies: [] }, meter()))
    }
  } finally {
    await store.close()
    for (const id of ids) await daemon.request('DELETE', `/v2/webhook-subscriptions/${id}`)
  }
  return { costs, floors }
}

/** Medians; the ratio is that of each round to the floor of the same round. */
function described(name: string, costs: readonly Cost[], floor: { name: string; costs: readonly Cost[] }): Measurement {
  const middle = (of: (cost: Cost) => number) => median(costs.map(of))
  const msEach = middle(({ msEach: ms }) => ms)
  const [p50, p99] = [middle((cost) => cost.p50), middle((cost) => cost.p99)]
  const latency = p99 === 0 ? '' : `, p50/p99 ${p50.toFixed(0)}/${p99.toFixed(0)} ms`
  const [daemon, postgres] = [middle(({ daemonMs }) => daemonMs), middle((cost) => cost.postgresMs)]
  const processor = daemon === 0 ? '' : `, processor ${daemon.toFixed(2)} + ${postgres.toFixed(2)} ms`
  return {
    name: `${name}, ${perSecond(msEach)}${latency}${processor}`,
    ms: msEach * 1_000,
    ratio: median(costs.map((cost, round) => cost.msEach / (floor.costs[round]?.msEach ?? Number.NaN))),
    floor: floor.name,
  }
}

/** A server that does nothing, to be driven as the daemons are. */
async function openBareServer(): Promise<{ pool: Pool; close(): Promise<void> }> {
  const child: ChildProcess = spawn(process.execPath, ['-e', BARE_SERVER], { stdio: ['ignore', 'pipe', 'inherit'] })
  const url = await new Promise<string>((resolve) => {
    child.stdout?.on('data', (text) => resolve(JSON.parse(String(text)).url))
  })
  const pool = new Pool(url, { connections: UNDER_WAY })
  return {
    pool,
    async close() {
      await pool.destroy()
      const exited = new Promise((resolve) => child.once('exit', resolve))
      child.kill()
      await exited
    },
  }
}

/** Bodies of an event's length to the same receivers, with no database and no signature. */
async function bareDeliveries(receivers: Receivers): Promise<Cost> {
  const pools = receivers.urls.map((url) => new Pool(url, { connections: 32 }))
  try {
    const body = 'x'.repeat(BODY_BYTES)
    const next = (): DrivenRequest => ({ method: 'POST', path: '/', body })
    const driven = await drive(pools, { inFlight: 32, forMs: LOAD_MS, next })
    return costOf({ ...driven, latencies: [] }, { daemonMs: 0, postgresMs: 0 })
  } finally {
    await Promise.all(pools.map((pool) => pool.destroy()))
  }
}
