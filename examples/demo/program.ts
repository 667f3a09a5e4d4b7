/** Runs `svc` as a user does: commands in separate processes, and a daemon on a free port. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import type { Report } from './report.ts'

export interface Answer {
  status: number
  headers: Headers
  /** The body as it came. */
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: whatever the endpoint answers
  body: any
}

export interface Daemon {
  url: string
  /** Runs a command against this daemon and returns its JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: whatever the command prints
  svc(...args: string[]): Promise<any>
  request(method: string, path: string, key?: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  /** The cost of a transaction to its payer, in lamports, as the chain's own RPC reports it. */
  fee(signature: string): Promise<{ fee: bigint }>
  /** Lamports that exempt an account of so many bytes from rent, as the chain's own RPC reports it. */
  rent(bytes: number): Promise<bigint>
  /** Stops the daemon; its exit code. */
  stop(): Promise<number>
}

/** What every part of the demo is given. */
export interface Options {
  dataDir: string
  daemon: Daemon
  report: Report
}

export interface Place {
  root: string
  dataDir: string
  report: Report
  /** Further settings, as environment variables. */
  env?: Record<string, string>
}

/** A command waits until its transaction is confirmed; on a slow machine it is finalized by then. */
export const isConfirmed = ({ lifecycle }: { lifecycle: string }) =>
  lifecycle === 'confirmed' || lifecycle === 'finalized'

/** The program of this clone, or the installed one that SVC_DEMO_PROGRAM names. */
function commandOf(root: string, args: string[]): [string, string[]] {
  const installed = process.env.SVC_DEMO_PROGRAM
  return installed === undefined ? ['node', [join(root, 'dist/svc.js'), ...args]] : [installed, args]
}

/** The user's own settings, such as an API or a profile, are left out. */
const OWN_SETTINGS = Object.fromEntries(
  Object.keys(process.env)
    .filter((name) => name.startsWith('SVC_') && name !== 'SVC_PROGRAMS_DIR')
    .map((name) => [name, undefined]),
)

/** Runs a command whatever its exit code; after `timeout` milliseconds it is ended. */
export const runCommand = (
  { root, dataDir, env = {} }: Place,
  args: string[],
  { timeout = 0 }: { timeout?: number } = {},
) =>
  execa(...commandOf(root, args), {
    cwd: root,
    env: {
      ...OWN_SETTINGS,
      // A cluster of the Solana CLI or of a profile is not that of the demo.
      SVC_URL: 'embedded',
      XDG_CONFIG_HOME: join(dataDir, 'config'),
      SVC_DATA_DIR: dataDir,
      SVC_LOG_LEVEL: 'warn',
      SVC_SIGNER: 'keypair',
      SVC_SIGNER_KEYPAIR: join(dataDir, 'platform.json'),
      SVC_POOLS_CRANK: 'true',
      ...env,
    },
    reject: false,
    timeout,
  })

/** Runs a command and returns its JSON, through the daemon if one runs, otherwise alone. */
// biome-ignore lint/suspicious/noExplicitAny: whatever the command prints
export async function svc(place: Place, ...args: string[]): Promise<any> {
  const { stdout, stderr, exitCode } = await runCommand(place, [...args, '--json'])
  if (exitCode !== 0) throw new Error(`svc ${args.join(' ')} ended with ${exitCode}: ${stderr}`)
  return JSON.parse(stdout)
}

export async function startDaemon(place: Place): Promise<Daemon> {
  const { dataDir, report } = place
  const child = runCommand(place, ['serve', '--port', '0', '--rpc-port', '0'])
  let url = ''
  await report.step('svc serve listens', async () => {
    url = await new Promise<string>((resolve, reject) => {
      child.stdout.on('data', (text) => {
        const found = /http:\/\/\S+/.exec(String(text))
        if (found) resolve(found[0])
      })
      void child.then(({ stderr }) => reject(new Error(`svc serve ended: ${stderr}`)))
    })
    report.expect(url !== '', 'the daemon prints its URL')
    return url
  })
  return {
    url,
    svc: (...args) => svc(place, ...args),
    async request(method, path, key, body, headers = {}) {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: {
          ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      return { status: response.status, headers: response.headers, text, body: JSON.parse(text) }
    },
    async fee(signature) {
      const config = { commitment: 'confirmed', maxSupportedTransactionVersion: 1 }
      const { meta } = await askNode<{ meta: { fee: number } }>(dataDir, 'getTransaction', [signature, config])
      return { fee: BigInt(meta.fee) }
    },
    rent: async (bytes) => BigInt(await askNode<number>(dataDir, 'getMinimumBalanceForRentExemption', [bytes])),
    async stop() {
      child.kill('SIGTERM')
      const { exitCode } = await child
      return exitCode ?? -1
    },
  }
}

/** Asks the daemon's embedded chain by JSON-RPC. */
async function askNode<T>(dataDir: string, method: string, params: unknown[]): Promise<T> {
  const { rpc_url } = JSON.parse(readFileSync(join(dataDir, 'daemon.json'), 'utf8'))
  const response = await fetch(rpc_url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  return ((await response.json()) as { result: T }).result
}
