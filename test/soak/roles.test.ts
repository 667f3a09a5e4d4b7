/** Daemons with the roles api and worker on one PostgreSQL database: deliveries of what another wrote, and kills. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type PostgresServer, startPostgres } from '../store/postgres-server.ts'
import { type Daemon, startDaemon } from '../support/daemon.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { makeFolder, removeFolder, temporaryFolder } from '../support/service.ts'

const started = await startPostgres()
const server = started as PostgresServer
const ENCRYPTION_KEY = Buffer.alloc(32, 9).toString('base64')
const EVENTS = 100
const POLL = { timeout: 60_000, interval: 1 }

describe.skipIf('missing' in started)('daemons with the roles api and worker', () => {
  const folder = makeFolder()
  let url: string
  let api: Daemon
  let node: string
  const env = () => ({
    SVC_DATABASE_URL: url,
    SVC_ENCRYPTION_KEY: ENCRYPTION_KEY,
    SVC_WEBHOOKS_ALLOW_PRIVATE: 'true',
  })
  beforeAll(async () => {
    url = await server.createMigratedDatabase()
    api = await startDaemon({ dataDir: folder, flags: ['--role', 'api', '--rpc-port', '0'], env: env() })
    node = JSON.parse(readFileSync(join(folder, 'daemon.json'), 'utf8')).rpc_url
  })
  afterAll(async () => {
    await api.stop()
    removeFolder(folder)
  })

  async function startWorker(): Promise<Daemon> {
    const flags = ['--role', 'worker', '--url', node]
    const daemon = await startDaemon({ dataDir: temporaryFolder(), flags, env: env() })
    onTestFinished(() => daemon.stop('SIGKILL'))
    return daemon
  }

  /** Has the receiver told of a test event; resolves once the event is committed. */
  async function subscribed(receiver: Receiver): Promise<() => Promise<number>> {
    const body = { url: receiver.url, enabled_events: ['*'] }
    const { json } = await api.request('POST', '/v2/webhook-subscriptions', { body })
    onTestFinished(async () => void (await api.request('DELETE', `/v2/webhook-subscriptions/${json.data.id}`)))
    return async () => {
      await api.request('POST', `/v2/webhook-subscriptions/${json.data.id}/test`, { body: {} })
      return Date.now()
    }
  }

  const percentile = (times: readonly number[], share: number) =>
    times.toSorted((a, b) => a - b)[Math.floor((times.length - 1) * share)]!

  it(`deliver ${EVENTS} events, each by another daemon than the one that wrote it`, async () => {
    const receiver = await startReceiver()
    const tell = await subscribed(receiver)
    await startWorker()
    await startWorker()
    const waits: number[] = []
    for (let n = 0; n < EVENTS; n++) {
      const committed = await tell()
      await expect.poll(() => receiver.all.length, POLL).toBe(n + 1)
      waits.push(receiver.all[n]!.at - committed)
    }
    const [median, most, longest] = [0.5, 0.95, 1].map((share) => percentile(waits, share))
    process.stdout.write(
      `  from the answer to the request on one daemon to the delivery by another: median ${median} ms, 95 % ${most} ms, longest ${longest} ms\n`,
    )
    expect(new Set(receiver.all.map(({ id }) => id)).size).toBe(EVENTS)
  })

  it('lose no event while workers are killed and their listening connections are cut', async () => {
    const receiver = await startReceiver()
    const tell = await subscribed(receiver)
    const observer = new pg.Client({ connectionString: url })
    await observer.connect()
    onTestFinished(() => observer.end())
    const cut = () =>
      observer.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'svc wake-ups'",
      )
    const workers = [await startWorker(), await startWorker()]
    for (let n = 0; n < 60; n++) {
      await tell()
      if (n % 10 === 3) await cut()
      if (n % 20 === 7) {
        await workers.shift()?.stop('SIGKILL')
        workers.push(await startWorker())
      }
    }
    await expect.poll(() => new Set(receiver.all.map(({ id }) => id)).size, { ...POLL, interval: 50 }).toBe(60)
    // First attempts of one resource keep their order, whoever makes them.
    const firsts = receiver.all.filter(({ id }, at, all) => all.findIndex((other) => other.id === id) === at)
    expect(firsts.map(({ sequence }) => sequence)).toEqual(
      firsts.map(({ sequence }) => sequence).toSorted((a, b) => a - b),
    )
  })
})
