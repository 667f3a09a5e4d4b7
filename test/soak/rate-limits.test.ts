/** Rate limits over processes: exactly as many as the limit at any time and no wrong refusal, through kills and stops too. */
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { pause } from '../../src/platform/timing.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { type Daemon, startDaemon } from '../support/daemon.ts'
import { peak, type Seen, wasFull } from '../support/rolling-window.ts'
import { temporaryFolder } from '../support/service.ts'

const MINUTE = 60_000
const PER_MINUTE = 100
const ENCRYPTION_KEY = Buffer.alloc(32, 7).toString('base64')
/** Longer than one window: the first fills, and the next rolls. */
const RUN_MS = 75_000

const started = await startPostgres()

/** How long one that was refused waits before it asks again. */
const PAUSE_MS = 250

/** Keeps requests of the key under way until `end` or until their daemon is gone; status 0 is one without an answer. */
async function drive(daemons: readonly Daemon[], key: string, inFlight: number, end: number): Promise<Seen[]> {
  const seen: Seen[] = []
  const one = async (daemon: Daemon) => {
    while (Date.now() < end) {
      const sent = Date.now()
      const status = await daemon.request('GET', '/v2/pools', { key }).then(
        (answer) => answer.status,
        () => 0,
      )
      seen.push({ sent, answered: Date.now(), status })
      if (status === 0) return
      if (status === 429) await pause(PAUSE_MS)
    }
  }
  await Promise.all(Array.from({ length: inFlight }, (_, n) => one(daemons[n % daemons.length]!)))
  return seen
}

async function limitedKey(daemon: Daemon, perMinute: number): Promise<{ key: string; id: string }> {
  const body = { name: 'limited', rate_limit_per_minute: perMinute }
  return (await daemon.request('POST', '/v2/api-keys', { body })).json.data
}

describe('the rate limit of a key', () => {
  it.skipIf('missing' in started)(
    'admits exactly as many requests over three daemons on PostgreSQL in any minute, and refuses none while there is room',
    async () => {
      if ('missing' in started) return
      const url = await started.createDatabase()
      const env = { SVC_DATABASE_URL: url, SVC_ENCRYPTION_KEY: ENCRYPTION_KEY }
      const daemons: Daemon[] = []
      onTestFinished(async () => void (await Promise.all(daemons.map((daemon) => daemon.stop()))))
      while (daemons.length < 3) {
        daemons.push(await startDaemon({ dataDir: temporaryFolder(), flags: ['--rpc-port', '0'], env }))
      }
      const { key, id } = await limitedKey(daemons[0]!, PER_MINUTE)
      const from = Date.now()
      const seen = await drive(daemons, key, 64, from + RUN_MS)

      const observer = new pg.Client({ connectionString: url })
      await observer.connect()
      const { rows } = await observer.query(
        'select at, count, total from rate_hits where api_key_id = $1 order by at',
        [id],
      )
      await observer.end()
      const stamps = rows.flatMap(({ at, count }) => Array.from({ length: Number(count) }, () => Number(at)))
      const admitted = seen.filter(({ status }) => status === 200)
      const refused = seen.filter(({ status }) => status === 429)
      expect(admitted.length + refused.length).toBe(seen.length)
      // Every admitted request has one stamp, within the time that it was under way.
      expect(stamps).toHaveLength(admitted.length)
      const [sents, answers] = [admitted.map(({ sent }) => sent), admitted.map(({ answered }) => answered)].map(
        (times) => times.toSorted((a, b) => a - b),
      )
      for (const [n, stamp] of stamps.entries()) {
        expect(stamp).toBeGreaterThanOrEqual(sents![n]! - 1)
        expect(stamp).toBeLessThanOrEqual(answers![n]! + 1)
      }
      expect(peak(stamps, MINUTE)).toBe(PER_MINUTE)
      // So many requests take a free place at once.
      expect(admitted.length).toBeGreaterThan(1.5 * PER_MINUTE)
      expect(refused.filter((one) => !wasFull(stamps, one, { limit: PER_MINUTE, windowMs: MINUTE }))).toEqual([])
      process.stdout.write(`  ${admitted.length} admitted, ${refused.length} refused in ${RUN_MS / 1000} s\n`)
    },
  )

  it('lets no more pass in a minute on SQLite although the daemon is killed again and again', async () => {
    const dataDir = temporaryFolder()
    const start = () => startDaemon({ dataDir, flags: ['--rpc-port', '0'] })
    let daemon = await start()
    onTestFinished(() => daemon.stop('SIGKILL'))
    const { key } = await limitedKey(daemon, PER_MINUTE)
    const seen: Seen[] = []
    const from = Date.now()
    while (Date.now() < from + 65_000) {
      const driven = drive([daemon], key, 16, Date.now() + MINUTE)
      await pause(1_500)
      await daemon.stop('SIGKILL')
      seen.push(...(await driven))
      daemon = await start()
    }
    const admitted = seen.filter(({ status }) => status === 200)
    expect(seen.some(({ status }) => status === 429)).toBe(true)
    expect(seen.some(({ status }) => status === 0)).toBe(true)
    // What was sent after a moment and answered within a minute of it was decided within that minute.
    for (const { sent } of admitted) {
      const within = admitted.filter((one) => one.sent >= sent && one.answered < sent + MINUTE)
      expect(within.length).toBeLessThanOrEqual(PER_MINUTE)
    }
  }, 300_000)

  it('still refuses once a daemon on SQLite was stopped and has started again', async () => {
    const dataDir = temporaryFolder()
    const first = await startDaemon({ dataDir })
    const { key } = await limitedKey(first, 20)
    await Promise.all(Array.from({ length: 20 }, () => first.request('GET', '/v2/pools', { key })))
    await first.stop('SIGTERM')
    const second = await startDaemon({ dataDir })
    onTestFinished(() => second.stop())
    expect((await second.request('GET', '/v2/pools', { key })).status).toBe(429)
  })
})
