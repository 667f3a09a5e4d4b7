/** Signals of a daemon without a terminal, as systemd and Kubernetes run it: reloading and draining. */
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { Agent, request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { execa } from 'execa'
import { describe, expect, it, onTestFinished } from 'vitest'
import { SETTINGS, type Setting, type SettingName } from '../../src/settings/config.ts'
import { ROOT } from '../../tools/source.ts'
import { commandLine } from '../cli/command-line.ts'
import { type Daemon, startDaemon } from '../support/daemon.ts'
import { temporaryFolder } from '../support/service.ts'

const cli = commandLine()

interface Line {
  msg: string
  level: unknown
  applied?: string[]
  needs_restart?: string[]
  err?: { message: string }
}

/** A daemon of its own session with the profile that its home holds, and the lines of its log. */
async function detachedDaemon(settings: Record<string, unknown>, env: Record<string, string> = {}) {
  const dataDir = temporaryFolder()
  const setProfile = (profile: unknown) => {
    const folder = join(dataDir, '.config', 'svc')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'profiles.json'), JSON.stringify({ current: 'default', profiles: { default: profile } }))
  }
  setProfile(settings)
  let text = ''
  const onLog = (more: string) => {
    text += more
  }
  const flags = ['--rpc-port', '0']
  // An empty variable counts as none, so that the level is the profile's.
  const daemon = await startDaemon({ dataDir, flags, detached: true, onLog, env: { SVC_LOG_LEVEL: '', ...env } })
  onTestFinished(() => daemon.stop('SIGKILL'))
  const lines = (msg: string): Line[] =>
    text
      .split('\n')
      .slice(0, -1)
      // The notes of the command stand between the lines of the log.
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Line)
      .filter((line) => line.msg.includes(msg))
  return { daemon, dataDir, setProfile, lines, hangUp: () => daemon.process.kill('SIGHUP') }
}

const newKeyLimit = async ({ request }: Daemon) => {
  const { status, json } = await request('POST', '/v2/api-keys', { body: { name: 'limits', scopes: [] } })
  return [status, json.data.rate_limit_per_minute]
}

describe('SIGHUP', () => {
  it('has a running daemon take up the settings that may change, and says which need a restart', async () => {
    const { daemon, setProfile, lines, hangUp } = await detachedDaemon({ 'log-level': 'info', 'rate-per-minute': 60 })
    expect(await newKeyLimit(daemon)).toEqual([201, 60])
    setProfile({ 'log-level': 'warn', 'rate-per-minute': 90, 'idempotency-hours': 48 })
    hangUp()
    await expect
      .poll(() => lines('settings reloaded'))
      .toMatchObject([{ applied: ['rate-per-minute', 'log-level'], needs_restart: ['idempotency-hours'] }])
    expect(await newKeyLimit(daemon)).toEqual([201, 90])
    // Back from a level that shows no reload: the line comes at the new level.
    setProfile({ 'log-level': 'debug' })
    hangUp()
    await expect.poll(() => lines('settings reloaded')).toHaveLength(2)
    expect(await newKeyLimit(daemon)).toEqual([201, 120])
    expect(daemon.process.exitCode).toBeNull()
    await daemon.stop()
    expect(daemon.process.exitCode).toBe(0)
    expect(lines('shutting down')).toHaveLength(1)
  })

  it('that arrives while a daemon starts does not end it, and has it reload once it listens', async () => {
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

  it('is what `svc config set` names for a setting that it reloads, and a restart for any other', async () => {
    const { daemon, dataDir } = await detachedDaemon({})
    const env = { HOME: dataDir, SVC_DATA_DIR: dataDir }
    const { pid } = daemon.process
    const set = async (name: string, value: string) => (await cli.svc(['config', 'set', name, value], { env })).stderr
    expect(await set('log-level', 'warn')).toContain(`kill -HUP ${pid}`)
    const other = await set('idempotency-hours', '48')
    expect(other).toContain(`stop it (kill ${pid}) and start it again`)
    expect(other).not.toContain('HUP')
  })

  it('leaves everything as it was where a setting is invalid', async () => {
    const { daemon, setProfile, lines, hangUp } = await detachedDaemon({ 'rate-per-minute': 60 })
    setProfile({ 'rate-per-minute': 90, 'rate-per-day': 'many' })
    hangUp()
    await expect.poll(() => lines('settings were not reloaded')).toHaveLength(1)
    expect(lines('settings were not reloaded')[0]?.err?.message).toContain(
      'rate-per-day (profile) must be a whole number',
    )
    expect(await newKeyLimit(daemon)).toEqual([201, 60])
  })

  it('reloads nothing that a secret, the signer or the place of the data says', () => {
    const reloaded = (Object.keys(SETTINGS) as SettingName[]).filter((name) => (SETTINGS[name] as Setting).reload)
    expect(reloaded).toContain('log-level')
    const fixed = reloaded.filter((name) => {
      const { secret, private: isPrivate }: Setting = SETTINGS[name]
      return secret || isPrivate || /^(?:signer|storage|database|data-dir|host|port|role)/.test(name)
    })
    expect(fixed).toEqual([])
  })
})

describe('SIGTERM with drain-seconds', () => {
  it('turns /ready first, answers on for that time, and closes each connection after its answer', async () => {
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
    expect(await newKeyLimit(daemon)).toEqual([201, 120])
    expect(await gone).toEqual([0, null])
  })

  it('is cut short by a second signal', async () => {
    const { daemon } = await detachedDaemon({}, { SVC_DRAIN_SECONDS: '300' })
    daemon.process.kill('SIGTERM')
    await expect.poll(async () => (await fetch(`${daemon.url}/ready`)).status).toBe(503)
    await daemon.stop('SIGTERM')
    expect(daemon.process.exitCode).toBe(143)
  })
})
