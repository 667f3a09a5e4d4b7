/** What a key's limits cost: the throughput of a limited key against an unlimited one, on both databases, and of others beside one that is refused. */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { Pool } from 'undici'
import { HOUR_MS } from '../src/platform/timing.ts'
import { openStore, type StoreOptions } from '../src/store/open.ts'
import { putRateHits } from '../src/store/requests/rate-hits.ts'
import type { Store } from '../src/store/store.ts'
import { launchPostgres } from '../test/store/postgres-launch.ts'
import { type Daemon, startDaemon } from '../test/support/daemon.ts'
import { median } from './merkle/timing.ts'
import type { Measurement } from './merkle.ts'

const ENCRYPTION_KEY = randomBytes(32).toString('hex')
/** Requests of the key's day before it is measured. */
const FILLS = [0, 10_000, 60_000]
/** Each in turn, because a machine is not as quick at one moment as at the next. */
const ROUNDS = 9
const ROUND_MS = 1_000
const IN_FLIGHT = 64
/** Requests of a key that share a transaction are those that arrive together, so that fewer in flight cost more. */
const FEWER_IN_FLIGHT = [4, 16]
const AMPLE = 1_000_000_000

/** All figures; some minutes. PostgreSQL is left out where it cannot be run. */
export async function limits(): Promise<Measurement[]> {
  const measured = await inFolder((dataDir) => measure({ dataDir }, 1, 'SQLite'))
  const server = await launchPostgres({ settings: { fsync: 'on' } })
  if ('missing' in server) return measured
  try {
    for (const daemons of [1, 3]) {
      const databaseUrl = server.url
      measured.push(...(await inFolder((dataDir) => measure({ dataDir, databaseUrl }, daemons, 'PostgreSQL'))))
    }
    return measured
  } finally {
    await server.stop()
  }
}

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-limits-'))
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Makes a key with limits and the hits of its last 23 hours, and returns the key itself. */
async function makeKey(daemon: Daemon, store: Store, perMinute: number, hits = 0): Promise<string> {
  const body = { name: 'bench', rate_limit_per_minute: perMinute, rate_limit_per_day: AMPLE }
  const { data } = JSON.parse((await daemon.request('POST', '/v2/api-keys', { body })).text)
  const from = Date.now() - 23 * HOUR_MS
  const rows = Array.from({ length: hits }, (_, n) => ({
    ...{ api_key_id: data.id, at: from + Math.floor((n / hits) * 22 * HOUR_MS), count: 1, total: n + 1 },
  }))
  await store.write((tx) => putRateHits(tx, rows))
  return data.key
}

async function measure(options: StoreOptions, count: number, kind: string): Promise<Measurement[]> {
  // The first start makes the installation that the keys belong to.
  const first = await started(options, options.dataDir)
  const store = await openStore(options)
  const limited: string[] = []
  for (const hits of FILLS) limited.push(await makeKey(first, store, AMPLE, hits))
  const refused = await makeKey(first, store, 1)
  await store.close()
  await first.stop()
  const unlimited = readFileSync(join(options.dataDir, 'operator.key'), 'utf8').trim()
  const folder = (n: number) => (n === 0 ? options.dataDir : mkdtempSync(join(options.dataDir, `${n}-`)))
  const daemons = await Promise.all(Array.from({ length: count }, (_, n) => started(options, folder(n))))
  const pools = daemons.map(({ url }) => new Pool(url, { connections: 2 * IN_FLIGHT }))
  try {
    const where = `${kind}, ${count === 1 ? 'a daemon' : `${count} daemons`}`
    const floor = 'a key without limits'
    const alone = await inTurns([unlimited, ...limited].map((key) => () => requestTime(pools, { key })))
    const fewer: Measurement[] = []
    for (const inFlight of FEWER_IN_FLIGHT) {
      const [, measured] = await inTurns(
        [unlimited, ...limited.slice(-1)].map((key) => () => requestTime(pools, { key, inFlight })),
      )
      if (measured) fewer.push(figure(`${where}: limited, ${inFlight} in flight`, measured.ms, measured.ratio, floor))
    }
    const beside = await inTurns([
      () => requestTime(pools, { key: unlimited, beside: { path: '/v2/health' } }),
      () => requestTime(pools, { key: unlimited, beside: { path: '/v2/pools', key: refused } }),
    ])
    const names = [floor, ...FILLS.map((hits) => `limited, ${hits.toLocaleString('en')} hits in its day`)]
    return [
      ...alone.map(({ ms, ratio }, n) => figure(`${where}: ${names[n]}`, ms, ratio, floor)),
      ...fewer,
      ...beside
        .slice(1)
        .map(({ ms, ratio }) => figure(`${where}: beside a refused key`, ms, ratio, 'beside /v2/health')),
    ]
  } finally {
    await Promise.all(pools.map((pool) => pool.destroy()))
    await Promise.all(daemons.map(({ stop }) => stop()))
  }
}

const figure = (name: string, ms: number, ratio: number, floor: string): Measurement => ({
  name: `${name}, ${Math.round(1000 / ms).toLocaleString('en')}/s`,
  ms: ms * 1000,
  ratio,
  floor,
})

const started = ({ databaseUrl }: StoreOptions, dataDir: string): Promise<Daemon> =>
  startDaemon({
    dataDir,
    flags: ['--rpc-port', '0'],
    env: databaseUrl === undefined ? {} : { SVC_DATABASE_URL: databaseUrl, SVC_ENCRYPTION_KEY: ENCRYPTION_KEY },
  })

/** Medians of each, and of its ratio to the first one of the same round, after a round that warms up. */
async function inTurns(measures: readonly (() => Promise<number>)[]): Promise<{ ms: number; ratio: number }[]> {
  const rounds: number[][] = []
  for (let round = -1; round < ROUNDS; round++) {
    const times: number[] = []
    for (const measureOnce of measures) times.push(await measureOnce())
    if (round >= 0) rounds.push(times)
  }
  return measures.map((_, n) => ({
    ms: median(rounds.map((times) => times[n] ?? 0)),
    ratio: median(rounds.map((times) => (times[n] ?? 0) / (times[0] ?? 0))),
  }))
}

interface Load {
  path: string
  key?: string
}

/** Milliseconds per answered request of a key; with a load beside it, that has as many requests under way. */
async function requestTime(
  pools: readonly Pool[],
  { key, beside, inFlight = IN_FLIGHT }: { key: string; beside?: Load; inFlight?: number },
): Promise<number> {
  const end = performance.now() + ROUND_MS
  const own: Load = { path: '/v2/pools', key }
  const from = performance.now()
  const [mine] = await Promise.all([
    Promise.all(pools.map((pool) => drive(pool, own, end, beside === undefined ? inFlight : IN_FLIGHT / 8))),
    ...(beside === undefined ? [] : pools.map((pool) => drive(pool, beside, end, IN_FLIGHT))),
  ])
  return (performance.now() - from) / mine.reduce((sum, answered) => sum + answered, 0)
}

/** Keeps requests under way until `end`; the number of answers. */
async function drive(pool: Pool, { path, key }: Load, end: number, inFlight: number): Promise<number> {
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` }
  let answered = 0
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (performance.now() < end) {
        const { body } = await pool.request({ method: 'GET', path, headers })
        await body.dump()
        answered++
      }
    }),
  )
  return answered
}
