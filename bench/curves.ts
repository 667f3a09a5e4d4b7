/** How the processor time of a request grows with what is stored: API keys from 1 to 10,000, trees from 10 to 10,000. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Pool } from 'undici'
import { type Daemon, startDaemon } from '../test/support/daemon.ts'
import { entries, wallet } from '../test/support/trees.ts'
import { type DrivenRequest, driveCount } from './fleet/drive.ts'
import { processorMs } from './fleet/processor-time.ts'
import { median } from './merkle/timing.ts'
import type { Measurement } from './merkle.ts'

const REQUESTS = 2_000
const ROUNDS = 5
const IN_FLIGHT = 16

interface Curve {
  name: string
  sizes: readonly number[]
  path: string
  /** Body of the POST request that stores the n-th. */
  body(n: number): object
}

const CURVES: readonly Curve[] = [
  {
    name: 'API keys, first page',
    sizes: [1, 10, 100, 1_000, 10_000],
    path: '/v2/api-keys',
    body: (n) => ({ name: `key ${n}` }),
  },
  {
    name: 'stored trees, first page',
    sizes: [10, 100, 1_000, 10_000],
    path: '/v2/merkle-trees',
    body: (n) => ({ mint: wallet(n), entries: entries(3) }),
  },
]

/** A minute or two. Ratios are to the smallest size of each curve. Needs a built dist/. */
export async function curves(): Promise<Measurement[]> {
  const measured: Measurement[] = []
  for (const curve of CURVES) measured.push(...(await measure(curve)))
  return measured
}

async function measure({ name, sizes, path, body }: Curve): Promise<Measurement[]> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-curves-'))
  const daemons: Daemon[] = []
  try {
    // One daemon for each size, so that all are measured in turn.
    for (const size of sizes) {
      const dataDir = mkdtempSync(join(folder, 'daemon-'))
      const daemon = await startDaemon({ dataDir, flags: ['--rpc-port', '0'], env: { SVC_LOG_LEVEL: 'silent' } })
      daemons.push(daemon)
      let n = 0
      const create = (): DrivenRequest => ({
        method: 'POST',
        path,
        headers: { authorization: `Bearer ${daemon.operator}`, 'content-type': 'application/json' },
        body: JSON.stringify(body(n++)),
      })
      await drivenCount(daemon.url, size, create)
    }
    const times = daemons.map((): number[] => [])
    for (let round = -1; round < ROUNDS; round++) {
      for (const [i, daemon] of daemons.entries()) {
        const ms = await processorTime(daemon, path)
        if (round >= 0) times[i]?.push(ms)
      }
    }
    const [least = 1, ...rest] = times.map((each) => (median(each) / REQUESTS) * 1_000)
    return [least, ...rest].map((ms, i) => ({
      name: `${name}, ${sizes[i]?.toLocaleString('en')} stored, 1,000 requests`,
      ...{ ms, ratio: ms / least, floor: `${sizes[0]} stored` },
    }))
  } finally {
    for (const daemon of daemons) await daemon.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function processorTime({ url, operator, process: { pid = 0 } }: Daemon, path: string): Promise<number> {
  const request = { method: 'GET', path, headers: { authorization: `Bearer ${operator}` } } as const
  const before = processorMs(pid)
  await drivenCount(url, REQUESTS, () => request)
  return processorMs(pid) - before
}

async function drivenCount(url: string, count: number, next: () => DrivenRequest): Promise<void> {
  const pool = new Pool(url, { connections: IN_FLIGHT })
  try {
    await driveCount(pool, { inFlight: IN_FLIGHT, count, next })
  } finally {
    await pool.close()
  }
}
