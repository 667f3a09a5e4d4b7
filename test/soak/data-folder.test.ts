/** Data folders that cannot be used: every command says what is wrong and what to do, and so does `svc doctor`. */
import { cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { execa, execaSync } from 'execa'
import { beforeAll, describe, expect, it } from 'vitest'
import { commandLine, PROGRAM } from '../cli/command-line.ts'

const cli = commandLine()
const { svc, spawned } = cli

beforeAll(async () => {
  expect((await svc(['keys', 'list'])).exitCode).toBe(0)
})

/** A copy of a data folder in use. */
function copyOf(name: string): string {
  const folder = join(cli.home, name)
  cpSync(cli.dataDir, folder, { recursive: true })
  return folder
}

async function expectFault(folder: string, what: RegExp, exitCode = 1) {
  for (const args of [
    ['keys', 'list'],
    ['serve', '--port', '0'],
  ]) {
    const run = args[0] === 'serve' ? spawned : svc
    const ran = await run([...args, '--data-dir', folder])
    expect({ exitCode: ran.exitCode, stdout: ran.stdout }).toEqual({ exitCode, stdout: '' })
    expect(ran.stderr).toMatch(what)
    expect(ran.stderr).not.toMatch(/^\s+at |not expected/m)
  }
}

async function doctor(folder: string) {
  const { exitCode, stdout, stderr } = await svc(['doctor', '-o', 'plain', '--data-dir', folder])
  expect(stderr).not.toMatch(/^\s+at |not expected/m)
  return { exitCode, stdout }
}

describe('a data folder', () => {
  it('that cannot be created is named in the error, below /proc too', async () => {
    for (const args of [
      ['keys', 'list'],
      ['localnet', 'status'],
      ['config', 'set', 'log-level', 'debug'],
    ]) {
      const { SVC_DATA_DIR: _, ...env } = cli.env
      const ran = await execa(process.execPath, [PROGRAM, ...args], {
        ...{ cwd: cli.home, env: { ...env, HOME: '/proc/nope' }, extendEnv: false, reject: false, timeout: 60_000 },
      })
      expect(ran.timedOut, args.join(' ')).toBe(false)
      expect(ran.exitCode, args.join(' ')).toBeGreaterThan(0)
      expect(ran.stderr).toContain('/proc/nope')
      expect(ran.stderr).not.toMatch(/^\s+at |not expected/m)
    }
  })

  it('that is a file is refused', async () => {
    const file = cli.file('plain-file', '')
    await expectFault(
      file,
      /^error: the data folder .*plain-file cannot be created: a file is in its place; .*--data-dir$/m,
    )
    expect(await doctor(file)).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('is not a folder') })
  })

  it('whose database is not a database is refused', async () => {
    const folder = copyOf('garbled')
    for (const name of readdirSync(folder).filter((name) => /-(wal|shm)$/.test(name))) rmSync(join(folder, name))
    writeFileSync(join(folder, 'svc.db'), 'x'.repeat(8192))
    await expectFault(folder, /svc\.db: file is not a database; restore it from a backup/)
    expect(await doctor(folder)).toMatchObject({ exitCode: 1, stdout: expect.stringMatching(/^fail\tdatabase\t/m) })
  })

  it('without the encryption key of its database is refused, and no other key is made', async () => {
    const folder = copyOf('unsealed')
    rmSync(join(folder, 'encryption.key'))
    await expectFault(folder, /encryption\.key is missing, and this database was sealed with it .*: restore the file/)
    expect(await doctor(folder)).toMatchObject({
      exitCode: 1,
      stdout: expect.stringMatching(/^fail\tencryption key\t.*is missing/m),
    })
    expect(readdirSync(folder)).not.toContain('encryption.key')
  })

  it('with keys and no database is refused, and starts empty once the keys are removed', async () => {
    const folder = copyOf('bereft')
    for (const name of readdirSync(folder).filter((name) => name.startsWith('svc.db'))) rmSync(join(folder, name))
    expect(await doctor(folder)).toMatchObject({
      exitCode: 1,
      stdout: expect.stringMatching(
        /^fail\tdatabase\t.*svc\.db is missing, although keys of an earlier one are there: encryption\.key and operator\.key/m,
      ),
    })
    const said =
      /svc\.db is empty, and encryption\.key and operator\.key in .*bereft belong to an installation with another database\n {2}next: restore that from a backup, .*--data-dir, or remove encryption\.key and operator\.key to start/
    await expectFault(folder, said)
    expect(await doctor(folder)).toMatchObject({
      exitCode: 1,
      stdout: expect.stringMatching(/^fail\t.*is empty, and/m),
    })
    for (const name of ['encryption.key', 'operator.key']) rmSync(join(folder, name))
    expect((await svc(['keys', 'list', '--data-dir', folder])).exitCode).toBe(0)
  })

  it('with the database of another installation is refused with the fingerprint of the expected key', async () => {
    const folder = copyOf('mixed')
    const other = join(cli.home, 'other')
    expect((await svc(['keys', 'list', '--data-dir', other])).exitCode).toBe(0)
    for (const name of readdirSync(folder).filter((name) => name.startsWith('svc.db'))) rmSync(join(folder, name))
    for (const name of readdirSync(other).filter((name) => name.startsWith('svc.db')))
      cpSync(join(other, name), join(folder, name))
    await expectFault(
      folder,
      /svc\.db was sealed with the encryption key of fingerprint [0-9a-f]{16}, but .*encryption\.key has the key of [0-9a-f]{16}: they belong to two installations/,
    )
  })

  it('whose operator key is empty, another text or a folder is refused', async () => {
    const folder = copyOf('keyless')
    const file = join(folder, 'operator.key')
    for (const text of ['', 'password\n']) {
      writeFileSync(file, text)
      await expectFault(folder, /operator\.key does not contain an API key; remove the file to get a new key/)
    }
    writeFileSync(file, '')
    expect(await doctor(folder)).toMatchObject({ exitCode: 1, stdout: expect.stringMatching(/^fail\tkey file\t/m) })
    rmSync(file)
    mkdirSync(file, { mode: 0o700 })
    await expectFault(folder, /cannot read .*operator\.key/)
  })

  it('whose operator key was revoked is refused, and gets another once the file is removed', async () => {
    const folder = copyOf('revoked')
    const [{ id }] = JSON.parse((await svc(['keys', 'list', '--json', '--data-dir', folder])).stdout)
    expect((await svc(['keys', 'delete', id, '--yes', '--data-dir', folder])).exitCode).toBe(0)
    await expectFault(folder, /the key in .*operator\.key was revoked; remove the file to get a new key/, 4)
    rmSync(join(folder, 'operator.key'))
    expect((await svc(['keys', 'list', '--data-dir', folder])).exitCode).toBe(0)
  })
})

/** Whether the command can be run here, as this user. */
const works = (command: string, args: string[]) => execaSync(command, args, { reject: false }).exitCode === 0
const STRANGER = ['--reuid', '12345', '--regid', '12345', '--clear-groups']
const isStranger = works('setpriv', [...STRANGER, 'test', '-r', PROGRAM])
const mounts = works('unshare', ['-m', 'true'])

describe('an error of the system', () => {
  /** Both ways of writing below the home: the data folder, and the profile. */
  async function expectSaid(run: (args: string[]) => [string, string[]], said: RegExp, env: Record<string, string>) {
    for (const args of [
      ['keys', 'list'],
      ['config', 'set', 'log-level', 'debug'],
    ]) {
      const ran = await execa(...run([process.execPath, PROGRAM, ...args]), {
        ...{ cwd: '/', env: { PATH: process.env.PATH ?? '', ...env }, extendEnv: false, reject: false },
      })
      expect(ran.exitCode, ran.stderr).toBeGreaterThan(0)
      expect(ran.stderr).toMatch(said)
      expect(ran.stderr).not.toMatch(/^\s+at |not expected/m)
    }
  }
  const asStranger = (args: string[]): [string, string[]] => ['setpriv', [...STRANGER, ...args]]
  /** Runs the command where the home is mounted otherwise, for this command alone. */
  const mounted =
    (mount: string) =>
    (args: string[]): [string, string[]] => ['unshare', ['-m', 'sh', '-c', `${mount} && exec "$@"`, 'sh', ...args]]
  const homeOf = (name: string) => {
    mkdirSync(join(cli.home, name))
    return join(cli.home, name)
  }

  it.skipIf(!isStranger)('says what to do for a user without permission to write', () =>
    expectSaid(asStranger, /permission denied, mkdir '\/\.(local|config)'[\s\S]*SVC_DATA_DIR/, { HOME: '/' }),
  )

  it.skipIf(!isStranger)('names HOME for a user without a home folder', () =>
    expectSaid(asStranger, /HOME is not set, .*\n {2}next: set HOME/, {}),
  )

  it.skipIf(!mounts)('says what to do on a read-only file system', () => {
    const home = homeOf('read-only')
    const mount = `mount --bind ${home} ${home} && mount -o remount,ro,bind ${home}`
    return expectSaid(mounted(mount), /read-only file system, mkdir [\s\S]*SVC_DATA_DIR/, { HOME: home })
  })

  it.skipIf(!mounts)('says to free some space on a full disk', () => {
    const home = homeOf('full')
    const mount = `mount -t tmpfs -o size=64k none ${home} && { head -c 65536 /dev/zero > ${home}/rest; true; }`
    return expectSaid(mounted(mount), /free (some )?space/, { HOME: home })
  })
})
