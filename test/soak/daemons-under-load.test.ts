/** Three daemons on one PostgreSQL database under mixed requests and webhook events, while they are killed and suspended. */
import { createHmac } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { Connection, Keypair } from '@solana/web3.js'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ApiError } from '../../src/platform/errors.ts'
import { appendEvents } from '../../src/store/events/events.ts'
import { newId } from '../../src/store/id.ts'
import { openStore } from '../../src/store/open.ts'
import { type PostgresServer, startPostgres } from '../store/postgres-server.ts'
import { type ChainProcess, startChain } from '../support/chain-process.ts'
import { startDaemon } from '../support/daemon.ts'
import { keypairFile } from '../support/platform-wallet.ts'
import { randomOf } from '../support/random.ts'
import { type Delivered, openReceiver, type Receiver } from '../support/receiver.ts'
import { peak, wasFull } from '../support/rolling-window.ts'
import { soakRuns } from '../support/runs.ts'
import { removeFolder } from '../support/service.ts'
import { makeSharedFolder } from '../support/shared-folder.ts'
import { type Fleet, startFleet } from './daemon-fleet.ts'
import { createMixedLoad, type Done, type MixedLoad, percentile } from './mixed-load.ts'
import { lamportsOf, recipientOf } from './mixed-writes.ts'

/** SOAK_SEED=n sends other requests, and kills and suspends at other moments; SOAK_REQUESTS=n sends so many. */
const SEED = Number(process.env.SOAK_SEED || 7)
const REQUESTS = Number(process.env.SOAK_REQUESTS || soakRuns(4_000, 8_000))
const EVENTS_AT_ONCE = 100
const EVENTS = Math.ceil(REQUESTS / 2 / EVENTS_AT_ONCE) * EVENTS_AT_ONCE
const DAEMONS = 3
const PARALLEL = 24
const AMPLE = 1_000_000_000
const MINUTE = 60_000
const PER_MINUTE = 30
/** Kills and suspensions, as many of each. */
const DISTURBANCES = 8
const MEMO_LAMPORTS = 5_000n
const ENCRYPTION_KEY = Buffer.alloc(32, 7).toString('base64')
/** A stack trace, as an error or as a field of a line in JSON. */
const STACK = /(?:\n|\\n)\s+at /

const started = await startPostgres()
const server = started as PostgresServer

interface MoodyReceiver extends Receiver {
  /** Ids of the events that were answered 200. */
  accepted: Set<string>
}

describe.skipIf('missing' in started)(`three daemons under load (SOAK_SEED=${SEED})`, () => {
  const random = randomOf(SEED)
  const folders = Array.from({ length: DAEMONS + 1 }, () => makeSharedFolder('svc-'))
  const payers = Array.from({ length: 8 }, () => Keypair.generate())
  const platform = Keypair.generate()
  const secrets = new Map<string, string>()
  const followed: number[] = []
  let log = ''
  let url: string
  let observer: pg.Client
  let chainProcess: ChainProcess
  let chain: Connection
  let fleet: Fleet
  let load: MixedLoad
  /** Of what happens to pools, and of everything else. */
  let receivers: [MoodyReceiver, MoodyReceiver]
  let seconds = 0
  let isOver = false

  const ofKind = (kind: Done['kind']) => load.done.filter((one) => one.kind === kind)
  const rows = async (text: string, values: unknown[] = []) => (await observer.query(text, values)).rows

  async function startFleetOf(signer: string): Promise<Fleet> {
    const env = {
      SVC_DATABASE_URL: url,
      SVC_ENCRYPTION_KEY: ENCRYPTION_KEY,
      SVC_WEBHOOKS_ALLOW_PRIVATE: 'true',
      SVC_SIGNER: 'keypair',
      SVC_SIGNER_KEYPAIR: signer,
      SVC_PRIORITY_FEE: 'none',
    }
    const onLog = (text: string) => {
      log += text
    }
    const starts = Array.from({ length: DAEMONS }, (_, n) => () => {
      return startDaemon({ dataDir: folders[n]!, flags: ['-u', chainProcess.url], env, onLog })
    })
    return startFleet(starts, random.below)
  }

  const makeKey = async (scopes: string[], perMinute = AMPLE): Promise<string> => {
    const body = { name: 'client', scopes, rate_limit_per_minute: perMinute, rate_limit_per_day: AMPLE }
    return (await fleet.daemon().request('POST', '/v2/api-keys', { body })).json.data.key
  }
  const subscribe = async ({ url }: Receiver, types: string[]) => {
    const body = { url, enabled_events: types }
    const { json } = await fleet.daemon().request('POST', '/v2/webhook-subscriptions', { body })
    secrets.set(url, json.data.secret)
  }

  /** Some first attempts fail, and some answers are slow. */
  async function openMoody(): Promise<MoodyReceiver> {
    const [refused, accepted] = [new Set<string>(), new Set<string>()]
    const receiver = await openReceiver(({ id, sequence }) => {
      if (sequence % 50 === 7 && !refused.has(id)) {
        refused.add(id)
        return 503
      }
      accepted.add(id)
      return sequence % 40 === 11 ? -300 : 200
    })
    return Object.assign(receiver, { accepted })
  }

  /** Writes events beside the daemons, as of a busy day, as far as the requests have come. */
  async function happen(): Promise<void> {
    const store = await openStore({ dataDir: folders[0]!, databaseUrl: url })
    for (let at = 0; at < EVENTS; at += EVENTS_AT_ONCE) {
      while (load.asked() < (at / EVENTS) * REQUESTS) await delay(20)
      const events = Array.from({ length: EVENTS_AT_ONCE }, (_, n) => ({
        id: newId('evt'),
        type: 'pool.live',
        resource_type: 'pool',
        resource_id: `pool-${random.below(400)}`,
        object_json: JSON.stringify({ n: at + n }),
        external_uid: null,
        metadata_json: null,
        dedupe_key: newId('x'),
        created_at: Date.now(),
      }))
      // A suspended daemon may hold the lock of the sequence; an event that is there already is not written again.
      const append = () => store.write((tx) => appendEvents(tx, events)).then(() => true, isForLater)
      while (!(await append())) await delay(100)
    }
    await store.close()
  }

  /** Follows the events over all daemons, as a client that keeps its cursor. */
  async function follow(): Promise<void> {
    for (let cursor = ''; ; ) {
      const wasOver = isOver
      const { json } = await load.read(`/v2/events?order=asc&limit=100${cursor}`)
      const last = followed.at(-1) ?? 0
      // What comes on a last page comes again with the same cursor.
      const sequences = json.data.map((event: { sequence: number }) => event.sequence)
      followed.push(...sequences.filter((sequence: number) => sequence > last))
      if (json.meta.next_cursor !== null) cursor = `&cursor=${json.meta.next_cursor}`
      else if (wasOver) return
      else await delay(200)
    }
  }

  /** Kills and suspends in turn, as often in a quick run as in a slow one. */
  async function disturb(): Promise<void> {
    for (let n = 1; n <= DISTURBANCES; n++) {
      while (load.asked() < (n / (DISTURBANCES + 1)) * REQUESTS) await delay(20)
      await delay(random.below(500))
      const at = random.below(DAEMONS)
      if (n % 2 === 0) await fleet.kill(at)
      else await fleet.suspend(at, random.between(1_000, 7_000))
    }
  }

  beforeAll(async () => {
    url = await server.createMigratedDatabase()
    observer = new pg.Client({ connectionString: url })
    await observer.connect()
    chainProcess = await startChain(folders[DAEMONS]!)
    chain = new Connection(chainProcess.url, 'confirmed')
    for (const { publicKey } of [...payers, platform]) await chain.requestAirdrop(publicKey, 500_000_000_000)
    receivers = [await openMoody(), await openMoody()]
    fleet = await startFleetOf(keypairFile(folders[DAEMONS]!, platform))
    const policy = { lamports_per_transaction: '1000000', lamports_per_day: '100000000000' }
    expect((await fleet.daemon().request('PATCH', '/v2/signer/policy', { body: policy })).status).toBe(200)
    await subscribe(receivers[0], ['pool.live'])
    await subscribe(receivers[1], [
      'airdrop.tree_built',
      ...['submitted', 'confirmed', 'finalized', 'failed'].map((state) => `transaction.${state}`),
    ])
    const keys = { main: await makeKey(['*']), limited: await makeKey([], PER_MINUTE), bare: await makeKey([]) }
    load = createMixedLoad({ fleet, chain, payers, keys, random })
    const began = performance.now()
    const disturbing = disturb()
    const happening = happen()
    const following = follow()
    await Promise.all([load.run(REQUESTS, PARALLEL), happening])
    seconds = (performance.now() - began) / 1_000
    isOver = true
    await Promise.all([disturbing, following])
  }, 900_000)
  afterAll(async () => {
    isOver = true
    await fleet?.stop()
    await chainProcess?.stop()
    for (const receiver of receivers ?? []) await receiver.close()
    await observer?.end()
    for (const folder of folders) removeFolder(folder)
  })

  it('answers each request as it should, or says when to try again', () => {
    const of = (kind?: string, calm?: boolean) =>
      load.times.filter((time) => (kind === undefined || time.kind === kind) && (calm === undefined || time.calm))
    const show = (name: string, times: ReturnType<typeof of>) =>
      `    ${name}: ${times.length}, p50 ${percentile(times, 0.5)} ms, p99 ${percentile(times, 0.99)} ms`
    const lines = [
      `  ${load.asked()} requests, ${load.done.length} writes, ${EVENTS} events, ${DISTURBANCES / 2} kills, ${DISTURBANCES / 2} suspensions, ${seconds.toFixed(0)} s`,
      ...['health', 'read', 'write'].map((kind) => show(kind, of(kind))),
      show('all', of()),
      show('all, while its daemon runs', of(undefined, true)),
      `    ${Object.entries(load.met)
        .map(([what, times]) => `${what}: ${times}`)
        .join(', ')}`,
    ]
    process.stdout.write(`${lines.join('\n')}\n`)
    expect(load.wrong.join('\n')).toBe('')
    expect(load.asked()).toBeGreaterThanOrEqual(REQUESTS)
    expect(load.met['no answer']).toBeGreaterThan(DISTURBANCES / 2)
  })

  it('replays each acknowledged answer byte for byte', async () => {
    const wrong: string[] = []
    await eachOf(load.done, async (one) => {
      const { text, headers } = await load.submit(one)
      if (text !== one.text || headers.get('idempotent-replayed') !== 'true') wrong.push(`${one.key}: ${text}`)
    })
    expect(wrong).toEqual([])
  })

  it('stores each acknowledged write once, and nothing else', async () => {
    const texts = (list: unknown[]) => list.map(String).toSorted()
    const keys = await rows("select id, name from api_keys where name like 'write-%'")
    expect(texts(keys.map(({ id }) => id))).toEqual(texts(ofKind('key').map(({ data }) => data.id)))
    expect(texts(keys.map(({ name }) => name))).toEqual(texts(ofKind('key').map(({ key }) => key)))
    const hooks = await rows("select id from webhook_subscriptions where url like 'https://8.8.8.8/%'")
    expect(texts(hooks.map(({ id }) => id))).toEqual(texts(ofKind('hook').map(({ data }) => data.id)))
    const trees = await rows('select id from merkle_trees')
    expect(texts(trees.map(({ id }) => id))).toEqual(texts(ofKind('tree').map(({ data }) => data.id)))
    const signatures = [...ofKind('transaction'), ...ofKind('memo')].map(({ data }) => data.signature)
    // One that was stored before its daemon was killed may have been too late for the retry.
    const uids = new Set(load.expired.map(({ key }) => key))
    const transactions = await rows('select signature, external_uid from transactions')
    const known = transactions.filter(({ external_uid }) => !uids.has(external_uid))
    expect(texts(known.map(({ signature }) => signature))).toEqual(texts(signatures))
    expect(new Set(signatures).size).toBe(signatures.length)
    expect(uids.size).toBeLessThan(signatures.length / 10)
  })

  it('lands each transaction once, or lets it expire if its daemon was gone, and pays for a signature once', async () => {
    const sent = [...ofKind('transaction'), ...ofKind('memo')]
    const ended = async (state: string) => {
      const found = await rows('select resource_id from events where type = $1', [`transaction.${state}`])
      const told = found.map(({ resource_id }) => String(resource_id))
      expect(new Set(told).size, state).toBe(told.length)
      return new Set(told)
    }
    const open = async () => {
      const all = [await ended('finalized'), await ended('failed')]
      return sent.filter(({ data }) => all.every((some) => !some.has(data.signature))).length
    }
    await expect.poll(open, { timeout: 180_000, interval: 500 }).toBe(0)
    const [finalized, failed] = [await ended('finalized'), await ended('failed')]
    expect([...finalized].filter((signature) => failed.has(signature))).toEqual([])
    expect(failed.size).toBeLessThan(sent.length / 10)
    const transfers = ofKind('transaction')
    const balances: (number | undefined)[] = []
    for (let at = 0; at < transfers.length; at += 100) {
      const addresses = transfers.slice(at, at + 100).map(({ n }) => recipientOf(n))
      const accounts = await chain.getMultipleAccountsInfo(addresses)
      balances.push(...accounts.map((account) => account?.lamports))
    }
    const paid = ({ n, data }: Done) => (finalized.has(data.signature) ? lamportsOf(n) : undefined)
    expect(balances).toEqual(transfers.map(paid))
    const { spent } = (await fleet.daemon().request('GET', '/v2/signer')).json.data
    const memos = ofKind('memo')
    const signed = Number(BigInt(spent.lamports) / MEMO_LAMPORTS)
    expect(signed).toBeGreaterThanOrEqual(memos.filter(({ data }) => finalized.has(data.signature)).length)
    expect(signed).toBeLessThanOrEqual(memos.length)
    expect((await fleet.daemon().request('GET', '/v2/audit-verification')).json.data).toMatchObject({ intact: true })
  })

  it('reports each change once, in a sequence without gaps, to a client that follows the events too', async () => {
    const events = await rows('select sequence, id, type, resource_id, external_uid from events order by sequence')
    const sequences = events.map(({ sequence }) => Number(sequence))
    expect(sequences).toEqual(events.map((_, n) => n + 1))
    expect(followed).toEqual(followed.map((_, n) => n + 1))
    expect(followed.length).toBeGreaterThan(EVENTS)
    const of = (type: string) => events.filter((event) => event.type === type)
    expect(of('pool.live')).toHaveLength(EVENTS)
    const uids = of('airdrop.tree_built').map(({ external_uid }) => external_uid)
    expect(uids.toSorted()).toEqual(
      ofKind('tree')
        .map(({ key }) => key)
        .toSorted(),
    )
    for (const state of ['submitted', 'confirmed', 'finalized', 'failed']) {
      const told = of(`transaction.${state}`).map(({ resource_id }) => resource_id)
      expect(new Set(told).size, state).toBe(told.length)
    }
  })

  it('delivers each event to each subscription, signed, under its own id, first attempts in order', async () => {
    const events = await rows('select id, sequence, type from events')
    // A first attempt that never reached the receiver was made in its turn all the same.
    const failures = await rows(
      "select distinct event_id from webhook_deliveries where status = 'failed' and response_code is null",
    )
    const unheard = new Set(failures.map(({ event_id }) => String(event_id)))
    const types = [/^pool\.live$/, /^(?!pool\.live$)/]
    for (const [n, receiver] of receivers.entries()) {
      const wanted = events.filter(({ type }) => types[n]!.test(type)).map(({ id }) => String(id))
      const missing = () => wanted.filter((id) => !receiver.accepted.has(id)).length
      await expect.poll(missing, { timeout: 400_000, interval: 500 }).toBe(0)
      expect(receiver.accepted.size).toBe(wanted.length)
      const secret = secrets.get(receiver.url)!
      expect(receiver.all.filter((delivered) => !isSigned(delivered, secret))).toEqual([])
      expect(outOfOrder(receiver.all.filter(({ id }) => !unheard.has(id)))).toEqual([])
      process.stdout.write(`    ${wanted.length} events, ${receiver.all.length} deliveries\n`)
    }
    const open = async () => Number((await rows('select count(*) as count from webhook_queue'))[0].count)
    await expect.poll(open, { timeout: 180_000, interval: 1_000 }).toBe(0)
  })

  it('admits exactly as many requests as the limit in any minute, and refuses none while there is room', async () => {
    const [{ id }] = await rows('select id from api_keys where per_minute = $1', [PER_MINUTE])
    const hits = await rows('select at, count from rate_hits where api_key_id = $1 order by at', [id])
    const stamps = hits.flatMap(({ at, count }) => Array.from({ length: Number(count) }, () => Number(at)))
    const [admitted, refused] = [200, 429].map((status) => load.limited.filter((one) => one.status === status))
    const unheard = load.limited.length - admitted!.length - refused!.length
    process.stdout.write(`    ${admitted!.length} admitted, ${refused!.length} refused, ${unheard} without an answer\n`)
    expect(peak(stamps, MINUTE)).toBe(PER_MINUTE)
    expect(stamps.length).toBeGreaterThanOrEqual(admitted!.length)
    expect(stamps.length).toBeLessThanOrEqual(admitted!.length + unheard)
    const wrong = refused!.filter((one) => !wasFull(stamps, one, { limit: PER_MINUTE, windowMs: MINUTE }))
    expect(wrong).toEqual([])
  })

  it('logs no stack trace', () => {
    const at = log.search(STACK)
    expect(at < 0 ? '' : log.slice(Math.max(0, at - 1_000), at + 1_000)).toBe('')
  })
})

/** False where the same may succeed later; throws any other error. */
function isForLater(error: unknown): false {
  if (error instanceof ApiError && error.retryAfter !== undefined) return false
  throw error
}

/** Works on all of them, some at a time. */
async function eachOf<T>(list: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  const rest = list.values()
  await Promise.all(
    Array.from({ length: PARALLEL }, async () => {
      for (const one of rest) await work(one)
    }),
  )
}

function isSigned({ id, body, headers }: Delivered, secret: string): boolean {
  const [, time, given] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['x-service-signature'])) ?? []
  const made = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')
  return given === made && headers['webhook-id'] === id && JSON.parse(body).id === id
}

/** Resources whose first attempts did not come in the order of their events. */
function outOfOrder(all: readonly Delivered[]): string[] {
  const [seen, last, wrong] = [new Set<string>(), new Map<string, number>(), new Set<string>()]
  for (const { id, about, sequence } of all) {
    if (seen.has(id)) continue
    seen.add(id)
    if (sequence < (last.get(about) ?? 0)) wrong.add(about)
    last.set(about, sequence)
  }
  return [...wrong]
}
