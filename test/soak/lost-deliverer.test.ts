/** The daemon that delivers webhooks is killed or frozen: another one on its PostgreSQL database takes over. */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type PostgresServer, startPostgres } from '../store/postgres-server.ts'
import { type Daemon, startDaemon } from '../support/daemon.ts'
import { startReceiver } from '../support/receiver.ts'
import { temporaryFolder } from '../support/service.ts'

const ENCRYPTION_KEY = Buffer.alloc(32, 7).toString('base64')
const TAKEN_OVER_MS = 120_000
const LEASE_MS = 8_000

const started = await startPostgres()
const server = started as PostgresServer

describe.skipIf('missing' in started)('two daemons of one database', () => {
  let url: string
  let observer: pg.Client
  beforeAll(async () => {
    url = await server.createDatabase()
    observer = new pg.Client({ connectionString: url })
    await observer.connect()
  })
  afterAll(async () => {
    await observer.end()
  })

  async function pair() {
    const daemons: Daemon[] = []
    onTestFinished(async () => {
      for (const daemon of daemons) {
        daemon.process.kill('SIGCONT')
        await daemon.stop('SIGKILL')
      }
    })
    const env = { SVC_DATABASE_URL: url, SVC_ENCRYPTION_KEY: ENCRYPTION_KEY, SVC_WEBHOOKS_ALLOW_PRIVATE: 'true' }
    for (let n = 0; n < 2; n++)
      daemons.push(await startDaemon({ dataDir: temporaryFolder(), flags: ['--rpc-port', '0'], env }))
    return daemons
  }

  /** The process that holds the lease of the deliveries, and until when; undefined while none does. */
  async function deliverer(): Promise<{ pid: number; until: number } | undefined> {
    const { rows } = await observer.query(
      `select owner, until from leases where name = 'webhook-delivery' and until > 0`,
    )
    return rows[0] && { pid: Number(rows[0].owner.split('/')[1]), until: Number(rows[0].until) }
  }

  it.each(['SIGKILL', 'SIGSTOP'] as const)('go on delivering after the one that delivers gets %s', async (signal) => {
    const daemons = await pair()
    // It holds the lease as long as a receiver has a request of it that is not answered.
    let holding = true
    const receiver = await startReceiver(() => (holding ? 0 : 200))
    const body = { url: receiver.url, enabled_events: ['*'] }
    const asked = async (daemon: Daemon) =>
      (await daemon.request('POST', '/v2/webhook-subscriptions', { body })).json.data.id
    const id = await asked(daemons[0]!)
    await daemons[0]!.request('POST', `/v2/webhook-subscriptions/${id}/test`, { body: {} })
    await expect.poll(() => receiver.all.length, { timeout: 30_000 }).toBe(1)
    const first = (await deliverer())!
    const lost = daemons.find((daemon) => daemon.process.pid === first.pid)!
    const other = daemons.find((daemon) => daemon !== lost)!
    lost.process.kill(signal)
    holding = false
    const before = receiver.all.length
    // Another subscription: what the lost one had claimed for the first comes when its claim ends.
    const second = await asked(other)
    await other.request('POST', `/v2/webhook-subscriptions/${second}/test`, { body: {} })
    let next: Awaited<ReturnType<typeof deliverer>>
    const holder = async () => {
      next = await deliverer()
      return next?.pid
    }
    await expect.poll(holder, { timeout: TAKEN_OVER_MS, interval: 50 }).toBe(other.process.pid)
    // One that is gone from the same host is replaced before its lease would have ended.
    if (signal === 'SIGKILL') expect(next!.until - LEASE_MS).toBeLessThan(first.until)
    await expect.poll(() => receiver.all.length, { timeout: TAKEN_OVER_MS, interval: 50 }).toBeGreaterThan(before)
  })
})
