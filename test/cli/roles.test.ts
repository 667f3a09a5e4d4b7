/** Daemons of different roles on one PostgreSQL database, as processes of their own, and what each of them answers. */
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DAEMON_ROLES } from '../../src/api/daemon-roles.ts'
import { SETTINGS } from '../../src/settings/settings.ts'
import { type PostgresServer, startPostgres } from '../store/postgres-server.ts'
import { type Daemon, startDaemon } from '../support/daemon.ts'
import { describeOnSqliteAlone } from '../support/database.ts'
import { runs } from '../support/runs.ts'
import { commandLine } from './command-line.ts'

const cli = commandLine()
const started = await startPostgres()
const server = started as PostgresServer
const ENCRYPTION_KEY = Buffer.alloc(32, 9).toString('base64')
const POLL = { timeout: 60_000, interval: 20 }

it('The setting role takes the roles of the API', () => {
  expect(SETTINGS.role.choices).toEqual([...DAEMON_ROLES])
})

describeOnSqliteAlone('The role', 'other daemons cannot share it', () => {
  const ASKED: [role: string, args: string[], env: Record<string, string>][] = [
    ['worker', [], { SVC_ROLE: 'worker' }],
    ['api', ['--role', 'api'], {}],
  ]
  it.each(ASKED.slice(0, runs(1, 2)))(
    '%s is refused before anything is created, with the way out',
    { tags: 'sampled' },
    async (role, args, env) => {
      const { exitCode, stderr, stdout } = await cli.spawned(['serve', '--port', '0', ...args], { env })
      expect([exitCode, stdout]).toEqual([2, ''])
      expect(stderr).toContain(`role ${role} needs PostgreSQL`)
      expect(stderr).toContain('SVC_DATABASE_URL')
      expect((await cli.svc(['config', 'list', '--json'])).exitCode).toBe(0)
    },
  )
})

it('An unknown role is refused with the list of roles, and the svc.json of a folder never chooses one', async () => {
  const unknown = await cli.spawned(['serve', '--role', 'both'])
  expect([unknown.exitCode, unknown.stderr]).toEqual([2, expect.stringContaining('api or worker or all')])
  cli.file('svc.json', JSON.stringify({ role: 'api' }))
  await cli.refused(['status'], 'role', 2, { cwd: cli.home })
  cli.file('svc.json', '{}')
})

describe.skipIf('missing' in started)('On PostgreSQL', () => {
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
    await Promise.all([api, worker].map((daemon) => daemon?.stop('SIGKILL')))
  })

  const env = (more: Record<string, string> = {}) => ({
    SVC_DATABASE_URL: url,
    SVC_ENCRYPTION_KEY: ENCRYPTION_KEY,
    ...more,
  })
  const workerFolder = join(cli.home, 'worker')
  let worker: Daemon
  /** One for the tests that need it, which come after those of an api daemon alone. */
  const startWorker = async (): Promise<Daemon> => {
    mkdirSync(workerFolder, { recursive: true, mode: 0o700 })
    const flags = ['--role', 'worker', '--url', node]
    worker ??= await startDaemon({ dataDir: workerFolder, flags, env: env() })
    return worker
  }
  const readyOf = async (daemon: Daemon) => {
    const { status, json } = await daemon.request('GET', '/ready', { key: null })
    return { status, ...json.data }
  }
  const workersOf = async (daemon: Daemon) => (await daemon.request('GET', '/v2/health/workers')).json.data

  it('an api daemon is ready without workers, and reports that none runs', async () => {
    await expect
      .poll(() => readyOf(api), POLL)
      .toMatchObject({
        ...{ status: 200, ready: true, role: 'api' },
        checks: { database: 'ok', rpc: 'ok' },
      })
    expect((await readyOf(api)).checks).not.toHaveProperty('workers')
    const { role, all_healthy, workers } = await workersOf(api)
    expect([role, all_healthy, workers.length]).toEqual(['api', false, 5])
    for (const worker of workers) {
      expect(worker).toMatchObject({
        ...{ running: false, last_tick_at: null, ticks_total: 0 },
        stalled_reason: 'no daemon has run it ever: start one with the role worker or all',
      })
    }
  })

  it('a worker daemon serves health, readiness and metrics, and names its role for every other path', async () => {
    const worker = await startWorker()
    expect((await worker.request('GET', '/v2/health', { key: null })).json.data.status).toBe('healthy')
    await expect
      .poll(() => readyOf(worker), POLL)
      .toMatchObject({
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
    const healthy = { running: true, last_tick_at: expect.any(String), stalled_reason: null }
    await expect.poll(() => workersOf(api), POLL).toMatchObject({ all_healthy: true, workers: Array(5).fill(healthy) })
  })

  it('status and doctor show the role; a command beside a worker daemon works in its own process', async () => {
    const worker = await startWorker()
    const here = env({ SVC_DATA_DIR: workerFolder, SVC_URL: node })
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
