/** Daemons of different roles on one PostgreSQL database, as processes of their own, and what each of them answers. */
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { DAEMON_ROLES } from '../../src/api/daemon-roles.ts'
import { SETTINGS } from '../../src/settings/settings.ts'
import { type PostgresServer, startPostgres } from '../store/postgres-server.ts'
import { type Daemon, startDaemon } from '../support/daemon.ts'
import { describeOnSqliteAlone } from '../support/database.ts'
import { temporaryFolder } from '../support/service.ts'
import { commandLine } from './command-line.ts'

const cli = commandLine()
const started = await startPostgres()
const server = started as PostgresServer
const ENCRYPTION_KEY = Buffer.alloc(32, 9).toString('base64')
const POLL = { timeout: 60_000, interval: 20 }

it('the setting takes the roles that the API names', () => {
  expect(SETTINGS.role.choices).toEqual([...DAEMON_ROLES])
})

describeOnSqliteAlone('a role', 'other daemons cannot share it', () => {
  it.each(['api', 'worker'])('the role %s is refused before anything is made, with the way out', async (role) => {
    for (const [args, env] of [
      [['--role', role], {}],
      [[], { SVC_ROLE: role }],
    ] as const) {
      const { exitCode, stderr, stdout } = await cli.spawned(['serve', '--port', '0', ...args], { env })
      expect([exitCode, stdout]).toEqual([2, ''])
      expect(stderr).toContain(`role ${role} needs PostgreSQL`)
      expect(stderr).toContain('SVC_DATABASE_URL')
    }
    expect((await cli.svc(['config', 'list', '--json'])).exitCode).toBe(0)
  })
})

it('an unknown role is told which there are, and no folder may choose one', async () => {
  const unknown = await cli.spawned(['serve', '--role', 'both'])
  expect([unknown.exitCode, unknown.stderr]).toEqual([2, expect.stringContaining('api or worker or all')])
  cli.file('svc.json', JSON.stringify({ role: 'api' }))
  const refused = await cli.svc(['status'], { cwd: cli.home })
  expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining('role')])
  cli.file('svc.json', '{}')
})

describe.skipIf('missing' in started)('on PostgreSQL', () => {
  let url: string
  let api: Daemon
  let apiFolder: string
  let node: string
  beforeAll(async () => {
    url = await server.createMigratedDatabase()
    apiFolder = join(cli.home, 'api')
    mkdirSync(apiFolder, { mode: 0o700 })
    api = await startDaemon({ dataDir: apiFolder, flags: ['--role', 'api', '--rpc-port', '0'], env: env() })
    node = JSON.parse(readFileSync(join(apiFolder, 'daemon.json'), 'utf8')).rpc_url
  })
  afterAll(async () => {
    await api.stop('SIGKILL')
    await server.stop()
  })

  const env = (more: Record<string, string> = {}) => ({
    SVC_DATABASE_URL: url,
    SVC_ENCRYPTION_KEY: ENCRYPTION_KEY,
    ...more,
  })
  const startWorker = async (dataDir = temporaryFolder()): Promise<Daemon> => {
    const daemon = await startDaemon({ dataDir, flags: ['--role', 'worker', '--url', node], env: env() })
    onTestFinished(() => daemon.stop('SIGKILL'))
    return daemon
  }
  const readyOf = async (daemon: Daemon) => {
    const { status, json } = await daemon.request('GET', '/ready', { key: null })
    return { status, ...json.data }
  }
  const workersOf = async (daemon: Daemon) => (await daemon.request('GET', '/v2/health/workers')).json.data

  it('an api daemon is ready though nobody works, and says so of the workers', async () => {
    expect(await readyOf(api)).toEqual({
      ...{ status: 200, ready: true, role: 'api' },
      checks: { database: 'ok', rpc: 'ok' },
    })
    const { role, all_healthy, workers } = await workersOf(api)
    expect([role, all_healthy, workers.length]).toEqual(['api', false, 5])
    for (const worker of workers) {
      expect(worker).toMatchObject({
        ...{ running: false, last_tick_at: null, ticks_total: 0 },
        stalled_reason: 'no daemon has run it ever: start one with the role worker or all',
      })
    }
  })

  it('a worker daemon serves health, readiness and metrics, and names the role for everything else', async () => {
    const worker = await startWorker()
    expect((await worker.request('GET', '/v2/health', { key: null })).json.data.status).toBe('healthy')
    expect(await readyOf(worker)).toEqual({
      ...{ status: 200, ready: true, role: 'worker' },
      checks: { database: 'ok', rpc: 'ok', workers: 'ok' },
    })
    expect((await worker.request('GET', '/metrics')).text).toContain('svc_worker_ticks_total')
    expect((await worker.request('GET', '/metrics', { key: null })).status).toBe(401)
    expect((await workersOf(worker)).role).toBe('worker')
    for (const [method, path] of [
      ['GET', '/v2/pools'],
      ['POST', '/v2/api-keys'],
      ['GET', '/v2/docs'],
      ['GET', '/v2/openapi.json'],
      ['GET', '/assets/x'],
    ] as const) {
      // The document tells of the daemons that serve these.
      const answer = await fetch(worker.url + path, { method, headers: { authorization: `Bearer ${worker.operator}` } })
      const { error } = (await answer.json()) as { error: { code: string; message: string } }
      expect([path, answer.status, error.code]).toEqual([path, 404, 'not_found'])
      expect(error.message).toMatch(/^This daemon has the role worker and serves only .* send requests to one with/)
    }
    // The api daemon tells of the work that is done elsewhere.
    await expect.poll(async () => (await workersOf(api)).all_healthy, POLL).toBe(true)
    const { workers } = await workersOf(api)
    for (const state of workers) {
      expect(state).toMatchObject({ running: true, last_tick_at: expect.any(String), stalled_reason: null })
    }
  })

  it('status, doctor and the start say the role; commands beside a worker daemon work in their own process', async () => {
    const dataDir = temporaryFolder()
    const worker = await startWorker(dataDir)
    const here = env({ SVC_DATA_DIR: dataDir, SVC_URL: node })
    const status = await cli.svc(['status'], { env: here })
    expect([status.exitCode, status.stdout + status.stderr]).toEqual([0, expect.stringContaining('Role: worker')])
    expect(JSON.parse((await cli.svc(['status', '--json'], { env: here })).stdout)).toMatchObject({ role: 'worker' })
    const doctor = await cli.svc(['doctor', '--json'], { env: here })
    const checks = JSON.parse(doctor.stdout) as { check: string; detail: string }[]
    const detail = (name: string) => checks.find(({ check }) => check === name)?.detail
    expect(detail('daemon')).toBe(`pid ${worker.process.pid} at ${worker.url}, role worker`)
    expect(detail('database tls')).toBe('none; the database is on this machine')
    const keys = await cli.svc(['keys', 'list', '--json'], { env: here })
    expect([keys.exitCode, keys.stderr]).toEqual([0, ''])
    const there = await cli.svc(['status'], { env: env({ SVC_DATA_DIR: apiFolder }) })
    expect(there.stdout + there.stderr).toContain('Role: api; the workers run in other daemons')
  })
})
