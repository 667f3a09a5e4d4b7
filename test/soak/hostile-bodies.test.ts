/** Bodies that try to stop a real daemon: health and lists are answered meanwhile, and memory is freed. */

import { readFileSync } from 'node:fs'
import { Agent, request as ask } from 'node:http'
import { Worker } from 'node:worker_threads'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MINIMAL } from '../api/bodies.ts'
import { type Daemon, startDaemon } from '../support/daemon.ts'
import { removeFolder } from '../support/service.ts'
import { makeSharedFolder } from '../support/shared-folder.ts'
import { entries } from '../support/trees.ts'
import { A, MB, SHAPES, type Shape } from './hostile-shapes.ts'

/** Longest that health may take, in milliseconds; the best of a few rounds, as the machine is shared. */
const HEALTH_MS = 250
const ROUNDS = 4
/** What the daemon has freed goes back to the kernel: glibc keeps tens of megabytes for later, and more under load. */
const RETURNS_MEMORY = { MALLOC_MMAP_THRESHOLD_: '131072' }

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

describe('a daemon that is sent hostile bodies', () => {
  const folder = makeSharedFolder('svc-')
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
  const send = ({ path, type = 'application/json' }: Shape, body: Buffer) =>
    new Promise<number>((settle) => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': type, 'content-length': body.length }
      const sent = ask(`${daemon.url}${path}`, { method: 'POST', headers, agent }, (response) => {
        response.resume()
        settle(response.statusCode!)
      })
      sent.on('error', () => settle(0))
      sent.end(body)
    })

  beforeAll(async () => {
    // Made before the first request: the daemon closes a connection that waits for longer than five seconds.
    const tree = { mint: A, entries: entries(50_000) }
    daemon = await startDaemon({ dataDir: folder, env: RETURNS_MEMORY })
    probe = new Worker(PROBE, { eval: true, workerData: daemon.url })
    key = await makeKey(['airdrop:write'])
    other = await makeKey([])
    // What is loaded at the first use is not what is measured.
    await daemon.request('POST', '/v2/pools', { key, body: MINIMAL['pools.create'] })
    await daemon.request('POST', '/v2/merkle-trees', { key, body: tree })
    before = resident()
  })
  afterAll(async () => {
    await probe.terminate()
    await daemon.stop()
    removeFolder(folder)
  })

  it.each(Object.entries(SHAPES))('refuses %s, and answers health and events meanwhile', async (_, shape) => {
    let best = Number.POSITIVE_INFINITY
    // Made once: the machine is the daemon's too.
    const body = Buffer.from(shape.body as string)
    for (let round = 0; round < ROUNDS && best > HEALTH_MS; round++) {
      await longest()
      const statuses = await Promise.all(Array.from({ length: shape.times }, () => send(shape, body)))
      best = Math.min(best, await longest())
      for (const status of statuses) expect([0, 400]).toContain(status)
      const events = await daemon.request('GET', '/v2/events?limit=100', { key: other })
      expect(events.status).toBe(200)
    }
    process.stdout.write(`  health took ${best.toFixed(0)} ms at most\n`)
    expect(best).toBeLessThan(HEALTH_MS)
  })

  it('frees the memory afterwards', async () => {
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
