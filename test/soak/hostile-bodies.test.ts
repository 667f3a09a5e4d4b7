/** A key that tries to stop a real daemon with its bodies: health answers all the while, lists stay whole, memory returns. */
import { readFileSync } from 'node:fs'
import { Agent, request as ask } from 'node:http'
import { Worker } from 'node:worker_threads'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MINIMAL } from '../api/bodies.ts'
import { type Daemon, startDaemon } from '../support/daemon.ts'
import { makeFolder, removeFolder } from '../support/service.ts'
import { entries, wallet } from '../support/trees.ts'

const MB = 1_000_000
const A = wallet(1)
/** Longest that health may take, in milliseconds; the best of a few rounds, as the machine is shared. */
const HEALTH_MS = 250
const ROUNDS = 4

interface Shape {
  path: string
  body: string | Buffer
  type?: string
  times: number
}

const pool = (more: string) => `${JSON.stringify(MINIMAL['pools.create']).slice(0, -1)},${more}}`
const fields = (count: number) => Array.from({ length: count }, (_, n) => `"k${n}":""`).join()
const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`

function form(parts: [string, string | Buffer][]): Pick<Shape, 'body' | 'type'> {
  const pieces = parts.flatMap(([name, value]) => [
    Buffer.from(`--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n`),
    Buffer.from(value as string),
    Buffer.from('\r\n'),
  ])
  return { body: Buffer.concat([...pieces, Buffer.from('--x--\r\n')]), type: 'multipart/form-data; boundary=x' }
}

/** A picture that is 15 MB of one chunk, and says that it is as wide as it can. */
function bomb(): Buffer {
  const head = Buffer.from('89504e470d0a1a0a0000000d494844527fffffff7fffffff0806000000', 'hex')
  return Buffer.concat([head, Buffer.alloc(11 * MB, 1)])
}

const SHAPES: Record<string, Shape> = {
  '15 MB of metadata in 23 pools': {
    path: '/v2/pools',
    body: pool(`"metadata":{"a":"${'x'.repeat(15 * MB)}"}`),
    times: 23,
  },
  '15 MB of short metadata': { path: '/v2/pools', body: pool(`"metadata":{${fields(MB)}}`), times: 8 },
  'a million fields': { path: '/v2/pools', body: `{${fields(MB)}}`, times: 8 },
  'a million fields where 256 KiB may be sent': { path: '/v2/stakes', body: `{${fields(MB)}}`, times: 8 },
  'as many fields as 256 KiB hold': { path: '/v2/stakes', body: `{${fields(25_000)}}`, times: 40 },
  'a million levels': { path: '/v2/pools', body: nested(MB), times: 8 },
  'as many levels as 256 KiB hold': { path: '/v2/stakes', body: nested(40_000), times: 40 },
  'a name of 15 MB': { path: '/v2/pools', body: `{"${'x'.repeat(15 * MB)}":1}`, times: 8 },
  'strings of 15 MB': { path: '/v2/pools', body: pool(`"name":"${'x'.repeat(15 * MB)}"`), times: 8 },
  'strings full of escapes': { path: '/v2/pools', body: pool(`"name":"${'\\"\\\\'.repeat(3 * MB)}"`), times: 8 },
  'a list of seven million': { path: '/v2/pools', body: pool(`"image":[${'0,'.repeat(7 * MB)}0]`), times: 8 },
  'an image of 15 MB that is none': { path: '/v2/pools', body: pool(`"image":"${'QUJD'.repeat(3.9 * MB)}"`), times: 8 },
  'an image that is a bomb': { path: '/v2/pools', body: pool(`"image":"${bomb().toString('base64')}"`), times: 8 },
  'a form of 200,000 parts': {
    path: '/v2/pools',
    ...form(Array.from({ length: 200_000 }, (_, n) => [`f${n}`, ''])),
    times: 8,
  },
  'a form with a text of 15 MB': { path: '/v2/pools', ...form([['description', 'x'.repeat(15 * MB)]]), times: 8 },
  'a form with metadata of 15 MB': { path: '/v2/pools', ...form([['metadata', `{${fields(MB)}}`]]), times: 8 },
  'a form with a part head of 15 MB': { path: '/v2/pools', ...form([['n'.repeat(15 * MB), '']]), times: 8 },
  'a tree with a million fields beside its entries': {
    path: '/v2/merkle-trees',
    body: `{"mint":"${A}","metadata":{${fields(MB)}},"entries":${JSON.stringify(entries(2))}}`,
    times: 8,
  },
  'a tree with a million levels': { path: '/v2/merkle-trees', body: `{"metadata":${nested(MB)}}`, times: 8 },
  'a subscription to one event, 20,000 times': {
    path: '/v2/webhook-subscriptions',
    body: JSON.stringify({ url: 'https://example.com', enabled_events: Array(20_000).fill('pool.live') }),
    times: 40,
  },
}

/** In a thread of its own: what this one is busy with must not be counted. Answers the longest wait since it was last asked. */
const PROBE = `
const { parentPort, workerData } = require('node:worker_threads')
const { Agent, get } = require('node:http')
const agent = new Agent({ keepAlive: true, maxSockets: 1 })
let longest = 0
function probe() {
  const began = performance.now()
  const done = (status) => {
    longest = Math.max(longest, status === 200 ? performance.now() - began : Infinity)
    setTimeout(probe, 5)
  }
  get(workerData + '/v2/health', { agent }, (response) => { response.resume(); response.on('end', () => done(response.statusCode)) })
    .on('error', () => done(0))
}
probe()
parentPort.on('message', () => { parentPort.postMessage(longest); longest = 0 })
`

describe('a key that sends hostile bodies', () => {
  const folder = makeFolder()
  let daemon: Daemon
  let probe: Worker
  let key: string
  let other: string
  let before: number
  const agent = new Agent({ keepAlive: false })

  const resident = () =>
    Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${daemon.process.pid}/status`, 'utf8'))![1]) / 1024
  const longest = () =>
    new Promise<number>((settle) => {
      probe.once('message', settle)
      probe.postMessage('')
    })
  const makeKey = async (scopes: string[]) => {
    const body = { name: 'k', scopes, rate_limit_per_minute: MB, rate_limit_per_day: MB }
    return (await daemon.request('POST', '/v2/api-keys', { body })).json.data.key as string
  }
  /** The status, or 0 where the connection was closed in the middle of the body. */
  const send = ({ path, body, type = 'application/json' }: Shape) =>
    new Promise<number>((settle) => {
      const headers = {
        authorization: `Bearer ${key}`,
        'content-type': type,
        'content-length': Buffer.byteLength(body),
      }
      const sent = ask(`${daemon.url}${path}`, { method: 'POST', headers, agent }, (response) => {
        response.resume()
        settle(response.statusCode!)
      })
      sent.on('error', () => settle(0))
      sent.end(body)
    })

  beforeAll(async () => {
    daemon = await startDaemon({ dataDir: folder })
    probe = new Worker(PROBE, { eval: true, workerData: daemon.url })
    key = await makeKey(['airdrop:write'])
    other = await makeKey([])
    // What is loaded at the first use is not what is measured.
    await daemon.request('POST', '/v2/pools', { key, body: MINIMAL['pools.create'] })
    await daemon.request('POST', '/v2/merkle-trees', { key, body: { mint: A, entries: entries(50_000) } })
    before = resident()
  })
  afterAll(async () => {
    await probe.terminate()
    await daemon.stop()
    removeFolder(folder)
  })

  it.each(Object.entries(SHAPES))('%s: is refused, health answers, and so do the events', async (_, shape) => {
    let best = Number.POSITIVE_INFINITY
    for (let round = 0; round < ROUNDS && best > HEALTH_MS; round++) {
      await longest()
      const statuses = await Promise.all(Array.from({ length: shape.times }, () => send(shape)))
      best = Math.min(best, await longest())
      for (const status of statuses) expect([0, 400]).toContain(status)
      const events = await daemon.request('GET', '/v2/events?limit=100', { key: other })
      expect(events.status).toBe(200)
    }
    expect(best).toBeLessThan(HEALTH_MS)
  })

  it('has cost no memory that does not return', async () => {
    await expect
      .poll(
        async () => {
          await daemon.request('GET', '/v2/events', { key: other })
          return resident() - before
        },
        { timeout: 60_000, interval: 500 },
      )
      .toBeLessThan(150)
    expect((await daemon.request('GET', '/v2/pools', { key: other })).status).toBe(200)
  })
})
