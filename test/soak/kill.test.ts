/** A daemon that is killed again and again in the middle of writes: nothing acknowledged is lost, nothing happens twice. */

import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Daemon, startDaemon } from '../support/daemon.ts'
import { randomOf } from '../support/random.ts'
import type { Answer } from '../support/request.ts'
import { makeFolder, removeFolder } from '../support/service.ts'
import { entries, wallet } from '../support/trees.ts'

/** SOAK_SEED=n kills at other moments. */
const SEED = Number(process.env.SOAK_SEED || 7)
const KILLS = Number(process.env.SOAK_KILLS || 20)
const WRITERS = 6
const DAILY = 1_000_000
/** Reads to be seen before a kill may come. */
const READS = 5

interface Write {
  key: string
  path: string
  body: object
}
interface Done extends Write {
  status: number
  text: string
}

const { next: random } = randomOf(SEED)

/** The n-th write; its name, URL or tree is its own, so that a second effect would be seen. */
function writeOf(n: number): Write {
  const key = `write-${n}`
  if (n % 3 === 0) return { key, path: '/v2/api-keys', body: { name: key } }
  if (n % 3 === 1) {
    return {
      key,
      path: '/v2/webhook-subscriptions',
      body: { url: `https://8.8.8.8/${key}`, enabled_events: ['*'] },
    }
  }
  const list = entries(1 + (n % 60), () => String(n))
  return {
    key,
    path: '/v2/merkle-trees',
    body: { mint: wallet(n % 7), airdrop_count: n, entries: list, externalUid: key },
  }
}

const send = (daemon: Daemon, { key, path, body }: Write) =>
  daemon.request('POST', path, { body, headers: { 'idempotency-key': key } })

/** Sends one write after the other until the daemon is gone; what has no answer is left for a retry. */
async function writeOn(daemon: Daemon, next: () => Write, done: Map<string, Done>, open: Map<string, Write>) {
  for (;;) {
    const write = next()
    open.set(write.key, write)
    let answer: Answer
    try {
      answer = await send(daemon, write)
    } catch {
      return
    }
    expect(answer.status, answer.text).toBe(201)
    open.delete(write.key)
    done.set(write.key, { ...write, status: answer.status, text: answer.text })
  }
}

async function readOn(daemon: Daemon, key: string, seen: number[]) {
  for (;;) {
    try {
      expect((await daemon.request('GET', '/v2/pools', { key })).status).toBe(200)
      seen.push(performance.now())
      await delay(2)
    } catch (error) {
      if (error instanceof TypeError) return
      throw error
    }
  }
}

async function all(daemon: Daemon, path: string): Promise<Record<string, unknown>[]> {
  const found: Record<string, unknown>[] = []
  for (let cursor = ''; ; ) {
    const { json } = await daemon.request('GET', `${path}limit=100${cursor}`)
    found.push(...json.data)
    if (json.meta.next_cursor === null) return found
    cursor = `&cursor=${json.meta.next_cursor}`
  }
}

describe(`killed ${KILLS} times with SOAK_SEED=${SEED}`, () => {
  let dataDir: string
  let daemon: Daemon
  const done = new Map<string, Done>()
  const open = new Map<string, Write>()
  let resumed = 0
  let replayed = 0
  let read = 0
  let reader = ''
  let count = 0

  const retry = async () => {
    for (const write of [...open.values()]) {
      const answer = await send(daemon, write)
      expect([201, write.key], answer.text).toEqual([answer.status, write.key])
      if (answer.headers.get('idempotent-replayed') === 'true') replayed++
      else resumed++
      open.delete(write.key)
      done.set(write.key, { ...write, status: answer.status, text: answer.text })
    }
  }

  beforeAll(async () => {
    dataDir = makeFolder()
    daemon = await startDaemon({ dataDir })
    const made = await daemon.request('POST', '/v2/api-keys', {
      body: { name: 'reader', rate_limit_per_minute: DAILY, rate_limit_per_day: DAILY },
    })
    reader = made.json.data.key
    for (let kill = 0; kill < KILLS; kill++) {
      const seen: number[] = []
      const busy = Array.from({ length: WRITERS }, () => writeOn(daemon, () => writeOf(++count), done, open))
      busy.push(readOn(daemon, reader, seen))
      await vi.waitUntil(() => seen.length >= READS, { timeout: 20_000, interval: 5 })
      await delay(30 + random() * 500)
      await daemon.stop('SIGKILL')
      await Promise.all(busy)
      read += seen.length
      daemon = await startDaemon({ dataDir })
      await retry()
    }
  }, 600_000)
  afterAll(async () => {
    await daemon.stop()
    removeFolder(dataDir)
  })

  it('was busy when it was killed: some writes were cut off, some had taken effect unheard', () => {
    expect(open.size).toBe(0)
    expect(done.size).toBe(count)
    expect(done.size).toBeGreaterThan(KILLS * 10)
    expect(resumed + replayed).toBeGreaterThan(KILLS)
    expect(resumed).toBeGreaterThan(0)
  })

  it('replays every acknowledged answer byte for byte', async () => {
    for (const write of done.values()) {
      const answer = await send(daemon, write)
      expect([write.key, answer.status, answer.text]).toEqual([write.key, write.status, write.text])
      expect(answer.headers.get('idempotent-replayed')).toBe('true')
    }
  })

  it('holds every acknowledged write once', async () => {
    const of = (path: string) => [...done.values()].filter((write) => write.path === path)
    const ids = (writes: Done[]) => writes.map(({ text }) => JSON.parse(text).data.id).toSorted()
    const keys = (await all(daemon, '/v2/api-keys?')).filter(({ name }) => String(name).startsWith('write-'))
    const hooks = await all(daemon, '/v2/webhook-subscriptions?')
    const trees = await all(daemon, '/v2/merkle-trees?')
    expect(keys.map(({ id }) => id).toSorted()).toEqual(ids(of('/v2/api-keys')))
    expect(new Set(keys.map(({ name }) => name)).size).toBe(keys.length)
    expect(hooks.map(({ id }) => id).toSorted()).toEqual(ids(of('/v2/webhook-subscriptions')))
    expect(new Set(hooks.map(({ url }) => url)).size).toBe(hooks.length)
    expect(trees.map(({ id }) => id).toSorted()).toEqual(ids(of('/v2/merkle-trees')))
    const { key } = JSON.parse(of('/v2/api-keys')[0]!.text).data
    expect((await daemon.request('GET', '/v2/pools', { key })).status).toBe(200)
  })

  it('proves a wallet of every tree', async () => {
    for (const { path, body, text } of done.values()) {
      if (path !== '/v2/merkle-trees') continue
      const { id, root } = JSON.parse(text).data
      const last = (body as { entries: { wallet: string }[] }).entries.at(-1)!
      const { status, json } = await daemon.request('GET', `/v2/merkle-trees/${id}/proofs/${last.wallet}`)
      expect([status, json.data.root]).toEqual([200, root])
    }
  })

  it('has one event of each tree, in a sequence without gaps', async () => {
    const events = await all(daemon, '/v2/events?order=asc&')
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, n) => n + 1))
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length)
    const trees = [...done.values()].filter(({ path }) => path === '/v2/merkle-trees')
    expect(events.map(({ external_uid }) => external_uid).toSorted()).toEqual(trees.map(({ key }) => key).toSorted())
  })

  it('has forgotten no request that was answered, and counts few too many for a kill', async () => {
    const { headers } = await daemon.request('GET', '/v2/pools', { key: reader })
    const remaining = Number(/"day";r=(\d+)/.exec(headers.get('ratelimit')!)![1])
    const counted = DAILY - remaining - 1
    expect(counted).toBeGreaterThanOrEqual(read)
    // A busy key has requests recorded in advance, twice what it used in a tenth of a second; a kill leaves them.
    expect(counted).toBeLessThanOrEqual(3 * read + KILLS)
    // A slow machine gets fewer through between two kills.
    expect(read).toBeGreaterThan(KILLS)
  })
})
