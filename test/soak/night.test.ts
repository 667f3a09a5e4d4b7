/** A night of steady load, compressed: what a daemon holds (memory, descriptors, WAL, timers) is flat once it is warm. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Connection, Keypair } from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MINUTE_MS, pause } from '../../src/platform/timing.ts'
import { type PostgresServer, startPostgres } from '../store/postgres-server.ts'
import { type Daemon, startDaemon } from '../support/daemon.ts'
import { keypairFile } from '../support/platform-wallet.ts'
import { openReceiver, type Receiver } from '../support/receiver.ts'
import { removeFolder } from '../support/service.ts'
import { makeSharedFolder } from '../support/shared-folder.ts'
import { type Sample, slopeOf } from '../support/slopes.ts'
import { entries, wallet } from '../support/trees.ts'
import { leapingClock } from './leaping-clock.ts'
import { writeOf } from './mixed-writes.ts'
import { growing } from './night-bounds.ts'

/** SVC_NIGHT_MINUTES=10 is the long one. */
const MINUTES = Number(process.env.SVC_NIGHT_MINUTES || 3)
const SAMPLE_MS = 3_000
/** Requests a second that each daemon is sent, if it keeps up. */
const RATE = 12
const UNDER_WAY = 8
/** A daemon is warm after half of the time and of its requests, which take longer than that on a busy machine. */
const WARM_MS = (MINUTES / 2) * MINUTE_MS
const WARM_REQUESTS = (WARM_MS / 1_000) * RATE * 0.9
/** A busy machine makes the memory rise and fall; a leak grows in each look. */
const MOST_LOOKS = 6
/** Four hours go by every ten seconds, so that what is a day old is removed after a minute. */
const CLOCK = { everyMs: 10_000, leapMs: 4 * 3_600_000 }
const DAYS = '1'
const TREES = 20
const MB = 1024 * 1024
/** SQLite's own checkpoints begin at 16 MB, and the file keeps that size. */
const WAL_MB = 20

const started = await startPostgres()
const server = started as PostgresServer
const databases = 'missing' in started ? ['SQLite'] : ['SQLite', 'PostgreSQL']

interface Night {
  name: string
  dataDir: string
  daemon: Daemon
  receiver: Receiver
  chain: Connection
  payer: Keypair
  samples: Sample[]
  /** Those since every daemon is warm. */
  warm: Sample[]
  /** How often requests were done, to be sent again later, or answered otherwise. */
  statuses: Record<string, number>
  asked: number
}

const folders: string[] = []
const folder = (): string => {
  const made = makeSharedFolder('svc-')
  folders.push(made)
  return made
}

async function fall(name: string): Promise<Night> {
  const dataDir = folder()
  const platform = Keypair.generate()
  const env = {
    NODE_OPTIONS: leapingClock(CLOCK),
    SVC_WEBHOOKS_ALLOW_PRIVATE: 'true',
    SVC_SIGNER: 'keypair',
    SVC_SIGNER_KEYPAIR: keypairFile(folder(), platform),
    SVC_PRIORITY_FEE: 'none',
    SVC_IDEMPOTENCY_HOURS: '1',
    SVC_RETENTION_EVENTS_DAYS: DAYS,
    SVC_RETENTION_DELIVERIES_DAYS: DAYS,
    SVC_RETENTION_TRANSACTION_BYTES_DAYS: DAYS,
    SVC_RETENTION_TREES_DAYS: DAYS,
    SVC_RETENTION_SIGNINGS_DAYS: DAYS,
    ...(name === 'PostgreSQL' && {
      SVC_DATABASE_URL: await server.createMigratedDatabase(),
      SVC_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    }),
  }
  const daemon = await startDaemon({ dataDir, flags: ['--rpc-port', '0'], env })
  const chain = new Connection(JSON.parse(readFileSync(join(dataDir, 'daemon.json'), 'utf8')).rpc_url, 'confirmed')
  const payer = Keypair.generate()
  for (const { publicKey } of [payer, platform]) await chain.requestAirdrop(publicKey, 900_000_000_000)
  const policy = { lamports_per_transaction: '1000000', lamports_per_day: '100000000000' }
  expect((await daemon.request('PATCH', '/v2/signer/policy', { body: policy })).status).toBe(200)
  const receiver = await openReceiver()
  const body = { url: receiver.url, enabled_events: ['*'] }
  expect((await daemon.request('POST', '/v2/webhook-subscriptions', { body })).status).toBe(201)
  return { name, dataDir, daemon, receiver, chain, payer, samples: [], warm: [], statuses: {}, asked: 0 }
}

/** The n-th request; they come in turn, so that the load is the same at every moment. */
async function request(night: Night, n: number): Promise<void> {
  const { daemon, chain, payer } = night
  const paths = ['/v2/pools', '/v2/merkle-trees?limit=50', '/v2/events?limit=50', '/v2/signer', '/v2/audit-entries']
  const write = async (kind: 'transaction' | 'memo') => {
    const { blockhash } = await chain.getLatestBlockhash()
    const { path, body, key } = writeOf(kind, n, { payer, blockhash })
    return daemon.request('POST', path, { body, headers: { 'idempotency-key': key } })
  }
  const tree = () => {
    const list = entries(200, (at) => String(n + at + 1))
    const body = { mint: wallet(1), airdrop_count: n % TREES, entries: list, replace: true }
    return daemon.request('POST', '/v2/merkle-trees', { body, headers: { 'idempotency-key': `tree ${n}` } })
  }
  const what = ['transaction', 'list', 'memo', 'list', 'tree', 'list', 'transaction', 'list'][n % 8]!
  const asked = {
    transaction: () => write('transaction'),
    memo: () => write('memo'),
    tree,
    list: () => daemon.request('GET', paths[(n >> 1) % paths.length]!),
  }
  const { status, headers, text } = await asked[what as keyof typeof asked]()
  // A leap of the clock ends the blockhash and the lease of what is under way, as where a machine slept.
  const isForLater = headers.has('retry-after') || /BlockhashNotFound|still in progress/.test(text)
  const seen = status < 400 ? 'done' : isForLater ? 'for later' : `${what} ${status} ${text.slice(0, 300)}`
  night.statuses[seen] = (night.statuses[seen] ?? 0) + 1
}

/** Sends requests at a steady rate until it is over; a daemon that is behind is sent fewer, and never many at once. */
async function keepBusy(night: Night, isOver: () => boolean): Promise<void> {
  const underWay = new Set<Promise<void>>()
  const began = Date.now()
  while (!isOver()) {
    if (underWay.size >= UNDER_WAY || night.asked > ((Date.now() - began) / 1_000) * RATE) {
      await pause(20)
      continue
    }
    const one: Promise<void> = request(night, night.asked++).finally(() => underWay.delete(one))
    underWay.add(one)
    // What comes is not kept: the receiver is no part of what is measured.
    night.receiver.all.length = 0
  }
  await Promise.all(underWay)
}

async function sample({ daemon, samples }: Night, began: number): Promise<void> {
  const { text } = await daemon.request('GET', '/metrics')
  const metric = (name: string) =>
    Number(new RegExp(`^${name.replace(/[{}"]/g, '\\$&')} (\\S+)$`, 'm').exec(text)?.[1] ?? 0)
  const resources = (type: string) => metric(`nodejs_active_resources{type="${type}"}`)
  const { pid } = daemon.process
  const resident = Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024
  samples.push({
    minute: (Date.now() - began) / MINUTE_MS,
    values: {
      resident_mb: resident,
      heap_mb: metric('nodejs_heap_size_used_bytes') / MB,
      descriptors: readdirSync(`/proc/${pid}/fd`).length,
      sockets: resources('TCPSocketWrap'),
      timers: resources('Timeout'),
      wal_mb: Math.max(WAL_MB, metric('svc_database_wal_size_bytes') / MB),
      database_mb: metric('svc_database_size_bytes') / MB,
      loop_ms: metric('nodejs_eventloop_lag_p99_seconds') * 1_000,
    },
  })
}

/** Takes samples of the warm daemons for as long as a warm-up takes at least; of one that grows again, as a leak does. */
async function watch(nights: readonly Night[], began: number): Promise<void> {
  let [warmAt, looks] = [Number.POSITIVE_INFINITY, 0]
  for (let at = began; ; at = Math.max(at + SAMPLE_MS, Date.now())) {
    await pause(Math.max(0, at - Date.now()))
    const isWarm = at - began >= WARM_MS && nights.every(({ asked }) => asked >= WARM_REQUESTS)
    if (isWarm) warmAt = Math.min(warmAt, at)
    for (const night of nights) {
      await sample(night, began)
      if (isWarm) night.warm.push(night.samples.at(-1)!)
    }
    if (at - warmAt < WARM_MS) continue
    looks += 1
    if (looks === MOST_LOOKS || nights.every(({ warm }) => growing(warm).length === 0)) return
    warmAt = at
    for (const night of nights) night.warm = []
  }
}

/** A row for each figure: after the warm-up, in the middle, at the end, the most, and by how much it grows. */
function tableOf({ name, warm, asked, samples }: Night): string {
  const show = (value: number | undefined) => (value ?? Number.NaN).toFixed(1)
  const rows = Object.keys(warm[0]?.values ?? {}).map((figure) => {
    const values = warm.map(({ values }) => values[figure] ?? Number.NaN)
    const sorted = values.toSorted((a, b) => a - b)
    const cells = [values[0], sorted[sorted.length >> 1], values.at(-1), sorted.at(-1), slopeOf(warm, figure)]
    return `  | ${figure} | ${cells.map(show).join(' | ')} |`
  })
  return `  ${name}, ${asked} requests in ${show(samples.at(-1)?.minute)} minutes: warm, median, end, most, growth a minute\n${rows.join('\n')}\n`
}

describe(`a night of ${MINUTES} minutes`, () => {
  const nights: Night[] = []

  beforeAll(
    async () => {
      for (const name of databases) nights.push(await fall(name))
      let isOver = false
      const watching = watch(nights, Date.now()).finally(() => {
        isOver = true
      })
      await Promise.all([...nights.map((night) => keepBusy(night, () => isOver)), watching])
    },
    9 * MINUTES * MINUTE_MS + 300_000,
  )
  afterAll(async () => {
    for (const { daemon, receiver } of nights) {
      await daemon.stop()
      await receiver.close()
    }
    for (const made of folders) removeFolder(made)
  })

  it.each(databases)('uses no more memory, descriptors and timers at its end on %s', (name) => {
    const night = nights.find((one) => one.name === name)!
    process.stdout.write(tableOf(night))
    expect(growing(night.warm)).toEqual([])
  })

  it.each(databases)('has nearly all requests answered well on %s, and old rows removed', async (name) => {
    const { statuses, asked, daemon } = nights.find((one) => one.name === name)!
    const { done = 0, 'for later': later = 0, ...wrong } = statuses
    process.stdout.write(`  ${name}: ${done} done, ${later} for later\n`)
    expect(wrong).toEqual({})
    expect(done).toBeGreaterThan(asked / 2)
    const [first] = (await daemon.request('GET', '/v2/events?order=asc&limit=1')).json.data
    const [last] = (await daemon.request('GET', '/v2/events?limit=1')).json.data
    expect(last.sequence).toBeGreaterThan(asked / 4)
    expect(first.sequence).toBeGreaterThan(1)
  })
})
