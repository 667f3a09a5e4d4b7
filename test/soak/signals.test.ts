/** Signals of a daemon at its two ends: SIGHUP while it starts, and what it answers while it drains. */
import { once } from 'node:events'
import { Agent, request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { execa } from 'execa'
import { expect, it, onTestFinished } from 'vitest'
import { ROOT } from '../../tools/source.ts'
import { detachedDaemon } from '../support/detached-daemon.ts'

it('SIGHUP that arrives while a daemon starts does not end it, and makes it reload once it listens', async () => {
  const script = `
    import { once } from 'node:events'
    const { listenForHangups } = await import(${JSON.stringify(join(ROOT, 'daemon/hangup.ts'))})
    const hangups = listenForHangups()
    // Waiting for a signal alone keeps no process alive.
    const timer = setInterval(() => {}, 60_000)
    const arrived = once(process, 'SIGHUP')
    process.kill(process.pid, 'SIGHUP')
    await arrived
    hangups.onReload(() => console.log(hangups.meaning))
    clearInterval(timer)
  `
  const args = ['--import', 'tsx', '--input-type=module', '--eval', script]
  const { exitCode, stdout } = await execa(process.execPath, args, { cwd: ROOT, detached: true, reject: false })
  expect([exitCode, stdout]).toEqual([0, 'reload'])
})

it('SIGTERM with drain-seconds makes /ready fail first, answers until the time is over, and closes each connection after its answer', async () => {
  const { daemon } = await detachedDaemon({}, { SVC_DRAIN_SECONDS: '3' })
  expect((await fetch(`${daemon.url}/ready`)).status).toBe(200)
  const agent = new Agent({ keepAlive: true })
  onTestFinished(() => agent.destroy())
  const asked = async (path: string) => {
    const sent = httpRequest(`${daemon.url}${path}`, { agent }).end()
    const [response] = await once(sent, 'response')
    let text = ''
    for await (const chunk of response) text += chunk
    return { status: response.statusCode, connection: response.headers.connection, body: JSON.parse(text) }
  }
  expect(await asked('/v2/health')).toMatchObject({ status: 200, connection: 'keep-alive' })
  const gone = once(daemon.process, 'exit')
  daemon.process.kill('SIGTERM')
  await expect.poll(async () => (await asked('/ready')).status).toBe(503)
  const refused = await asked('/ready')
  expect(refused).toMatchObject({ connection: 'close', body: { data: { ready: false } } })
  expect(Object.keys(refused.body.data.reasons)).toEqual(['shutdown'])
  expect(await asked('/v2/health')).toMatchObject({ status: 200, connection: 'close' })
  const made = await daemon.request('POST', '/v2/api-keys', { body: { name: 'limits', scopes: [] } })
  expect([made.status, made.json.data.rate_limit_per_minute]).toEqual([201, 120])
  expect(await gone).toEqual([0, null])
})
