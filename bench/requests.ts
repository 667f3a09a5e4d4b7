/** What an answered request costs a daemon in processor time, with and without its log, against a bare node:http server. */
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { DATABASE_FILE } from '../src/settings/config.ts'
import { openFloodClient } from './fleet/flood.ts'
import { processorMs } from './fleet/processor-time.ts'
import { endServers, type ServerProcess, startServer } from './fleet/server.ts'
import { median } from './merkle/timing.ts'
import type { Measurement } from './merkle.ts'
import { PLAIN_APPLICATION, startPlain } from './plain/start.ts'

const SVC_PROGRAM = join(import.meta.dirname, '..', 'dist', 'svc.js')
const CONNECTIONS = 16
const REQUESTS = 4_000
const ROUNDS_OF_REQUESTS = 7
/** A server that answers every request alike and prints its address. */
export const BARE_SERVER = `
  const body = JSON.stringify({ data: { status: 'healthy' }, meta: { request_id: 'req_1' } })
  require('node:http').createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
    response.end(body)
  }).listen(0, '127.0.0.1', function () {
    console.log(JSON.stringify({ url: 'http://127.0.0.1:' + this.address().port }))
  })`
const FLOOR_OF_REQUESTS = 'bare node:http'
/** The same with a body of as many bytes as its path says. */
const SIZED_SERVER = `
  const bodies = {}
  require('node:http').createServer(({ url }, response) => {
    const body = (bodies[url] ??= 'x'.repeat(Number(url.slice(1))))
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
    response.end(body)
  }).listen(0, '127.0.0.1', function () {
    console.log(JSON.stringify({ url: 'http://127.0.0.1:' + this.address().port }))
  })`
const FLOOD_ROUNDS = 5
const FLOOD_REQUESTS = 5_000
const WARM_UP_REQUESTS = 10_000
const FEW_ROWS = 10_000
const MANY_ROWS = 1_000_000
const MINT_OF_TREES = 'So11111111111111111111111111111111111111112'
const AMPLE = { name: 'bench', scopes: ['*'], rate_limit_per_minute: 100_000_000, rate_limit_per_day: 100_000_000 }

/**
 * Requests a second against a bare server that answers as many bytes: medians of rounds in turn, 64 connections of one
 * client process. The ratio is the daemon's share of the bare server's requests. Needs a built dist/.
 */
export async function reads(program = SVC_PROGRAM): Promise<Measurement[]> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-reads-'))
  const children: ChildProcess[] = []
  const client = openFloodClient()
  try {
    const bare = await startServer(['-e', SIZED_SERVER], folder, children)
    const targets: ReadTarget[] = []
    const plain = await plainTargets(folder, children)
    for (const rows of [FEW_ROWS, MANY_ROWS]) {
      const of = `of ${rows.toLocaleString('en')}`
      const { url, bearer, ids } = await daemonOf(program, rows, folder, children)
      const headers = { authorization: `Bearer ${bearer}` }
      const all = [
        { name: 'GET /v2/health', urls: [`${url}/v2/health`], headers: {} },
        { name: `GET of one record ${of}`, urls: ids.map((id) => `${url}/v2/merkle-trees/${id}`), headers },
        { name: `GET of the first page ${of}`, urls: [`${url}/v2/merkle-trees`], headers },
      ]
      targets.push(...all.slice(targets.length === 0 ? 0 : 1))
    }
    const shares = targets.map((): number[] => [])
    const times = targets.map((): number[] => [])
    const plainShares = plain.map((): number[] => [])
    for (let round = -1; round < FLOOD_ROUNDS; round++) {
      const count = round < 0 ? WARM_UP_REQUESTS : FLOOD_REQUESTS
      for (const [i, { urls, headers }] of targets.entries()) {
        const own = await client.flood({ urls, headers, requests: count })
        const floor = await client.flood({ urls: [`${bare.url}/${own.bodyBytes}`], headers: {}, requests: count })
        if (round < 0) continue
        times[i]?.push((own.ms / own.answered) * 1_000)
        shares[i]?.push(floor.ms / floor.answered / (own.ms / own.answered))
        const same = plain[i]
        if (same === undefined) continue
        const answered = await client.flood({ ...same, requests: count })
        plainShares[i]?.push(answered.ms / answered.answered / (own.ms / own.answered))
      }
    }
    const described = (i: number, ratios: readonly number[], floor: string) => ({
      name: `${targets[i]?.name}, requests/s`,
      ms: median(times[i] ?? []),
      ratio: median(ratios),
      floor,
    })
    return [
      ...shares.map((ratios, i) => described(i, ratios, `${FLOOR_OF_REQUESTS} of as many bytes`)),
      ...plainShares.map((ratios, i) => described(i, ratios, PLAIN_APPLICATION)),
    ]
  } finally {
    client.close()
    await endServers(children)
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The first targets, health, record and page of a few rows, as the straightforward application answers them. */
async function plainTargets(folder: string, children: ChildProcess[]): Promise<ReadTarget[]> {
  const { url, bearer, ids } = await startPlain(folder, children, { limit: AMPLE.rate_limit_per_day, trees: FEW_ROWS })
  const headers = { authorization: `Bearer ${bearer}` }
  return [
    { name: 'health', urls: [`${url}/v2/health`], headers: {} },
    { name: 'record', urls: ids.map((id) => `${url}/v2/merkle-trees/${id}`), headers },
    { name: 'page', urls: [`${url}/v2/merkle-trees`], headers },
  ]
}

interface ReadTarget {
  name: string
  urls: string[]
  headers: Record<string, string>
}

/** A daemon over that many stored trees, a key with limits, and the ids of a thousand of the trees. */
async function daemonOf(program: string, rows: number, folder: string, children: ChildProcess[]) {
  const dataDir = join(folder, String(rows))
  const args = [program, 'serve', '--port', '0', '--rpc-port', '0', '--json', '--data-dir', dataDir]
  // Once to make the database, which is filled while no daemon runs, and once to be measured.
  const first = await startServer(args, folder, children)
  process.kill(first.pid, 'SIGTERM')
  await new Promise((resolve) => children.pop()?.once('exit', resolve))
  const database = new Database(join(dataDir, DATABASE_FILE))
  const idOf = "substr(hex(randomblob(23)), 1, 45) || 'A'"
  database.exec(`
    insert into merkle_trees (id, mint, airdrop_count, root, leaf_count, total, list_sha256, status, created_at)
    with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${rows})
    select ${idOf}, '${MINT_OF_TREES}', n, lower(hex(randomblob(32))), 1, '1',
      lower(hex(randomblob(32))), 'tree_built', 1760000000000 + n from numbers`)
  const some = database.prepare('select id from merkle_trees where seq % ? = 0 limit 1000').pluck()
  const ids = some.all(Math.ceil(rows / 1_000)) as string[]
  database.close()
  const { url } = await startServer(args, folder, children)
  const operator = readFileSync(join(dataDir, 'operator.key'), 'utf8').trim()
  const headers = { authorization: `Bearer ${operator}`, 'content-type': 'application/json' }
  const made = await fetch(`${url}/v2/api-keys`, { method: 'POST', headers, body: JSON.stringify(AMPLE) })
  const { data } = (await made.json()) as { data: { key: string } }
  return { url, bearer: data.key, ids }
}

interface Target extends ServerProcess {
  name: string
  headers: Record<string, string>
}

/** Medians of the processor time of the serving process, in ms for a thousand requests. Needs a built dist/. */
export async function requests(): Promise<Measurement[]> {
  return [...(await reads()), ...(await processorTimes())]
}

async function processorTimes(): Promise<Measurement[]> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-requests-'))
  const children: ChildProcess[] = []
  try {
    const bare = await startServer(['-e', BARE_SERVER], folder, children)
    const targets: Target[] = [{ ...bare, name: FLOOR_OF_REQUESTS, headers: {} }]
    for (const level of ['info', 'warn']) {
      const dataDir = join(folder, level)
      const args = [SVC_PROGRAM, 'serve', '--port', '0', '--rpc-port', '0', '--json', '--data-dir', dataDir]
      const daemon = await startServer(args, folder, children, { SVC_LOG_LEVEL: level })
      const headers = { authorization: `Bearer ${readFileSync(join(dataDir, 'operator.key'), 'utf8').trim()}` }
      targets.push({ ...daemon, name: `GET /v2/health, log level ${level}`, url: `${daemon.url}/v2/health`, headers })
      targets.push({ ...daemon, name: `GET /v2/pools, log level ${level}`, url: `${daemon.url}/v2/pools`, headers })
    }
    const times = targets.map((): number[] => [])
    for (let round = -2; round < ROUNDS_OF_REQUESTS; round++) {
      for (const [i, target] of targets.entries()) {
        const ms = await processorTime(target)
        if (round >= 0) times[i]?.push(ms)
      }
    }
    const [floor = 1, ...rest] = times.map((each) => (median(each) / REQUESTS) * 1_000)
    return [floor, ...rest].map((ms, i) => ({
      name: targets[i]?.name ?? '',
      ms,
      ratio: ms / floor,
      floor: FLOOR_OF_REQUESTS,
    }))
  } finally {
    await endServers(children)
    rmSync(folder, { recursive: true, force: true })
  }
}

async function processorTime({ pid, url, headers }: Target): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  const before = processorMs(pid)
  let left = REQUESTS
  const line = async () => {
    while (left-- > 0) await asked(url, headers, agent)
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, line))
  agent.destroy()
  return processorMs(pid) - before
}

const asked = (url: string, headers: Record<string, string>, agent: Agent): Promise<void> =>
  new Promise((resolve, reject) => {
    get(url, { headers, agent }, (response) => {
      response.resume()
      response.on('end', resolve)
      if (response.statusCode !== 200) reject(new Error(`${url} answered ${response.statusCode}`))
    }).on('error', reject)
  })
