/** How a daemon ends while others hang: in order within ten seconds, and at once on a second signal. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Daemon, startDaemon } from '../support/daemon.ts'
import { HANGS, openHostileNode } from '../support/hostile-node.ts'
import { startReceiver } from '../support/receiver.ts'
import { temporaryFolder } from '../support/service.ts'

const MINT = 'So11111111111111111111111111111111111111112'
const LIMIT_MS = 10_000

async function daemonAt(dataDir: string, url: string, flags: string[] = []): Promise<Daemon> {
  const daemon = await startDaemon({ dataDir, flags: ['--url', url, ...flags] })
  onTestFinished(() => daemon.stop('SIGKILL'))
  return daemon
}

/** Milliseconds from the signal until the process is gone. */
async function ended(daemon: Daemon, signal: NodeJS.Signals): Promise<number> {
  const began = performance.now()
  await daemon.stop(signal)
  return performance.now() - began
}

describe('SIGTERM while a node hangs', () => {
  it.each(HANGS)(
    '%s ends the daemon within ten seconds, and answers requests under way',
    async (where) => {
      const node = await openHostileNode({ kind: 'hangs', where })
      const dataDir = temporaryFolder()
      const daemon = await daemonAt(dataDir, node.url)
      const waiting = daemon.request('GET', `/v2/tokens/${MINT}`)
      await expect.poll(() => node.asked.length).toBeGreaterThan(0)
      const stopped = ended(daemon, 'SIGTERM')
      const { status, json } = await waiting
      expect([status, json.error.code]).toEqual([500, 'internal_error'])
      expect(json.error.message).toContain('the service is shutting down')
      expect(await stopped).toBeLessThan(LIMIT_MS)
      expect([daemon.process.exitCode, existsSync(join(dataDir, 'daemon.json'))]).toEqual([0, false])
    },
    40_000,
  )

  it('ends the daemon at once if a second signal comes', async () => {
    const node = await openHostileNode({ kind: 'hangs', where: 'after accept' })
    const daemon = await daemonAt(temporaryFolder(), node.url)
    const waiting = daemon.request('GET', `/v2/tokens/${MINT}`).catch(() => undefined)
    await expect.poll(() => node.asked.length).toBeGreaterThan(0)
    daemon.process.kill('SIGTERM')
    // It has heard the first one when it takes nothing new any more.
    await expect
      .poll(() =>
        fetch(`${daemon.url}/v2/health`).then(
          () => true,
          () => false,
        ),
      )
      .toBe(false)
    expect(await ended(daemon, 'SIGINT')).toBeLessThan(2_000)
    expect(daemon.process.exitCode).toBe(130)
    await waiting
  }, 40_000)
})

it('a read from a node that hangs is answered with the cause before a client gives up', async () => {
  const node = await openHostileNode({ kind: 'hangs', where: 'in mid-body' })
  const daemon = await daemonAt(temporaryFolder(), node.url)
  const began = performance.now()
  const { status, json } = await daemon.request('GET', `/v2/tokens/${MINT}`)
  // A call to a node ends after eight seconds; a client waits for thirty.
  expect(performance.now() - began).toBeLessThan(30_000)
  expect(status).toBe(500)
  expect(json.error.message).toMatch(
    /The RPC node of 127\.0\.0\.1:\d+, from \S+, cannot be reached \(no answer in time\)$/,
  )
}, 40_000)

it('a delivery that hangs at the end does not delay it, and is repeated after the next start', async () => {
  const node = await openHostileNode({ kind: 'answers' })
  const dataDir = temporaryFolder()
  const flags = ['--data-dir', dataDir]
  const env = { SVC_WEBHOOKS_ALLOW_PRIVATE: 'true', SVC_URL: node.url }
  const start = () => startDaemon({ dataDir, flags, env })
  const receiver = await startReceiver(() => 0)
  const first = await start()
  onTestFinished(() => first.stop('SIGKILL'))
  const made = await first.request('POST', '/v2/webhook-subscriptions', {
    body: { url: receiver.url, enabled_events: ['webhook.test_event'] },
  })
  expect(made.status).toBe(201)
  const { id } = made.json.data
  expect((await first.request('POST', `/v2/webhook-subscriptions/${id}/test`)).status).toBe(200)
  await expect.poll(() => receiver.all.length, { timeout: 10_000 }).toBe(1)
  expect(await ended(first, 'SIGTERM')).toBeLessThan(LIMIT_MS)
  receiver.answer = () => 200
  const second = await start()
  onTestFinished(() => second.stop('SIGKILL'))
  await expect.poll(() => receiver.all.length, { timeout: 30_000 }).toBe(2)
  expect(receiver.all[1]!.id).toBe(receiver.all[0]!.id)
  const deliveries = async () =>
    (await second.request('GET', `/v2/webhook-subscriptions/${id}/deliveries`)).json.data as { attempt: number }[]
  await expect.poll(deliveries).toMatchObject([{ attempt: 1, status: 'succeeded' }])
}, 60_000)
