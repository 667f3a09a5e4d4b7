/** A variable with a typing mistake is reported, and variables of other programs are not. */
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { knownVariables, unknownVariables } from '../../commands/cli/environment-names.ts'
import { requiredSetting } from '../../src/chain/signer/settings.ts'
import { environmentName, howToSet, loadConfig, SETTINGS, type SettingName } from '../../src/settings/config.ts'
import { commandLine } from './command-line.ts'

const cli = commandLine()
const { svc } = cli

describe('An environment variable', () => {
  it('that svc does not know is reported once on stderr with the nearest name, without its value', async () => {
    const env = { SVC_APIKEY: 'sk_live_hidden', SVC_OUTPT: 'json', SVC_WEATHER_IN_BERN: 'rain' }
    const { exitCode, stdout, stderr } = await svc(['config', 'path'], { env })
    expect(exitCode).toBe(0)
    expect(stderr).toBe(
      'warning: SVC_APIKEY is not read: did you mean SVC_API_KEY?\n' +
        'warning: SVC_OUTPT is not read: did you mean SVC_OUTPUT?\n',
    )
    expect(stdout).not.toContain('SVC_')
  })

  it('that svc does not know is not reported to a program that reads JSON', async () => {
    const env = { SVC_APIKEY: 'x' }
    expect(await svc(['config', 'path', '--json'], { env })).toMatchObject({ exitCode: 0, stderr: '' })
    expect(await svc(['config', 'path'], { env: { ...env, SVC_OUTPUT: 'json' } })).toMatchObject({ stderr: '' })
  })

  it('that is empty leaves its setting unset', async () => {
    const named = (Object.keys(SETTINGS) as SettingName[]).filter((name) => name !== 'data-dir')
    const empty = Object.fromEntries(
      named.flatMap((name) => [environmentName(name), `${environmentName(name)}_FILE`]).map((name) => [name, '']),
    )
    const others = { SVC_API_KEY: '', SVC_PROFILE: '', SVC_WALLET_PASSPHRASE_FILE: '', CI: '', NO_COLOR: '', HOME: '' }
    const listed = async (env: Record<string, string>) => {
      const { exitCode, stdout, stderr } = await svc(['config', 'list', '--json'], { env })
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
      return JSON.parse(stdout)
    }
    expect(await listed({ ...empty, ...others, HOME: cli.home })).toEqual(await listed({}))
  })

  it('that is empty is named in errors about a missing secret', () => {
    const env = { SVC_SIGNER: 'keypair', SVC_SIGNER_KEYPAIR: '', SVC_ENCRYPTION_KEY_FILE: '', HOME: cli.home }
    const config = loadConfig({ env, cwd: cli.home })
    expect(config.emptyVariables).toEqual(['SVC_SIGNER_KEYPAIR', 'SVC_ENCRYPTION_KEY_FILE'])
    expect(() => requiredSetting(config, 'signer.keypair')).toThrow(
      'signer.keypair is missing: signer keypair needs it; SVC_SIGNER_KEYPAIR is set but empty: give it a value',
    )
    expect(howToSet(config, 'encryption-key')).toContain('SVC_ENCRYPTION_KEY_FILE is set but empty')
    expect(howToSet(config, 's3.secret-access-key')).toBe('set SVC_S3_SECRET_ACCESS_KEY')
  })

  it('that svc does not know is in the answer of svc doctor, even without a near name', async () => {
    const env = { SVC_APIKEY: 'sk_live_hidden', SVC_WEATHER_IN_BERN: 'rain' }
    const { stdout, stderr } = await svc(['doctor', '--json'], { env })
    const checks: { check: string }[] = JSON.parse(stdout)
    expect(checks.filter(({ check }) => check === 'environment')).toEqual([
      { check: 'environment', status: 'warn', detail: 'SVC_APIKEY is not read', fix: 'did you mean SVC_API_KEY?' },
      {
        check: 'environment',
        status: 'warn',
        detail: 'SVC_WEATHER_IN_BERN is not read',
        fix: 'unset SVC_WEATHER_IN_BERN, or see docs/configuration.md for the names',
      },
    ])
    expect(stdout + stderr).not.toMatch(/sk_live_hidden|rain/)
  })

  it('is reported in few short lines without control characters', async () => {
    const hostile = { 'SVC_OUTPUT\u001b[31m': 'x', [`SVC_OUTPUT${'S'.repeat(500)}`]: 'x' }
    const many = Object.fromEntries(
      Array.from({ length: 26 }, (_, i) => [`SVC_OUTPUT${String.fromCharCode(65 + i)}`, 'x']),
    )
    const { stderr } = await svc(['config', 'path'], { env: { ...many, ...hostile } })
    expect(stderr.match(/^warning: /gm)).toHaveLength(5)
    const alone = await svc(['config', 'path'], { env: hostile })
    expect(alone.stderr).not.toContain('\u001b')
    for (const line of alone.stderr.split('\n')) expect(line.length).toBeLessThan(160)
  })

  it('that is known is not reported: settings, their files, tests, builds, examples and Kubernetes', () => {
    const others = [
      ...knownVariables(),
      ...['SVC_TEST_S3_BUCKET', 'SVC_BUILD_CODE', 'SVC_SOAK_SEED', 'SVC_BENCH_COSTS', 'SVC_PROFILE', 'SVC_VERSION'],
      ...['SVC_KEYPAIR', 'SVC_PAGER', 'SVC_JUNIT', 'PATH', 'SVCX'],
      ...['SVC_SERVICE_HOST', 'SVC_SERVICE_PORT_HTTP', 'SVC_PORT_8787_TCP_ADDR', 'SVC_API_SERVICE_PORT'],
    ]
    expect(unknownVariables(Object.fromEntries(others.map((name) => [name, 'x'])))).toEqual([])
    expect(unknownVariables({ SVC_DATABASE_URL_FIL: 'x', SVC_PORT: '1' })).toEqual(['SVC_DATABASE_URL_FIL'])
  })

  it('in the sources has a known name', () => {
    const folder = new URL('../../', import.meta.url)
    const files = ['bin', 'commands', 'daemon', 'src'].flatMap((room) =>
      readdirSync(new URL(room, folder), { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts'))
        .map((file) => readFileSync(new URL(`${room}/${file}`, folder), 'utf8')),
    )
    const names = files.flatMap((text) => text.match(/\benv(?:ironment\(\))?\.SVC_[A-Z0-9_]+|'SVC_[A-Z0-9_]+'/g) ?? [])
    const read = new Set(names.map((name) => /SVC_[A-Z0-9_]+/.exec(name)?.[0] ?? ''))
    expect(read).toContain('SVC_API_KEY')
    expect(unknownVariables(Object.fromEntries([...read].map((name) => [name, 'x'])))).toEqual([])
  })

  it('with a wrong value is named in the error, and an unknown setting with the nearest name', async () => {
    await cli.refused(['config', 'list'], 'output (SVC_OUTPUT) must be one of', 2, { env: { SVC_OUTPUT: 'yaml' } })
    const unknown = await svc(['config', 'set', 'ouput', 'json'])
    expect(unknown.exitCode).toBe(2)
    expect(unknown.stderr).toContain('next: did you mean `svc config set output json`?')
    cli.file('svc.json', '{ "ouput": "json" }', 0o600)
    const project = await svc(['config', 'list'], { cwd: cli.home })
    expect(project.exitCode).toBe(2)
    expect(project.stderr).toContain('unknown setting: ouput')
    expect(project.stderr).toContain('next: did you mean `output`?')
  })
})
