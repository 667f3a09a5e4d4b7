/** What an answered request costs a daemon in processor time, with and without its log, against a bare node:http server. */
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { processorMs } from './fleet/processor-time.ts'
import { median } from './merkle/timing.ts'
import type { Measurement } from './merkle.ts'

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

interface Target {
  name: string
  pid: number
  url: string
  headers: Record<string, string>
}

/** Medians of the processor time of the serving process, in ms for a thousand requests. Needs a built dist/. */
export async function requests(): Promise<Measurement[]> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-requests-'))
  const children: ChildProcess[] = []
  try {
    const bare = await started(['-e', BARE_SERVER], folder, children)
    const targets: Target[] = [{ ...bare, name: FLOOR_OF_REQUESTS, headers: {} }]
    for (const level of ['info', 'warn']) {
      const dataDir = join(folder, level)
      const args = [SVC_PROGRAM, 'serve', '--port', '0', '--rpc-port', '0', '--json', '--data-dir', dataDir]
      const daemon = await started(args, folder, children, { SVC_LOG_LEVEL: level })
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
    for (const child of children) {
      child.kill('SIGTERM')
      if (child.exitCode === null) await new Promise((resolve) => child.once('exit', resolve))
    }
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Starts a server that prints `"url"` as JSON; its log goes to a file, as under a service manager. */
async function started(
  args: string[],
  folder: string,
  children: ChildProcess[],
  env: Record<string, string> = {},
): Promise<Pick<Target, 'pid' | 'url'>> {
  const log = openSync(join(folder, `${children.length}.log`), 'w')
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env.PATH, HOME: folder, ...env },
    stdio: ['ignore', 'pipe', log],
  })
  closeSync(log)
  children.push(child)
  return new Promise((resolve, reject) => {
    let text = ''
    child.stdout?.on('data', (piece) => {
      text += piece
      const url = /"url":\s*"([^"]+)"/.exec(text)?.[1]
      if (url !== undefined) resolve({ pid: child.pid ?? 0, url })
    })
    child.once('exit', () => reject(new Error('a server ended before it listened')))
  })
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
