/** A daemon on a database that was written by a clock a year ahead: it works, and logs the implausible times. */
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, it, onTestFinished } from 'vitest'
import { startDaemon } from '../support/daemon.ts'
import { startReceiver } from '../support/receiver.ts'
import { temporaryFolder } from '../support/service.ts'

const YEAR = 365 * 86_400_000

it('a daemon on a database of a clock a year ahead delivers within seconds, is ready, and logs the clock', async () => {
  const dataDir = temporaryFolder()
  const env = { SVC_WEBHOOKS_ALLOW_PRIVATE: 'true' }
  const receiver = await startReceiver()
  const first = await startDaemon({ dataDir, env })
  onTestFinished(() => first.stop('SIGKILL'))
  const made = await first.request('POST', '/v2/webhook-subscriptions', {
    body: { url: receiver.url, enabled_events: ['webhook.test_event'] },
  })
  const test = `/v2/webhook-subscriptions/${made.json.data.id}/test`
  expect((await first.request('POST', test)).status).toBe(200)
  await expect.poll(() => receiver.all.length, { timeout: 15_000 }).toBe(1)
  await first.stop()
  const database = new Database(join(dataDir, 'svc.db'))
  const ahead = Date.now() + YEAR
  // On another host: that it is gone cannot be seen from here.
  const leave = database.prepare("update leases set slot = ?, until = ?, owner = 'another-host/1/x'")
  expect(leave.run(ahead, ahead).changes).toBeGreaterThan(4)
  database.close()

  const daemon = await startDaemon({ dataDir, env })
  onTestFinished(() => daemon.stop('SIGKILL'))
  let log = ''
  daemon.process.stderr!.on('data', (text) => {
    log += text
  })
  expect((await daemon.request('POST', test)).status).toBe(200)
  await expect.poll(() => receiver.all.length, { timeout: 15_000 }).toBe(2)
  const health = async () => (await daemon.request('GET', '/v2/health/workers')).json.data
  await expect.poll(health, { timeout: 30_000 }).toMatchObject({ all_healthy: true })
  expect((await daemon.request('GET', '/ready', { key: null })).json.data).toMatchObject({
    ...{ ready: true, checks: { workers: 'ok' } },
  })
  const metrics = await daemon.request('GET', '/metrics')
  expect(metrics.text).toMatch(/^svc_clock_faults_total\{what="lease"\} [1-9]/m)
  await expect.poll(() => log).toContain('implausibly far in the future')
}, 90_000)
