/** Memory of a daemon without the embedded chain over 100,000 mixed requests. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Dispatcher, Pool } from 'undici'
import { type Daemon, startDaemon } from '../test/support/daemon.ts'
import { wallet } from '../test/support/trees.ts'
import type { Measurement } from './measurement.ts'

const REQUESTS = 100_000
/** Requests between two readings of the daemon's memory. */
const STEP = 2_000
/** The mean of the last readings is compared with that of as many in the middle. */
const STAGE_LOOKS = 10
const IN_FLIGHT = 32
const MIB = 1024
const MOST_MIB = 256
/** Made once: a client that makes them for every tree is slower than the daemon. */
const TREE_WALLETS = Array.from({ length: 200 }, (_, n) => wallet(n))

/** Some minutes. Needs a built dist/, and Linux's /proc. */
export async function memory(): Promise<Measurement[]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'bench-memory-'))
  // A busy node would be asked again after a pause, and the requests would only wait for it.
  const node = createServer((request, response) => {
    request.resume().on('end', () => response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: 1 })))
  })
  await new Promise<void>((done) => node.listen(0, '127.0.0.1', done))
  const flags = ['--url', `http://127.0.0.1:${(node.address() as AddressInfo).port}`]
  const daemon = await startDaemon({ dataDir, flags, env: { SVC_LOG_LEVEL: 'silent' } })
  const pool = new Pool(daemon.url, { connections: IN_FLIGHT })
  try {
    const started = residentMib(daemon)
    const looks: number[] = []
    for (let n = 0; n < REQUESTS; ) {
      const end = n + STEP
      const line = async () => {
        while (n < end) await answered(pool, mixed(daemon, n++))
      }
      await Promise.all(Array.from({ length: IN_FLIGHT }, line))
      looks.push(residentMib(daemon))
    }
    const [middle, last] = [meanOf(looks, looks.length / 2), meanOf(looks, looks.length)]
    const most = Math.max(...looks)
    process.stdout.write(`  resident after each ${STEP}: ${looks.map((mib) => mib.toFixed(0)).join(' ')} MiB\n`)
    const row = (name: string, mib: number, floor: string, ofMib: number): Measurement => ({
      name,
      value: mib,
      unit: 'MiB',
      ratio: mib / ofMib,
      floor,
    })
    return [
      row('after 100,000 requests', last, 'at start', started),
      row('after 100,000 requests', last, 'after 50,000', middle),
      row('most memory in 100,000 requests', most, `${MOST_MIB} MiB`, MOST_MIB),
    ]
  } finally {
    await pool.close()
    await daemon.stop()
    node.closeAllConnections()
    node.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

async function answered(pool: Pool, request: Dispatcher.RequestOptions): Promise<void> {
  const { statusCode, body } = await pool.request(request)
  if (statusCode < 400) await body.dump()
  else throw new Error(`${request.method} ${request.path} was answered ${statusCode}: ${await body.text()}`)
}

/** The mean of the looks before the one with this number. */
function meanOf(looks: readonly number[], end: number): number {
  const stage = looks.slice(end - STAGE_LOOKS, end)
  return stage.reduce((sum, mib) => sum + mib, 0) / stage.length
}

function residentMib({ process: { pid } }: Daemon): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s*(\d+) kB/.exec(status)?.[1] ?? 0) / MIB
}

const READS = [
  '/v2/health',
  '/v2/api-keys',
  '/v2/merkle-trees?limit=50',
  '/v2/events?limit=50',
  '/v2/pools',
  '/v2/signer',
]

/** The n-th request: eight reads, one key and one tree in ten. */
function mixed({ operator }: Daemon, n: number): Dispatcher.RequestOptions {
  const headers = { authorization: `Bearer ${operator}` }
  const write = (path: string, body: unknown): Dispatcher.RequestOptions => ({
    method: 'POST',
    path,
    headers: { ...headers, 'content-type': 'application/json', 'idempotency-key': `n${n}` },
    body: JSON.stringify(body),
  })
  if (n % 10 === 3) return write('/v2/api-keys', { name: `key ${n}`, scopes: [] })
  if (n % 10 === 7) {
    const list = TREE_WALLETS.map((each, at) => ({ wallet: each, amount: String(n + at + 1) }))
    return write('/v2/merkle-trees', { mint: wallet(n), entries: list })
  }
  return { method: 'GET', path: READS[n % READS.length] ?? '/v2/health', headers }
}
