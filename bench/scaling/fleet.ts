/** A fleet to measure: a durable PostgreSQL server, one process with the embedded chain, and daemons that share both. */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { Keypair } from '@solana/web3.js'
import pg from 'pg'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import { launchPostgres } from '../../test/store/postgres-launch.ts'
import { type Daemon, startDaemon } from '../../test/support/daemon.ts'
import { familyProcessorMs, parentOf, processorMs } from '../http/processor-time.ts'

const SVC = join(import.meta.dirname, '..', '..', 'dist', 'svc.js')
const PROGRAMS_FOLDER = process.env.SVC_PROGRAMS_DIR || join(homedir(), '.cache/svc/programs')

export interface Fleet {
  /** JSON-RPC of the embedded chain, which is also its relay. */
  node: string
  databaseUrl: string
  /** For questions about the server; not counted among the sessions of daemons. */
  database: pg.Client
  start(role: 'api' | 'worker' | 'all', env?: Record<string, string>): Promise<Daemon>
  openStore(): Promise<Store>
  /** Processor milliseconds of all sessions and of the server itself since its start. */
  postgresMs(): number
  close(): Promise<void>
}

/** Null if PostgreSQL cannot be run. The caller stops the daemons. Needs a built dist/. */
export async function openFleet(): Promise<Fleet | null> {
  const server = await launchPostgres({
    settings: {
      ...{ fsync: 'on', track_commit_timestamp: 'on', shared_preload_libraries: 'pg_stat_statements' },
      ...{ 'pg_stat_statements.track_utility': 'on', 'pg_stat_statements.max': '10000' },
    },
  })
  if ('missing' in server) return null
  const root = mkdtempSync(join(tmpdir(), 'bench-fleet-'))
  const folder = () => mkdtempSync(join(root, 'daemon-'))
  const encryptionKey = randomBytes(32).toString('hex')
  const wallet = join(root, 'wallet.json')
  writeFileSync(wallet, JSON.stringify([...Keypair.generate().secretKey]), { mode: 0o600 })
  const database = new pg.Client({ connectionString: server.url, application_name: 'bench' })
  await database.connect()
  const { rows } = await database.query('select pg_backend_pid() as pid')
  const postmaster = parentOf(Number(rows[0].pid))
  const chain = await startChain(folder())
  return {
    node: chain.url,
    database,
    databaseUrl: server.url,
    start: (role, env = {}) =>
      startDaemon({
        dataDir: folder(),
        flags: ['--role', role, '--url', chain.url],
        env: {
          SVC_DATABASE_URL: server.url,
          SVC_ENCRYPTION_KEY: encryptionKey,
          SVC_WEBHOOKS_ALLOW_PRIVATE: 'true',
          SVC_RELAY_URL: chain.url,
          // A tip account of the embedded chain is empty, and what opens it must pay its rent.
          SVC_RELAY_TIP: '1000000',
          SVC_SIGNER: 'keypair',
          SVC_SIGNER_KEYPAIR: wallet,
          SVC_STORAGE: 'database',
          SVC_PUBLIC_URL: 'https://svc.example.com',
          ...env,
        },
      }),
    openStore: () => openStore({ dataDir: folder(), databaseUrl: server.url }),
    postgresMs: () => familyProcessorMs(postmaster),
    async close() {
      await database.end()
      await stopChild(chain.process)
      await server.stop()
      rmSync(root, { recursive: true, force: true })
    },
  }
}

export const daemonsMs = (daemons: readonly Daemon[]): number =>
  daemons.reduce((sum, daemon) => sum + processorMs(daemon.process.pid ?? 0), 0)

function startChain(folder: string): Promise<{ url: string; process: ChildProcess }> {
  const args = ['localnet', 'start', '--rpc-port', '0', '--data-dir', folder, '--json']
  const child = spawn(process.execPath, [SVC, ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', HOME: folder, SVC_PROGRAMS_DIR: PROGRAMS_FOLDER },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  return new Promise((resolve, reject) => {
    let text = ''
    child.stdout.on('data', (piece) => {
      text += piece
      const url = /"rpc_url":\s*"([^"]+)"/.exec(text)?.[1]
      if (url !== undefined) resolve({ url, process: child })
    })
    child.once('exit', () => reject(new Error(`the embedded chain ended before it listened: ${text}`)))
  })
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  const exited = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  await exited
}
