/** Delivering events with durable results against bare undici, beside bad receivers, and to more and more subscriptions. */
import { type ChildProcess, fork } from 'node:child_process'
import { createHmac, createSecretKey, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { Pool } from 'undici'
import { median } from './merkle/timing.ts'
import type { Measurement } from './merkle.ts'
import { benchService } from './webhooks/service.ts'

/** Of each measurement, over both quick receivers. */
const DELIVERIES = 4_000
/** Of each, in turn: a machine is not as quick at one moment as at the next. The first ones warm up. */
const [WARM_UPS, RUNS] = [1, 7]
/** As many deliveries under way as two origins may have. */
const CONNECTIONS_PER_ORIGIN = 32
const SUBSCRIPTIONS = [1, 10, 100, 1_000]
const CURVE_DELIVERIES = 1_000
const CURVE_RUNS = 3

/** Wall time and this process's processor time in ms. */
interface Cost {
  wall: number
  processor: number
}
type Figure = 'floor' | 'alone' | 'quick' | 'beside'

interface Receivers {
  child: ChildProcess
  quick: [string, string]
  bad: [string, string]
}

/** Every figure; a minute or two on a machine that does nothing else. */
export async function webhooks(): Promise<Measurement[]> {
  const receivers = await startReceivers()
  try {
    const costs: Record<Figure, Cost[]> = { floor: [], alone: [], quick: [], beside: [] }
    const measure: Record<Figure, () => Promise<Cost>> = {
      floor: () => bareUndici(receivers),
      alone: () => delivering(receivers, { beside: false, until: 'recorded' }),
      quick: () => delivering(receivers, { beside: false, until: 'received' }),
      beside: () => delivering(receivers, { beside: true, until: 'received' }),
    }
    const figures = Object.keys(measure) as Figure[]
    for (let run = -WARM_UPS; run < RUNS; run++) {
      // In turn forwards and backwards, so that none always comes after the same one.
      for (const figure of run % 2 === 0 ? figures : figures.toReversed()) {
        const cost = await measure[figure]()
        if (run >= 0) costs[figure].push(cost)
      }
    }
    const { floor, alone, quick, beside } = costs
    return [
      measured('webhooks: bare undici, two pools, HMAC, no database', floor, floor, 'itself'),
      measured('webhooks: delivered and recorded', alone, floor, 'bare undici'),
      measured('webhooks: beside a silent and a streaming receiver', beside, quick, 'the same alone'),
      ...(await curve(receivers)),
    ]
  } finally {
    receivers.child.disconnect()
  }
}

const medianCost = (costs: readonly Cost[]): Cost => ({
  wall: median(costs.map(({ wall }) => wall)),
  processor: median(costs.map(({ processor }) => processor)),
})

/** Of the ratios of each turn, because the machine may be half as quick in the next one. */
const medianRatio = (costs: readonly Cost[], of: readonly Cost[], part: keyof Cost): number =>
  median(costs.map((cost, turn) => cost[part] / (of[turn]?.[part] ?? Number.NaN)))

/** The ratio is of times: 2 is half the floor's rate. */
function measured(what: string, costs: readonly Cost[], of: readonly Cost[], floor: string): Measurement {
  const cost = medianCost(costs)
  const ratio = medianRatio(costs, of, 'wall')
  const rate = Math.round((DELIVERIES / cost.wall) * 1000)
  const share = (100 / ratio).toFixed(0)
  const processor = ((cost.processor / DELIVERIES) * 1000).toFixed(0)
  const times = medianRatio(costs, of, 'processor').toFixed(2)
  const name = `${what}, ${rate} a second (${share} %), ${processor} µs of processor each (${times} ×)`
  return { name, ms: cost.wall, ratio, floor }
}

async function startReceivers(): Promise<Receivers> {
  const file = join(import.meta.dirname, 'webhooks', 'receivers.ts')
  const child = fork(file, { execArgv: ['--import', 'tsx'], stdio: 'inherit' })
  const [one, two, silent, streaming] = (await messageOf(child)) as string[]
  if (!one || !two || !silent || !streaming) throw new Error('the receivers do not listen')
  return { child, quick: [one, two], bad: [silent, streaming] }
}

const messageOf = (child: ChildProcess): Promise<unknown> => new Promise((done) => child.once('message', done))

/** Tells the receivers how much to expect; the returned promise resolves once the quick ones have it. */
async function expecting({ child }: Receivers, deliveries: number): Promise<{ all: Promise<unknown> }> {
  const ready = messageOf(child)
  child.send(deliveries)
  await ready
  return { all: messageOf(child) }
}

async function costOf(work: () => Promise<unknown>): Promise<Cost> {
  const [from, used] = [performance.now(), process.cpuUsage()]
  await work()
  const { user, system } = process.cpuUsage(used)
  return { wall: performance.now() - from, processor: (user + system) / 1000 }
}

/** The same requests with the same two signatures, from pools that nothing holds up. */
async function bareUndici(receivers: Receivers): Promise<Cost> {
  const { all } = await expecting(receivers, DELIVERIES)
  const pools = receivers.quick.map((url) => new Pool(url, { connections: CONNECTIONS_PER_ORIGIN }))
  const key = createSecretKey(randomBytes(32))
  const cost = await costOf(async () => {
    await Promise.all(pools.map((pool) => postAll(pool, key, DELIVERIES / pools.length)))
    await all
  })
  await Promise.all(pools.map((pool) => pool.close()))
  return cost
}

function postAll(pool: Pool, key: ReturnType<typeof createSecretKey>, count: number): Promise<void> {
  let [begun, ended] = [0, 0]
  return new Promise((done, reject) => {
    const end = () => {
      ended++
      if (begun < count) post()
      else if (ended === count) done()
    }
    const post = () => {
      const { headers, body } = signedEvent(begun++, key)
      pool.dispatch(
        { path: '/', method: 'POST', headers, body },
        {
          onRequestStart() {},
          onResponseStart() {},
          onResponseData() {},
          onResponseEnd: end,
          onResponseError: (_, error) => reject(error),
        },
      )
    }
    for (let i = 0; i < CONNECTIONS_PER_ORIGIN; i++) post()
  })
}

function signedEvent(n: number, key: ReturnType<typeof createSecretKey>) {
  const id = `evt_${String(n).padStart(24, '0')}`
  const seconds = Math.floor(Date.now() / 1000)
  const object = { resource_type: 'pool', resource_id: `pool-${n}` }
  const event = { id, type: 'pool.live', api_version: '2.0', created: seconds, data: { object }, sequence: n }
  const body = Buffer.from(JSON.stringify(event))
  const hmac = (prefix: string) => createHmac('sha256', key).update(prefix).update(body)
  const headers = {
    'X-Service-Signature': `t=${seconds},v1=${hmac(`${seconds}.`).digest('hex')}`,
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': `v1,${hmac(`${id}.${seconds}.`).digest('base64')}`,
    traceparent: '00-0123456789abcdef0123456789abcdef-0123456789abcdef-00',
    'content-type': 'application/json',
    'user-agent': 'svc/0.0.0',
  }
  return { headers, body }
}

/** Until everything is recorded, or until the quick receivers have it, which is all that can be had beside bad ones. */
async function delivering(
  receivers: Receivers,
  { beside, until }: { beside: boolean; until: 'recorded' | 'received' },
): Promise<Cost> {
  const { all } = await expecting(receivers, DELIVERIES)
  const service = await benchService([...receivers.quick, ...(beside ? receivers.bad : [])], DELIVERIES / 2)
  const stop = new AbortController()
  let round: Promise<void> | undefined
  try {
    return await costOf(async () => {
      round = service.deliver(stop.signal)
      await (until === 'recorded' ? round : all)
    })
  } finally {
    stop.abort()
    // It closes what the bad receivers hold.
    await expecting(receivers, 0)
    await round
    await service.close()
  }
}

/** What one delivery costs with more and more subscriptions, of which each gets every event. */
async function curve(receivers: Receivers): Promise<Measurement[]> {
  const costs: Cost[][] = SUBSCRIPTIONS.map(() => [])
  for (let run = -WARM_UPS; run < CURVE_RUNS; run++) {
    for (const [i, subscriptions] of SUBSCRIPTIONS.entries()) {
      const cost = await costToEach(receivers, subscriptions)
      if (run >= 0) costs[i]?.push(cost)
    }
  }
  const [one = []] = costs
  return costs.map((each, i) => {
    const { wall, processor } = medianCost(each)
    const [time, used] = [wall, processor].map((ms) => ((ms / CURVE_DELIVERIES) * 1000).toFixed(0))
    const times = medianRatio(each, one, 'processor').toFixed(2)
    return {
      name: `webhooks: ${SUBSCRIPTIONS[i]} subscriptions, ${time} µs a delivery (${used} µs of processor, ${times} ×)`,
      ms: wall,
      ratio: medianRatio(each, one, 'wall'),
      floor: 'one subscription',
    }
  })
}

async function costToEach(receivers: Receivers, subscriptions: number): Promise<Cost> {
  await expecting(receivers, CURVE_DELIVERIES)
  const urls = Array.from({ length: subscriptions }, (_, n) => `${receivers.quick[n % 2]}/${n}`)
  const service = await benchService(urls, CURVE_DELIVERIES / subscriptions)
  try {
    return await costOf(() => service.deliver())
  } finally {
    await service.close()
  }
}
