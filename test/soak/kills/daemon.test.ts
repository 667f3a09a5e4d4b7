/** A daemon that is killed amid writes and amid deliveries: nothing acknowledged is lost, nothing happens twice. */
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, vi } from 'vitest'
import { openStore } from '../../../src/store/open.ts'
import { type Daemon, startDaemon } from '../../support/daemon.ts'
import { randomOf } from '../../support/random.ts'
import { openReceiver } from '../../support/receiver.ts'
import { soakRuns } from '../../support/runs.ts'
import { makeFolder, removeFolder } from '../../support/service.ts'
import { entries, wallet } from '../../support/trees.ts'
import { insertEvents } from './databases.ts'
import { allPages, killTest, momentsOf, requestsOf, seedOr } from './harness.ts'

const KILLS = Number(process.env.SOAK_KILLS || soakRuns(4, 8))
const WRITERS = 6
const DAILY = 1_000_000

interface Write {
  key: string
  path: string
  body: object
}

/** The n-th write; its name, URL or tree is its own, so that a second effect would be seen. */
function writeOf(n: number): Write {
  const key = `write-${n}`
  if (n % 3 === 0) return { key, path: '/v2/api-keys', body: { name: key } }
  if (n % 3 === 1) {
    // To an event that never happens here: each tree would be delivered to every one of them.
    const body = { url: `https://8.8.8.8/${key}`, enabled_events: ['pool.live'] }
    return { key, path: '/v2/webhook-subscriptions', body }
  }
  const list = entries(1 + (n % 60), () => String(n))
  return {
    key,
    path: '/v2/merkle-trees',
    body: { mint: wallet(n % 7), airdrop_count: n, entries: list, externalUid: key },
  }
}

async function writesUnderWay() {
  const dataDir = makeFolder()
  const world = { daemon: await startDaemon({ dataDir }) }
  const body = { name: 'reader', rate_limit_per_minute: DAILY, rate_limit_per_day: DAILY }
  const reader: string = (await world.daemon.request('POST', '/v2/api-keys', { body })).json.data.key
  const requests = requestsOf<Write>({
    send: ({ key, path, body }) => world.daemon.request('POST', path, { body, headers: { 'idempotency-key': key } }),
    check: ({ key }, { status, text }) => expect([key, status], text).toEqual([key, 201]),
  })
  let count = 0
  return Object.assign(world, {
    dataDir,
    reader,
    requests,
    random: randomOf(seedOr(7)).next,
    read: 0,
    count: () => count,
    /** Sends one write after the other until the daemon is gone. */
    async writeOn() {
      while (await requests.ask(writeOf(++count)));
    },
    async readOn(seen: () => void) {
      for (;;) {
        try {
          expect((await world.daemon.request('GET', '/v2/pools', { key: reader })).status).toBe(200)
          seen()
          await delay(2)
        } catch (error) {
          if (error instanceof TypeError) return
          throw error
        }
      }
    },
    of: (path: string) => [...requests.done].filter(([write]) => write.path === path),
  })
}

killTest({
  title: `writes to a daemon that is killed ${KILLS} times (SOAK_SEED=${seedOr(7)}):`,
  start: writesUnderWay,
  points: ({ random }) => momentsOf(KILLS, random).map((moment) => 30 + moment * 400),
  async kill(world, ms) {
    let seen = 0
    const busy = Array.from({ length: WRITERS }, world.writeOn)
    busy.push(world.readOn(() => void seen++))
    await vi.waitUntil(() => seen >= 5, { timeout: 20_000, interval: 5 })
    await delay(ms)
    await world.daemon.stop('SIGKILL')
    await Promise.all(busy)
    world.read += seen
    world.daemon = await startDaemon({ dataDir: world.dataDir })
    await world.requests.askAgain()
  },
  async end({ daemon, dataDir }) {
    await daemon.stop()
    removeFolder(dataDir)
  },
  holds: {
    'some writes are cut off, and some of those had taken effect'({ requests, count }) {
      const { open, done, again } = requests
      expect(open.size).toBe(0)
      expect(done.size).toBe(count())
      expect(done.size).toBeGreaterThan(KILLS * 10)
      expect(again.resumed + again.replayed).toBeGreaterThan(KILLS)
      expect(again.resumed).toBeGreaterThan(0)
    },
    async 'each acknowledged answer is replayed byte for byte'({ daemon, requests }) {
      for (const [{ key, path, body }, { status, text }] of requests.done) {
        const answer = await daemon.request('POST', path, { body, headers: { 'idempotency-key': key } })
        expect([key, answer.status, answer.text]).toEqual([key, status, text])
        expect(answer.headers.get('idempotent-replayed')).toBe('true')
      }
    },
    async 'each acknowledged write is stored once'({ daemon, of }) {
      const ids = (path: string) => of(path).map(([, { json }]) => json.data.id)
      const written = (await allPages(daemon.request, '/v2/api-keys?')).filter(({ name }) => name.startsWith('write-'))
      const hooks = await allPages(daemon.request, '/v2/webhook-subscriptions?')
      const trees = await allPages(daemon.request, '/v2/merkle-trees?')
      expect(written.map(({ id }) => id).toSorted()).toEqual(ids('/v2/api-keys').toSorted())
      expect(new Set(written.map(({ name }) => name)).size).toBe(written.length)
      expect(hooks.map(({ id }) => id).toSorted()).toEqual(ids('/v2/webhook-subscriptions').toSorted())
      expect(new Set(hooks.map(({ url }) => url)).size).toBe(hooks.length)
      expect(trees.map(({ id }) => id).toSorted()).toEqual(ids('/v2/merkle-trees').toSorted())
      const { key } = of('/v2/api-keys')[0]![1].json.data
      expect((await daemon.request('GET', '/v2/pools', { key })).status).toBe(200)
    },
    async 'each tree proves a wallet'({ daemon, of }) {
      for (const [{ body }, { json }] of of('/v2/merkle-trees')) {
        const { id, root } = json.data
        const last = (body as { entries: { wallet: string }[] }).entries.at(-1)!
        const proof = await daemon.request('GET', `/v2/merkle-trees/${id}/proofs/${last.wallet}`)
        expect([proof.status, proof.json.data.root]).toEqual([200, root])
      }
    },
    async 'each tree has one event, in a sequence without gaps'({ daemon, of }) {
      const events = await allPages(daemon.request, '/v2/events?order=asc&')
      expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, n) => n + 1))
      expect(new Set(events.map(({ id }) => id)).size).toBe(events.length)
      const trees = of('/v2/merkle-trees').map(([{ key }]) => key)
      expect(events.map(({ external_uid }) => external_uid).toSorted()).toEqual(trees.toSorted())
    },
    async 'the rate limit counts each answered request, and few too many for a kill'({ daemon, reader, read }) {
      const { headers } = await daemon.request('GET', '/v2/pools', { key: reader })
      const counted = DAILY - Number(/"day";r=(\d+)/.exec(headers.get('ratelimit')!)![1]) - 1
      expect(counted).toBeGreaterThanOrEqual(read)
      // A busy key has requests recorded in advance, twice what it used in a tenth of a second; a kill leaves them.
      expect(counted).toBeLessThanOrEqual(3 * read + KILLS)
      // A slow machine gets fewer through between two kills.
      expect(read).toBeGreaterThan(KILLS)
    },
  },
})

const EVENTS = 5_000
const RESOURCES = 200
const DELIVERY_KILLS = soakRuns(3, 6)
/** The share of deliveries that fail. */
const SHARE = 0.3

/** A receiver that fails for a share of deliveries, and a daemon whose clock the test moves. */
async function deliveriesUnderWay() {
  const dataDir = makeFolder()
  const clockFile = join(dataDir, 'clock')
  writeFileSync(clockFile, '0')
  const { next: random } = randomOf(seedOr(7))
  const accepted = new Set<number>()
  // Deliveries about the last resource always fail until the subscription is switched off.
  const broken = { is: true }
  const receiver = await openReceiver(({ sequence, about }) => {
    if ((broken.is && about === `pool-${RESOURCES - 1}`) || random() < SHARE) return 503
    accepted.add(sequence)
    return 200
  })
  const env = {
    NODE_ENV: 'test',
    SVC_TEST_CLOCK_FILE: clockFile,
    SVC_WEBHOOKS_ALLOW_PRIVATE: 'true',
    SVC_LOG_LEVEL: 'error',
  }
  const start = () => startDaemon({ dataDir, flags: ['--rpc-port', '0'], env })
  const daemon: Daemon = await start()
  const body = { url: receiver.url, enabled_events: ['*'] }
  const { id } = (await daemon.request('POST', '/v2/webhook-subscriptions', { body })).json.data
  // Written beside the daemon, as events of a busy day.
  const store = await openStore({ dataDir })
  await insertEvents(store, EVENTS, { about: RESOURCES })
  await store.close()
  let ahead = 0
  const until = performance.now() + 240_000
  return {
    dataDir,
    daemon,
    start,
    receiver,
    accepted,
    kills: 0,
    reactivated: 0,
    /** A kill each until there were enough, then looks until everything is delivered. */
    *points(): Iterable<number> {
      for (const moment of momentsOf(DELIVERY_KILLS, random)) yield 200 + moment * 800
      while (accepted.size < EVENTS && performance.now() < until) yield 1_000
    },
    advance(ms: number) {
      ahead += ms
      // As a whole: the daemon reads it at any moment.
      writeFileSync(`${clockFile}.new`, String(ahead))
      renameSync(`${clockFile}.new`, clockFile)
    },
    /** Switches the subscription on again if the failures have switched it off. */
    async reactivate(world: { daemon: Daemon; reactivated: number }) {
      const path = `/v2/webhook-subscriptions/${id}`
      if ((await world.daemon.request('GET', path)).json.data.active) return
      broken.is = false
      world.reactivated++
      await world.daemon.request('PATCH', path, { body: { active: true } })
    },
  }
}

killTest({
  title: `deliveries of which ${SHARE * 100} % fail, by a daemon that is killed ${DELIVERY_KILLS} times (SOAK_SEED=${seedOr(7)}):`,
  start: deliveriesUnderWay,
  points: (world) => world.points(),
  async kill(world, ms) {
    const before = world.receiver.all.length
    await delay(ms)
    if (world.kills < DELIVERY_KILLS) {
      await world.daemon.stop('SIGKILL')
      world.kills++
      world.daemon = await world.start()
    }
    await world.reactivate(world)
    // If nothing moves any more, what is left waits for its next attempt; and what a killed one held, for its claim.
    world.advance(world.receiver.all.length - before < 20 ? 86_400_000 : 21_000)
  },
  async end({ daemon, receiver, dataDir }) {
    await daemon.stop()
    await receiver.close()
    removeFolder(dataDir)
  },
  holds: {
    'each event is delivered, and duplicates have the same id'({ receiver, kills, reactivated, accepted }) {
      const { all } = receiver
      process.stdout.write(
        `  ${EVENTS} events, ${all.length} deliveries, ${kills} kills, switched on again ${reactivated} times\n`,
      )
      expect(kills).toBe(DELIVERY_KILLS)
      expect(accepted.size).toBe(EVENTS)
      expect(reactivated).toBeGreaterThan(0)
      const ids = new Map<number, Set<string>>()
      for (const { sequence, id } of all) ids.set(sequence, (ids.get(sequence) ?? new Set()).add(id))
      expect([...ids.values()].filter(({ size }) => size !== 1)).toEqual([])
      expect(all.every(({ id, headers }) => headers['webhook-id'] === id)).toBe(true)
    },
    'first attempts about one resource come in order'({ receiver }) {
      const seen = new Set<number>()
      const firsts = new Map<string, number[]>()
      for (const { about, sequence } of receiver.all) {
        if (seen.has(sequence)) continue
        seen.add(sequence)
        firsts.set(about, [...(firsts.get(about) ?? []), sequence])
      }
      const wrong = [...firsts.values()].filter((list) => list.some((sequence, i) => i > 0 && sequence < list[i - 1]!))
      expect(wrong).toEqual([])
    },
  },
})
