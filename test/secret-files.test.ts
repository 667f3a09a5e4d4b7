/** Secrets in files that `SVC_…_FILE` variables name: where they are read from, what is refused, what is shown. */
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { describe, expect, it } from 'vitest'
import {
  environmentName,
  fileVariable,
  loadConfig,
  SETTINGS,
  type Setting,
  type SettingName,
} from '../src/settings/config.ts'
import { redactorOf } from '../src/settings/redaction.ts'
import { SECRET_FILE_BYTES } from '../src/settings/secret-files.ts'
import { commandLine, PROGRAM } from './cli/command-line.ts'
import { startDaemon } from './support/daemon.ts'
import { databaseEnvironment } from './support/database.ts'
import { temporaryFolder } from './support/service.ts'

const cli = commandLine()
const IS_ROOT = process.getuid?.() === 0
const POD_USER = 10_001
const othersCanRun = spawnSync('test', ['-r', PROGRAM], { uid: POD_USER, gid: POD_USER }).status === 0
const NAMES = Object.keys(SETTINGS) as SettingName[]
const TAKE_FILES = NAMES.filter((name) => fileVariable(name) !== undefined)
const URL_TEXT = 'postgres://svc:hidden-word@db.internal/svc'

function secretFile(text: string | Uint8Array, mode = 0o600): string {
  const file = join(temporaryFolder(), 'secret')
  writeFileSync(file, text)
  chmodSync(file, mode)
  return file
}

const load = (env: Record<string, string>, flags: Partial<Record<SettingName, unknown>> = {}) =>
  loadConfig({ env: { HOME: cli.home, ...env }, cwd: cli.home, flags })
const databaseUrl = (file: string) => load({ SVC_DATABASE_URL_FILE: file }).values['database-url']

describe('a setting that holds a secret', () => {
  it('is marked secret or private, and the variable of its file is not another setting', () => {
    const marked = NAMES.filter((name) => {
      const { secret, private: isPrivate }: Setting = SETTINGS[name]
      return secret === true || isPrivate === true
    })
    expect(TAKE_FILES).toEqual(marked)
    expect(TAKE_FILES).toEqual(expect.arrayContaining(['database-url', 'encryption-key', 'signer.vault-token', 'url']))
    const variables = NAMES.map(environmentName)
    expect(TAKE_FILES.filter((name) => variables.includes(fileVariable(name)!))).toEqual([])
  })

  it('is read from the file of its variable, without the line break at its end', () => {
    const file = secretFile(`${URL_TEXT}\n`)
    const { values, origins, secretFiles } = load({ SVC_DATABASE_URL_FILE: file })
    expect(values['database-url']).toBe(URL_TEXT)
    expect([origins['database-url'], secretFiles]).toEqual(['file', { 'database-url': file }])
    expect(databaseUrl(secretFile(`${URL_TEXT}\r\n`))).toBe(URL_TEXT)
    expect(databaseUrl(secretFile(`${URL_TEXT}\n\n`))).toBe(`${URL_TEXT}\n`)
    expect(databaseUrl(secretFile('x'.repeat(SECRET_FILE_BYTES)))).toHaveLength(SECRET_FILE_BYTES)
  })

  it('comes first from a flag, and from a file before a profile', () => {
    const file = secretFile('https://rpc.example.com/by-file')
    const profile = { url: 'https://rpc.example.com/by-profile' }
    const env = { HOME: cli.home, SVC_URL_FILE: file }
    expect(loadConfig({ env, cwd: cli.home, profile }).values.url).toBe('https://rpc.example.com/by-file')
    const flagged = load({ SVC_URL_FILE: '/nowhere' }, { url: 'devnet' })
    expect([flagged.values.url, flagged.origins.url, flagged.secretFiles]).toEqual(['devnet', 'flag', {}])
    expect(load({ SVC_URL_FILE: '' }).origins.url).toBe('default')
  })

  it('is removed from messages like one of a variable', () => {
    const config = load({ SVC_MODERATION_KEY_FILE: secretFile('sk-moderation-word') })
    expect(redactorOf(config).text('401 for sk-moderation-word')).toBe('401 for ***')
  })

  it('is read through the links of a Kubernetes volume', () => {
    const volume = temporaryFolder()
    mkdirSync(join(volume, '..2026_11_22'))
    writeFileSync(join(volume, '..2026_11_22', 'database-url'), URL_TEXT, { mode: 0o400 })
    symlinkSync('..2026_11_22', join(volume, '..data'))
    symlinkSync('..data/database-url', join(volume, 'database-url'))
    expect(databaseUrl(join(volume, 'database-url'))).toBe(URL_TEXT)
  })

  it.runIf(IS_ROOT)('is read from a file of another user, with the mode of its volume', () => {
    const file = secretFile(URL_TEXT, 0o444)
    chownSync(file, 65_534, 65_534)
    expect(databaseUrl(file)).toBe(URL_TEXT)
  })

  it.each<[string, () => string, string]>([
    ['does not exist', () => join(temporaryFolder(), 'none'), 'does not exist; check its name and the mount'],
    ['has a relative path', () => 'secret', 'is not an absolute path'],
    ['is a folder', () => temporaryFolder(), 'is not a regular file'],
    ['is a device', () => '/dev/zero', 'is not a regular file'],
    ['is too large', () => secretFile('x'.repeat(SECRET_FILE_BYTES + 1)), `has more than ${SECRET_FILE_BYTES} bytes`],
    ['is empty', () => secretFile('\n'), 'is empty'],
    ['is not text', () => secretFile(Uint8Array.of(0xff, 0xfe, 0x41)), 'is not text in UTF-8'],
    ['holds a NUL', () => secretFile('a\0b'), 'contains a NUL character'],
    ['can be written by anybody', () => secretFile(URL_TEXT, 0o602), 'everyone can write (mode 602); run: chmod o-w'],
  ])('is refused with variable and file if the file %s', (_, make, problem) => {
    const file = make()
    expect(() => databaseUrl(file)).toThrow(`SVC_DATABASE_URL_FILE names ${file}, which ${problem}`)
  })

  it.skipIf(IS_ROOT)("is refused if other users can read this user's own file", () => {
    expect(() => databaseUrl(secretFile(URL_TEXT, 0o644))).toThrow('others can read (mode 644); run: chmod 600')
  })

  it('is refused at once if the file is a pipe without a writer', () => {
    const pipe = join(temporaryFolder(), 'pipe')
    execFileSync('mkfifo', [pipe])
    expect(() => databaseUrl(pipe)).toThrow('is not a regular file')
  })

  it('is checked like one of a variable, and its value is not repeated', () => {
    const file = secretFile('ftp://hidden-word')
    expect(() => load({ SVC_PRICE_URL_FILE: file })).toThrow(
      `price-url (SVC_PRICE_URL_FILE names ${file}) must be an http or https URL`,
    )
    expect(() => load({ SVC_PRICE_URL_FILE: file })).not.toThrow('hidden-word')
  })

  it('is refused if value and file are both given, and a file is refused for other settings', () => {
    const file = secretFile(URL_TEXT)
    expect(() => load({ SVC_DATABASE_URL: URL_TEXT, SVC_DATABASE_URL_FILE: file })).toThrow(
      'SVC_DATABASE_URL and SVC_DATABASE_URL_FILE are both set; leave one of them out',
    )
    expect(() => load({ SVC_PORT_FILE: file })).toThrow(
      'SVC_PORT_FILE is not read, because port is not a secret; set SVC_PORT to the value itself',
    )
  })
})

describe('a secret file on the command line', () => {
  it('is shown as a file by config and doctor, never as a value', async () => {
    const file = secretFile('sk-moderation-word\n')
    const env = { SVC_MODERATION_KEY_FILE: file, SVC_RPC_PORT: '0' }
    const { stdout } = await cli.svc(['config', 'get', 'moderation-key', '--json'], { env })
    expect(JSON.parse(stdout)).toMatchObject({ value: '(set, not shown)', origin: `file ${file}` })
    const doctor = await cli.svc(['doctor', '-o', 'plain'], { env })
    expect(doctor.stdout).toContain(`ok\tsecret file\tmoderation-key from ${file}`)
    const list = await cli.svc(['config', 'list'], { env })
    expect(stdout + doctor.stdout + doctor.stderr + list.stdout).not.toContain('moderation-word')
  })

  it('is bad input if it cannot be used, also in the doctor', async () => {
    const env = { SVC_ENCRYPTION_KEY_FILE: '/nowhere/key' }
    const refused = await cli.svc(['keys', 'list'], { env })
    expect(refused).toMatchObject({
      exitCode: 2,
      stdout: '',
      stderr: expect.stringContaining('SVC_ENCRYPTION_KEY_FILE names /nowhere/key, which does not exist'),
    })
    const doctor = await cli.svc(['doctor', '-o', 'plain'], { env })
    expect(doctor.stdout).toMatch(/^fail\tconfiguration\t.*\/nowhere\/key/m)
    const both = await cli.svc(['keys', 'list'], { env: { ...env, SVC_ENCRYPTION_KEY: 'x' } })
    expect(both).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('are both set') })
  })

  it.runIf(IS_ROOT && othersCanRun)(
    'is read by an unprivileged process on the volumes of a pod: of root, with links, by its group',
    async () => {
      const [volume, secrets] = [temporaryFolder(), temporaryFolder()]
      chownSync(volume, 0, POD_USER)
      chmodSync(volume, 0o2777)
      chmodSync(secrets, 0o755)
      mkdirSync(join(secrets, '..data'))
      const stored = join(secrets, '..data', 'encryption-key')
      writeFileSync(stored, 'ab'.repeat(32))
      chownSync(stored, 0, POD_USER)
      chmodSync(stored, 0o440)
      symlinkSync('..data/encryption-key', join(secrets, 'encryption-key'))
      const env = {
        HOME: volume,
        SVC_DATA_DIR: join(volume, 'data'),
        SVC_ENCRYPTION_KEY_FILE: join(secrets, 'encryption-key'),
      }
      Object.assign(env, await databaseEnvironment(env.SVC_DATA_DIR, env))
      const options = { cwd: '/', env, extendEnv: false, reject: false, uid: POD_USER, gid: POD_USER } as const
      const { exitCode, stderr } = await execa(process.execPath, [PROGRAM, 'keys', 'list', '--json'], options)
      expect([exitCode, stderr]).toEqual([0, ''])
      chmodSync(stored, 0o400)
      const refused = await execa(process.execPath, [PROGRAM, 'keys', 'list'], options)
      expect(refused).toMatchObject({ exitCode: 2, stderr: expect.stringMatching(/permission denied\n.*uid 10001/) })
    },
  )

  it('holds the key with which a daemon encrypts, and the API key with which clients call it', async () => {
    const dataDir = temporaryFolder()
    const key = secretFile(`${'ab'.repeat(32)}\n`)
    const daemon = await startDaemon({ dataDir, flags: ['--rpc-port', '0'], env: { SVC_ENCRYPTION_KEY_FILE: key } })
    try {
      const link = join(temporaryFolder(), 'api-key')
      symlinkSync(join(dataDir, 'operator.key'), link)
      const env = { SVC_API: daemon.url, SVC_API_KEY_FILE: link }
      expect(await cli.svc(['keys', 'list', '--json'], { env })).toMatchObject({ exitCode: 0 })
      const both = await cli.svc(['keys', 'list'], { env: { ...env, SVC_API_KEY: 'svc_live_x' } })
      expect(both).toMatchObject({
        exitCode: 2,
        stderr: expect.stringContaining('SVC_API_KEY and SVC_API_KEY_FILE are both set'),
      })
      const gone = await cli.svc(['keys', 'list'], { env: { ...env, SVC_API_KEY_FILE: '/nowhere/key' } })
      expect(gone).toMatchObject({
        exitCode: 4,
        stderr: expect.stringContaining('SVC_API_KEY_FILE names /nowhere/key'),
      })
    } finally {
      await daemon.stop()
    }
    const env = { SVC_DATA_DIR: dataDir }
    const other = await cli.svc(['keys', 'list'], {
      env: { ...env, SVC_ENCRYPTION_KEY_FILE: secretFile('cd'.repeat(32)) },
    })
    expect(other.exitCode).toBe(1)
    expect(await cli.svc(['keys', 'list'], { env: { ...env, SVC_ENCRYPTION_KEY_FILE: key } })).toMatchObject({
      exitCode: 0,
    })
  })
})
