/** Durable writes over HTTP against bare node:http that commits the same rows in the same groups, prepared. */
import { type ChildProcess, fork } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { processorMs } from './fleet/processor-time.ts'
import { endServers, type ServerProcess, startServer } from './fleet/server.ts'
import { median } from './merkle/timing.ts'
import type { Measurement } from './merkle.ts'
import { PLAIN_APPLICATION, startPlain } from './plain/start.ts'
import type { Volley } from './writes/client.ts'

const SVC_PROGRAM = process.env.SVC_BENCH_PROGRAM || join(import.meta.dirname, '..', 'dist', 'svc.js')
const PARTS = join(import.meta.dirname, 'writes')
const VOLLEY = { connections: 64, requests: 3_000 }
const [WARM_UPS, VOLLEYS] = [2, 5]
const WRITE_FLOOR = 'bare node:http, same commits'

interface Writer extends ServerProcess, Pick<Volley, 'path' | 'token' | 'body'> {
  name: string
}
/** Milliseconds of wall time and of the server's processor time for a thousand requests. */
interface VolleyCost {
  wall: number
  processor: number
}

/** Medians of five volleys of every target in turn. Needs a built dist/. */
export async function writes(): Promise<Measurement[]> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-writes-'))
  const children: ChildProcess[] = []
  try {
    const client = fork(join(PARTS, 'client.ts'), { execArgv: ['--import', 'tsx'], stdio: 'inherit' })
    children.push(client)
    const targets = await writersIn(folder, children)
    const costs = targets.map((): VolleyCost[] => [])
    for (let round = -WARM_UPS; round < VOLLEYS; round++) {
      for (const [i, target] of targets.entries()) {
        const cost = await costOf(client, target, `${i}-${round}`)
        if (round >= 0) costs[i]?.push(cost)
      }
    }
    const [floors = [], own = [], ...plain] = costs
    return [
      ...targets.flatMap(({ name }, i) => [
        described(name, costs[i] ?? [], floors, 'wall', WRITE_FLOOR),
        described(`${name}, processor time`, costs[i] ?? [], floors, 'processor', WRITE_FLOOR),
      ]),
      ...plain.map((each, i) => described('POST /v2/api-keys', own, each, 'wall', targets[i + 2]?.name ?? '')),
    ]
  } finally {
    await endServers(children)
    rmSync(folder, { recursive: true, force: true })
  }
}

async function writersIn(folder: string, children: ChildProcess[]): Promise<Writer[]> {
  const floorServer = ['--import', 'tsx', join(PARTS, 'floor-server.ts'), join(folder, 'floor.db')]
  const floor = await startServer(floorServer, folder, children)
  const dataDir = join(folder, 'daemon')
  const serve = [SVC_PROGRAM, 'serve', '--port', '0', '--rpc-port', '0', '--json', '--data-dir', dataDir]
  const daemon = await startServer(serve, folder, children)
  const token = readFileSync(join(dataDir, 'operator.key'), 'utf8').trim()
  const key = { path: '/v2/api-keys', body: JSON.stringify({ name: 'a key of the bench', scopes: ['airdrop:write'] }) }
  const alone = await startPlain(folder, children, { limit: null, trees: 0 })
  const grouped = await startPlain(folder, children, { limit: null, trees: 0, isGrouped: true })
  return [
    { ...floor, ...key, name: WRITE_FLOOR, token: '' },
    { ...daemon, ...key, name: 'POST /v2/api-keys', token },
    { ...alone, ...key, name: PLAIN_APPLICATION, token: alone.bearer },
    { ...grouped, ...key, name: `${PLAIN_APPLICATION}, group commit`, token: grouped.bearer },
  ]
}

async function costOf(client: ChildProcess, { pid, url, path, token, body }: Writer, run: string): Promise<VolleyCost> {
  const before = processorMs(pid)
  const ms = await new Promise<number>((resolve, reject) => {
    client.once('message', (answer: { ms?: number; error?: string }) => {
      if (answer.ms === undefined) reject(new Error(answer.error))
      else resolve(answer.ms)
    })
    client.send({ url, path, token, body, run, ...VOLLEY } satisfies Volley)
  })
  const perThousand = 1_000 / VOLLEY.requests
  return { wall: ms * perThousand, processor: (processorMs(pid) - before) * perThousand }
}

/** The ratio is that of each volley to the floor's of the same round. */
function described(
  name: string,
  costs: readonly VolleyCost[],
  floors: readonly VolleyCost[],
  of: keyof VolleyCost,
  floor: string,
): Measurement {
  const ms = median(costs.map((cost) => cost[of]))
  const ratio = median(costs.map((cost, round) => cost[of] / (floors[round]?.[of] ?? Number.NaN)))
  return { name: `${name}, per thousand`, ms, ratio, floor }
}
