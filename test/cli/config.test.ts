/** Settings: flags over environment over project file over profile over default, and the profiles themselves. */
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { commandLine } from './command-line.ts'

const cli = commandLine()
const { svc } = cli
const project = join(cli.home, 'project')
mkdirSync(join(project, 'deep'), { recursive: true })
const get = async (name: string, args: string[] = [], options = {}) => {
  const { value, origin } = JSON.parse((await svc(['config', 'get', name, '--json', ...args], options)).stdout)
  return [value, origin]
}

describe('svc config', () => {
  it('takes a setting from the flag, else the environment, the project, the profile or the default', async () => {
    const cwd = join(project, 'deep')
    expect(await get('api', [], { cwd })).toEqual([null, 'default'])
    expect((await svc(['config', 'set', 'api', 'http://profile'])).exitCode).toBe(0)
    expect(await get('api', [], { cwd })).toEqual(['http://profile', 'profile'])
    writeFileSync(join(project, 'svc.json'), '{ "api": "http://project" }')
    expect(await get('api', [], { cwd })).toEqual(['http://project', 'project'])
    const env = { SVC_API: 'http://environment' }
    expect(await get('api', [], { cwd, env })).toEqual(['http://environment', 'environment'])
    expect(await get('api', ['--api', 'http://flag'], { cwd, env })).toEqual(['http://flag', 'flag'])
    expect((await svc(['config', 'unset', 'api'])).stdout).toContain('removed')
    expect(await get('api')).toEqual([null, 'default'])
  })

  it('stores profiles in the XDG folder, creates them on use and switches between them', async () => {
    const env = { XDG_CONFIG_HOME: join(cli.home, 'xdg') }
    expect((await svc(['config', 'set', 'output', 'plain', '--profile', 'scripts'], { env })).exitCode).toBe(0)
    const file = JSON.parse(readFileSync(join(cli.home, 'xdg', 'svc', 'profiles.json'), 'utf8'))
    expect(file).toEqual({ current: 'default', profiles: { scripts: { output: 'plain' } } })
    expect((await svc(['config', 'get', 'output'], { env })).stdout).toBe('table\n')
    expect((await svc(['config', 'get', 'output', '--profile', 'scripts'], { env })).stdout).toBe('plain\n')
    expect((await svc(['config', 'get', 'output'], { env: { ...env, SVC_PROFILE: 'scripts' } })).stdout).toBe('plain\n')
    await svc(['config', 'use', 'scripts'], { env })
    expect((await svc(['config', 'profiles'], { env })).stdout).toBe(
      'default\tfalse\t{}\nscripts\ttrue\t{"output":"plain"}\n',
    )
    const unknown = await svc(['config', 'list', '--profile', 'nobody'], { env })
    expect(unknown).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('there is no profile nobody (there are: scripts)'),
    })
    for (const unknown of [
      ['use', 'nobody'],
      ['get', 'nothing'],
    ])
      expect((await svc(['config', ...unknown], { env })).exitCode).toBe(2)
  })

  it('stores a relative path as an absolute one, and says so', async () => {
    const env = { XDG_CONFIG_HOME: join(cli.home, 'paths') }
    mkdirSync(join(cli.home, 'presets'))
    mkdirSync(join(cli.home, 'wallets'))
    for (const file of ['platform.json', 'presets/mine.json', 'wallets/id.json']) cli.file(file, '[]', 0o600)
    for (const [name, value, stored] of [
      ['signer.keypair', 'platform.json', join(cli.home, 'platform.json')],
      ['pools.presets', './presets/mine.json', join(cli.home, 'presets/mine.json')],
      ['keypair', 'wallets/../wallets/id.json', join(cli.home, 'wallets/id.json')],
    ]) {
      const { stdout, stderr } = await svc(['config', 'set', name!, value!], { env })
      expect(stdout).toBe(`${name} is ${stored} in the profile default.\n`)
      expect(stderr).toContain(`${value} is stored as an absolute path`)
    }
    for (const [name, value] of [
      ['keypair', 'treasury'],
      ['signer.keypair', join(cli.home, 'platform.json')],
    ]) {
      const set = await svc(['config', 'set', name!, value!], { env })
      expect([set.stdout, set.stderr]).toEqual([`${name} is ${value} in the profile default.\n`, ''])
    }
    await cli.refused(['config', 'set', 'signer.keypair', '[1,2,3]'], 'never the key itself', 2, { env })
  })

  it.each([
    [['config', 'set', 'port', '99999'], 2, 'port (svc config set) must be a whole number from 0 to 65535'],
    [['config', 'set', 'output', 'xml'], 2, 'must be one of table, json, plain'],
    [['config', 'set', 'colour', 'red'], 2, 'there is no setting colour'],
    [['config', 'set', 'database-url', 'postgres://u:hidden@h/d'], 2, 'set SVC_DATABASE_URL'],
    [['config', 'get', 'colour'], 2, 'there is no setting colour'],
  ])('refuses %j', async (args, exitCode, message) => {
    const refused = await svc(args)
    expect(refused).toMatchObject({ exitCode, stdout: '', stderr: expect.stringContaining(message) })
    expect(refused.stderr).not.toContain('hidden')
  })

  it('names the file and the setting that are invalid, and can still fix them', async () => {
    const cwd = join(cli.home, 'broken')
    mkdirSync(cwd)
    writeFileSync(join(cwd, 'svc.json'), '{ "prot": 1 }')
    await cli.refused(['pools', 'list'], 'svc.json has an unknown setting: prot', 2, { cwd })
    const doctor = await svc(['doctor', '-o', 'plain'], { cwd })
    expect(doctor).toMatchObject({ exitCode: 1, stdout: expect.stringMatching(/^fail\tconfiguration\t.*prot/m) })
    const env = { XDG_CONFIG_HOME: join(cli.home, 'torn') }
    mkdirSync(join(cli.home, 'torn', 'svc'), { recursive: true })
    writeFileSync(join(cli.home, 'torn', 'svc', 'profiles.json'), '{ torn')
    await cli.refused(['config', 'list'], 'profiles.json cannot be read', 2, { env })
  })

  it('refuses profiles that another user could have written', async () => {
    const folder = join(cli.home, 'exposed', 'svc')
    const file = join(folder, 'profiles.json')
    const env = { XDG_CONFIG_HOME: join(cli.home, 'exposed') }
    await svc(['config', 'set', 'api', 'http://127.0.0.1:1'], { env })
    expect([statSync(folder).mode & 0o777, statSync(file).mode & 0o777]).toEqual([0o700, 0o600])
    const refused = async (why: RegExp) => {
      for (const args of [
        ['config', 'list'],
        ['pools', 'list'],
        ['config', 'set', 'output', 'json'],
      ]) {
        const { exitCode, stderr } = await svc(args, { env })
        expect([args, exitCode, stderr.replace(/\s+/g, ' ')]).toEqual([args, 2, expect.stringMatching(why)])
      }
      expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
        profiles: { default: { api: 'http://127.0.0.1:1' } },
      })
    }
    chmodSync(file, 0o666)
    await refused(/profiles\.json can be written by others \(mode 666\).*chmod go-w/)
    chmodSync(file, 0o644)
    chmodSync(folder, 0o777)
    await refused(/the folder \S+svc can be written by others \(mode 777\)/)
    chmodSync(folder, 0o755)
    expect(await svc(['config', 'list'], { env })).toMatchObject({ exitCode: 0 })
    renameSync(file, join(folder, 'other.json'))
    symlinkSync('other.json', file)
    await refused(/profiles\.json: it is a symbolic link/)
  })

  it.skipIf(process.getuid?.() !== 0)('refuses profiles of another user', async () => {
    const env = { XDG_CONFIG_HOME: join(cli.home, 'foreign') }
    await svc(['config', 'set', 'api', 'http://127.0.0.1:1'], { env })
    chownSync(join(cli.home, 'foreign', 'svc', 'profiles.json'), 65_534, 65_534)
    await cli.refused(['pools', 'list'], /belongs to another user \(uid 65534/, 2, { env })
  })

  it("does not send the profile's key to an API that a folder's svc.json chose", async () => {
    const cwd = join(cli.home, 'lure')
    mkdirSync(cwd)
    writeFileSync(join(cwd, 'svc.json'), '{ "api": "http://127.0.0.1:1" }')
    await svc(['config', 'set', 'api-key-file', cli.file('profile-key', 'svc_live_x', 0o600)])
    await cli.refused(['pools', 'list'], 'the key file comes from your profile', 2, { cwd })
  })

  it('sends a key of the environment to an API of a svc.json only if that is allowed explicitly', async () => {
    const cwd = join(cli.home, 'trap')
    mkdirSync(cwd)
    const seen: (string | undefined)[] = []
    const stranger = createServer((request, answer) => {
      if (request.url !== '/v2/health') seen.push(request.headers.authorization)
      answer.end('{}')
    }).listen(0, '127.0.0.1')
    await once(stranger, 'listening')
    const api = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`
    writeFileSync(join(cwd, 'svc.json'), JSON.stringify({ api }))
    const key = { SVC_API_KEY: 'svc_live_y' }
    const file = { SVC_API_KEY_FILE: cli.file('environment-key', 'svc_live_z', 0o600) }
    for (const env of [key, file]) {
      await cli.refused(['pools', 'list'], `comes from SVC_API_KEY`, 2, { cwd, env })
      await svc(['doctor'], { cwd, env })
    }
    expect(seen).toEqual([])
    await svc(['pools', 'list', '--api', api], { cwd, env: key })
    expect(seen).toEqual(['Bearer svc_live_y'])
    await new Promise((resolve) => stranger.close(resolve))
  })
})
