/** The installed PgBouncer on loopback, before a database of the run's PostgreSQL server. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { freePort } from './ports.ts'
import { temporaryFolder } from './service.ts'

const [PROGRAM] = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer'].filter(
  (path) => spawnSync(path, ['--version']).status === 0,
)
const START_MS = 60_000

/** Whether it can be run here; tests that need it are skipped by name otherwise. */
export const hasPgbouncer = PROGRAM !== undefined

/** The URL of the database through a PgBouncer that ends with the test. */
export async function throughPgbouncer(url: string, mode: 'transaction' | 'session' | 'statement'): Promise<string> {
  const { hostname, port: serverPort, username, password, pathname } = new URL(url)
  const folder = temporaryFolder()
  const [name, port] = [pathname.slice(1), await freePort()]
  const file = join(folder, 'pgbouncer.ini')
  const secret = decodeURIComponent(password)
  writeFileSync(
    file,
    `[databases]
${name} = host=${hostname} port=${serverPort} dbname=${name} user=${username} password='${secret}'
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = 40
`,
  )
  // It refuses to run as root.
  const identity = userInfo().uid === 0 ? { uid: 65_534, gid: 65_534 } : {}
  chmodSync(folder, 0o755)
  if (identity.uid !== undefined) chownSync(file, identity.uid, identity.gid)
  const started = spawn(PROGRAM!, ['-q', file], { ...identity, cwd: '/', stdio: 'ignore' })
  const ended = once(started, 'exit')
  onTestFinished(async () => {
    started.kill('SIGKILL')
    await ended
  })
  for (const deadline = Date.now() + START_MS; !(await answers(port)); await delay(20)) {
    if (started.exitCode !== null || Date.now() > deadline) throw new Error('pgbouncer did not start')
  }
  return `postgres://${username}@127.0.0.1:${port}/${name}`
}

function answers(port: number): Promise<boolean> {
  return new Promise((settle) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => settle(true)).once('error', () => settle(false))
    socket.unref()
    socket.once('connect', () => socket.destroy())
  })
}
