/** Delivering events with durable results, against undici that sends the same requests with the same signatures. */
import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { Pool } from 'undici'
import { type ServerProcess, withServers } from './http/server.ts'
import { type Cost, costOf, type Measurement, medianOf, ratiosOf } from './measurement.ts'
import { benchService } from './webhooks/service.ts'

/** Of each measurement, over both receivers. */
const DELIVERIES = 4_000
const [WARM_UPS, ROUNDS] = [1, 7]
/** As many concurrent deliveries as one origin may have. */
const CONNECTIONS_PER_ORIGIN = 32
const RECEIVER = `
  require('node:http').createServer((request, response) => {
    request.resume().on('end', () => response.end())
  }).listen(0, '127.0.0.1', function () {
    console.log(JSON.stringify({ url: 'http://127.0.0.1:' + this.address().port }))
  })`

/** A minute or two. */
export function webhooks(): Promise<Measurement[]> {
  return withServers(async ({ start }) => {
    const receivers = [await start(['-e', RECEIVER]), await start(['-e', RECEIVER])]
    const [own, floors]: [Cost[], Cost[]] = [[], []]
    for (let round = -WARM_UPS; round < ROUNDS; round++) {
      const [floor, cost] = [await bareUndici(receivers), await deliveries(receivers)]
      if (round < 0) continue
      floors.push(floor)
      own.push(cost)
    }
    const rate = (DELIVERIES / medianOf(own, 'wall')) * 1_000
    const floor = 'bare undici, same signatures'
    return [{ name: 'deliveries, recorded', value: rate, unit: '/s', ...ratiosOf(floors, own), floor }]
  })
}

async function deliveries(receivers: readonly ServerProcess[]): Promise<Cost> {
  const urls = receivers.map(({ url }) => url)
  const service = await benchService(urls, DELIVERIES / urls.length)
  try {
    return await costOf(() => service.deliver())
  } finally {
    await service.close()
  }
}

/** A pool for each origin, the signatures of Standard Webhooks and of the service, and no database. */
async function bareUndici(receivers: readonly ServerProcess[]): Promise<Cost> {
  const pools = receivers.map(({ url }) => new Pool(url, { connections: CONNECTIONS_PER_ORIGIN }))
  const key = createSecretKey(randomBytes(32))
  const cost = await costOf(() => Promise.all(pools.map((pool) => postAll(pool, key, DELIVERIES / pools.length))))
  await Promise.all(pools.map((pool) => pool.close()))
  return cost
}

async function postAll(pool: Pool, key: KeyObject, count: number): Promise<void> {
  let left = count
  const line = async () => {
    while (left > 0) await post(pool, signedEvent(left--, key))
  }
  await Promise.all(Array.from({ length: CONNECTIONS_PER_ORIGIN }, line))
}

/** Uses `dispatch`, because a Response with a stream costs as much as everything else. */
function post(pool: Pool, { headers, body }: ReturnType<typeof signedEvent>): Promise<void> {
  return new Promise((resolve, reject) => {
    pool.dispatch(
      { path: '/', method: 'POST', headers, body },
      {
        onRequestStart() {},
        onResponseStart() {},
        onResponseData() {},
        onResponseEnd: () => resolve(),
        onResponseError: (_, error) => reject(error),
      },
    )
  })
}

function signedEvent(n: number, key: KeyObject) {
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
