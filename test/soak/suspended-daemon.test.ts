/** A daemon that is stopped in the middle of a transaction: the others on its PostgreSQL database are told at once, and soon go on. */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type PostgresServer, startPostgres } from '../store/postgres-server.ts'
import { type Daemon, startDaemon } from '../support/daemon.ts'
import type { Answer } from '../support/request.ts'
import { temporaryFolder } from '../support/service.ts'

const ENCRYPTION_KEY = Buffer.alloc(32, 7).toString('base64')
/** Far below what a lock of a minute would take, far above what a loaded machine adds. */
const SOON_MS = 6_000

const started = await startPostgres()
const server = started as PostgresServer

describe.skipIf('missing' in started)('a daemon that is stopped while it holds locks', () => {
  let url: string
  let observer: pg.Client

  beforeAll(async () => {
    url = await server.createDatabase()
    observer = await connected()
  })
  afterAll(() => observer.end())

  async function connected(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: url })
    client.on('error', () => {})
    await client.connect()
    return client
  }

  async function daemons(): Promise<[Daemon, Daemon]> {
    const start = () =>
      startDaemon({
        dataDir: temporaryFolder(),
        flags: ['--rpc-port', '0'],
        env: { SVC_DATABASE_URL: url, SVC_ENCRYPTION_KEY: ENCRYPTION_KEY, SVC_WEBHOOKS_ALLOW_PRIVATE: 'true' },
      })
    const both: [Daemon, Daemon] = [await start(), await start()]
    onTestFinished(async () => {
      for (const daemon of both) {
        daemon.process.kill('SIGCONT')
        await daemon.stop('SIGKILL')
      }
    })
    return both
  }

  const read = async (text: string, values: unknown[] = []) =>
    Number((await observer.query(text, values)).rows[0].count)
  /** Process ids of the server's sessions that have this to say. */
  const sessions = async (where: string, values: unknown[] = []): Promise<number[]> => {
    const text = `select pid from pg_stat_activity where datname = current_database() and ${where}`
    return (await observer.query(text, values)).rows.map(({ pid }) => pid)
  }

  /** Stops the daemon once its request has locked its row and waits in `statement` to insert into `table`. */
  async function stopInside(daemon: Daemon, table: string, statement: string, ask: () => Promise<Answer>) {
    const blocker = await connected()
    await blocker.query(`begin; lock table ${table} in share row exclusive mode`)
    const asked = ask()
    const waiting = () => sessions("wait_event_type = 'Lock' and query like $1", [`%${statement}%`])
    await expect.poll(async () => (await waiting()).length, { interval: 5 }).toBe(1)
    const pids = await waiting()
    daemon.process.kill('SIGSTOP')
    await blocker.query('commit')
    await blocker.end()
    const idle = () => sessions("state = 'idle in transaction' and pid = any($1)", [pids])
    await expect.poll(idle, { interval: 5 }).toEqual(pids)
    return { asked }
  }

  /** What the other daemon answers while the row is locked, and once it is not any more. */
  async function throughTheStop(ask: () => Promise<Answer>) {
    const began = performance.now()
    const refused = await ask()
    const refusedMs = performance.now() - began
    expect([refused.status, refused.json.error?.code]).toEqual([500, 'internal_error'])
    expect(refused.json.error.message).toMatch(/^database is busy: /)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(refusedMs).toBeLessThan(SOON_MS)
    await expect.poll(async () => (await ask()).status, { timeout: 20_000, interval: 100 }).toBe(200)
  }

  it('on the row of a key is reported at once by the others, and does not delay them afterwards', async () => {
    const [stopped, other] = await daemons()
    const { json } = await stopped.request('POST', '/v2/api-keys', { body: { name: 'shared' } })
    const { key, id } = json.data
    let admitted = 0
    const list = async (daemon: Daemon) => {
      const answer = await daemon.request('GET', '/v2/pools', { key })
      if (answer.status === 200) admitted++
      return answer
    }
    await list(stopped)
    const { asked } = await stopInside(stopped, 'rate_hits', 'from admit_requests(', () => list(stopped))
    const began = performance.now()
    // A key without limits has no row to wait for.
    expect((await other.request('GET', '/v2/pools')).status).toBe(200)
    expect(performance.now() - began).toBeLessThan(SOON_MS / 3)
    await throughTheStop(() => list(other))
    stopped.process.kill('SIGCONT')
    expect((await asked).status).toBe(200)
    expect((await list(stopped)).status).toBe(200)
    expect(await read('select sum(count) as count from rate_hits where api_key_id = $1', [id])).toBe(admitted)
  })

  it('on the row of a record has its change undone, and repeats it after those of the others when it continues', async () => {
    const [stopped, other] = await daemons()
    const body = { url: 'http://127.0.0.1:9/hook', enabled_events: ['*'] }
    const { id } = (await stopped.request('POST', '/v2/webhook-subscriptions', { body })).json.data
    const path = `/v2/webhook-subscriptions/${id}`
    const { asked } = await stopInside(stopped, 'webhook_removals', 'insert into "webhook_removals"', () =>
      stopped.request('DELETE', path),
    )
    expect((await other.request('GET', path)).json.data.active).toBe(true)
    await throughTheStop(() => other.request('PATCH', path, { body: { active: false } }))
    expect((await other.request('GET', path)).json.data.active).toBe(false)
    stopped.process.kill('SIGCONT')
    const deleted = await asked
    expect([deleted.status, deleted.json.data]).toEqual([200, { id, deleted: true }])
    for (const daemon of [stopped, other]) expect((await daemon.request('GET', path)).status).toBe(404)
    expect(await read('select count(*) from webhook_removals')).toBe(1)
  })
})
