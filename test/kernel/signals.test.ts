/** Signals of a daemon without a terminal, as systemd and Kubernetes run it: reloading, and the second one at its end. */
import { expect, it } from 'vitest'
import { SETTINGS, type Setting, type SettingName } from '../../src/settings/config.ts'
import { commandLine } from '../cli/command-line.ts'
import { detachedDaemon } from '../support/detached-daemon.ts'

const cli = commandLine()

it('a daemon reloads its settings at SIGHUP, drains at SIGTERM, and ends at once at a second one', async () => {
  const profile = { 'log-level': 'info', 'rate-per-minute': 60 }
  const { daemon, dataDir, setProfile, lines, hangUp } = await detachedDaemon(profile, { SVC_DRAIN_SECONDS: '300' })
  const newKeyLimit = async () => {
    const { status, json } = await daemon.request('POST', '/v2/api-keys', { body: { name: 'limits', scopes: [] } })
    return [status, json.data.rate_limit_per_minute]
  }
  expect(await newKeyLimit()).toEqual([201, 60])

  // An invalid setting changes nothing.
  setProfile({ 'log-level': 'info', 'rate-per-minute': 90, 'rate-per-day': 'many' })
  hangUp()
  await expect.poll(() => lines('settings were not reloaded')).toHaveLength(1)
  expect(lines('settings were not reloaded')[0]?.err?.message).toContain(
    'rate-per-day (profile) must be a whole number',
  )
  expect(await newKeyLimit()).toEqual([201, 60])

  // The log names those that need a restart.
  setProfile({ 'log-level': 'warn', 'rate-per-minute': 90, 'idempotency-hours': 48 })
  hangUp()
  await expect
    .poll(() => lines('settings reloaded'))
    .toMatchObject([{ applied: ['rate-per-minute', 'log-level'], needs_restart: ['idempotency-hours'] }])
  expect(await newKeyLimit()).toEqual([201, 90])
  // Back from a level that shows no reload: the line comes at the new level.
  setProfile({ 'log-level': 'debug' })
  hangUp()
  await expect.poll(() => lines('settings reloaded')).toHaveLength(2)
  expect(await newKeyLimit()).toEqual([201, 120])

  // `svc config set` names the command that reloads, or a restart; `svc config reload` reports what it did.
  const env = { HOME: dataDir, XDG_CONFIG_HOME: '', SVC_DATA_DIR: dataDir }
  const { pid } = daemon.process
  const svc = (...words: string[]) => cli.svc(['config', ...words], { env })
  expect((await svc('set', 'rate-per-minute', '30')).stderr).toContain('`svc config reload` changes that')
  expect((await svc('set', 'idempotency-hours', '48')).stderr).toContain(`stop it (kill ${pid}) and start it again`)
  const reloaded = await svc('reload')
  expect(reloaded.stdout).toBe(`The daemon at ${daemon.url} now uses the new rate-per-minute.\n`)
  expect(reloaded.stderr).toContain(`idempotency-hours: after a restart (kill ${pid}, and start it again)`)
  expect(await newKeyLimit()).toEqual([201, 30])
  expect(await newKeyLimit()).toEqual([201, 30])
  expect(daemon.process.exitCode).toBeNull()

  daemon.process.kill('SIGTERM')
  await expect.poll(async () => (await fetch(`${daemon.url}/ready`)).status).toBe(503)
  expect(lines('shutting down')).toHaveLength(1)
  await daemon.stop('SIGTERM')
  expect(daemon.process.exitCode).toBe(143)
  expect(await svc('reload')).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('no daemon runs on ') })
})

it('SIGHUP reloads no secret, no setting of the signer and no place of data', () => {
  const reloaded = (Object.keys(SETTINGS) as SettingName[]).filter((name) => (SETTINGS[name] as Setting).reload)
  expect(reloaded).toContain('log-level')
  const fixed = reloaded.filter((name) => {
    const { secret, private: isPrivate }: Setting = SETTINGS[name]
    return secret || isPrivate || /^(?:signer|storage|database|data-dir|host|port|role)/.test(name)
  })
  expect(fixed).toEqual([])
})
