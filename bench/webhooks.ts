/** Delivering events: a quick receiver alone, and beside one that never answers and one that streams without end. */
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { createApp } from '../daemon/app.ts'
import { openServices, operatorKey } from '../daemon/services.ts'
import { loadConfig } from '../src/config.ts'
import { deliverRound } from '../src/operations/webhook-deliveries/deliver.ts'
import { appendEvents } from '../src/store/events.ts'
import { newId } from '../src/store/id.ts'
import { median } from './merkle/timing.ts'
import type { Measurement } from './merkle.ts'

const EVENTS = 5_000
/** Of each, in turn: a machine is not as quick at one moment as at the next. */
const RUNS = 5

/** Both figures; about a minute. */
export async function webhooks(): Promise<Measurement[]> {
  const runs: { alone: number; beside: number }[] = []
  for (let i = 0; i < RUNS; i++) {
    runs.push({ alone: await delivering([]), beside: await delivering([silent, streaming]) })
  }
  const alone = median(runs.map((run) => run.alone))
  const beside = median(runs.map((run) => run.beside))
  const name = (what: string, ms: number) => `${EVENTS} events ${what}, ${Math.round((EVENTS / ms) * 1000)} a second`
  return [
    { name: name('alone', alone), ms: alone, ratio: 1, floor: 'the quick receiver alone' },
    {
      name: name('beside two bad receivers', beside),
      ms: beside,
      ratio: beside / alone,
      floor: 'the quick receiver alone',
    },
  ]
}

const silent: RequestListener = () => {}
const streaming: RequestListener = (_, response) => {
  response.writeHead(200)
  const drip = setInterval(() => response.write('x'), 100)
  response.on('close', () => clearInterval(drip))
}

async function listening(listener: RequestListener): Promise<{ server: Server; url: string }> {
  const server = createServer(listener)
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }
}

/** Milliseconds until the quick receiver has everything. */
async function delivering(others: readonly RequestListener[]): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-webhooks-'))
  const flags = { 'data-dir': folder, 'webhooks.allow-private': true }
  const services = await openServices(loadConfig({ flags, env: {}, cwd: folder }))
  const key = await operatorKey(services)
  const app = await createApp(services)
  let got = 0
  let all: () => void
  const done = new Promise<void>((resolve) => {
    all = resolve
  })
  const quick: RequestListener = (request, response) => {
    request.resume().on('end', () => {
      response.end()
      if (++got === EVENTS) all()
    })
  }
  const receivers = await Promise.all([quick, ...others].map(listening))
  try {
    for (const { url } of receivers) {
      const request = new Request('http://bench/v2/webhook-subscriptions', {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ url, enabled_events: ['*'] }),
      })
      if ((await app.fetch(request)).status !== 201) throw new Error(`no subscription of ${url}`)
    }
    const events = Array.from({ length: EVENTS }, (_, n) => ({
      id: newId('evt'),
      type: 'pool.live',
      resource_type: 'pool',
      resource_id: `pool-${n}`,
      object_json: '{}',
      external_uid: null,
      metadata_json: null,
      dedupe_key: newId('x'),
      created_at: Date.now(),
    }))
    await services.store.write((tx) => appendEvents(tx, events))
    const from = performance.now()
    const round = deliverRound(services)
    await done
    const took = performance.now() - from
    for (const { server } of receivers) {
      server.closeAllConnections()
      server.close()
    }
    await round
    return took
  } finally {
    await app.close()
    await services.close()
    rmSync(folder, { recursive: true })
  }
}
