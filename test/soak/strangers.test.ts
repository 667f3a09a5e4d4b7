/** A stranger's folder, file or database cannot take a key, choose what is signed, or run as this installation. */
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AuthorityType, createSetAuthorityInstruction } from '@solana/spl-token'
import { Keypair, PublicKey, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import Database from 'better-sqlite3'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { commandLine, MINT, PROGRAM, type Ran } from '../cli/command-line.ts'
import { startDaemon } from '../support/daemon.ts'
import { PROGRAMS_DIR } from '../support/programs.ts'

const cli = commandLine()
/** A daemon that runs although it must not is stopped, and has no exit code. */
const svc: typeof cli.spawned = (args, options) =>
  args.includes('serve') || args.includes('start')
    ? cli.spawned(args, { timeout: 30_000, ...options })
    : cli.svc(args, options)
const STRANGER = 12345
const IS_ROOT = process.getuid?.() === 0
/** No data folder but the one that is found otherwise. */
const UNSET = { SVC_DATA_DIR: '' }

let folders = 0
const folder = (mode = 0o755): string => {
  const made = join(cli.home, `folder-${folders++}`)
  mkdirSync(made)
  chmodSync(made, mode)
  return made
}
const project = (settings: unknown, cwd = folder()): string => {
  writeFileSync(join(cwd, 'svc.json'), JSON.stringify(settings))
  return cwd
}

/** A server that looks like a healthy daemon and notes every Authorization that it is sent. */
const seen: string[] = []
const thief = Keypair.generate().publicKey
const answerOf: { transaction: string | undefined } = { transaction: undefined }
const stranger = createServer((request, answer) => {
  if (request.headers.authorization !== undefined) seen.push(request.headers.authorization)
  answer.setHeader('content-type', 'application/json')
  const data = request.url === '/v2/health' ? { status: 'healthy' } : { transaction: answerOf.transaction }
  answer.end(JSON.stringify({ data, meta: { request_id: 'req_stranger' } }))
})
let url: string
beforeAll(async () => {
  await new Promise<void>((listening) => stranger.listen(0, '127.0.0.1', listening))
  url = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`
  expect((await svc(['keys', 'list'])).exitCode).toBe(0)
})
afterAll(() => new Promise((closed) => stranger.close(closed)))

/** Said in a sentence with its way out; nothing of it reached the stranger. */
function expectRefused(ran: Ran, exitCode: number, said: string | RegExp) {
  expect(seen.splice(0)).toEqual([])
  expect(ran).toMatchObject({ exitCode, stdout: '' })
  expect(ran.stderr).toMatch(said)
  expect(ran.stderr).not.toMatch(/^\s+at |not expected/m)
}

const planted = (dataDir: string) => {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  writeFileSync(join(dataDir, 'daemon.json'), JSON.stringify({ pid: process.pid, url }))
  return dataDir
}

describe("a stranger's svc.json", () => {
  it('sends no key file of the user to an API of its choice, by an absolute or a relative path', async () => {
    cpSync(join(cli.dataDir, 'operator.key'), join(cli.home, 'near.key'))
    for (const file of [join(cli.dataDir, 'operator.key'), '../near.key']) {
      const cwd = project({ api: url, 'api-key-file': file })
      expectRefused(
        await svc(['keys', 'list'], { cwd }),
        2,
        /svc\.json must not contain api-key-file: .*\n {2}next: set SVC_API_KEY_FILE/,
      )
    }
  })

  it('sends neither SVC_API_KEY nor --api-key-file to the daemon.json of a data folder of its choice', async () => {
    const key = cli.file('own-key', 'svc_live_own', 0o600)
    const cwd = project({ 'data-dir': './.d' })
    planted(join(cwd, '.d'))
    const runs: [string[], Record<string, string>][] = [
      [[], { SVC_API_KEY: 'svc_live_own' }],
      [['--api-key-file', key], {}],
    ]
    for (const [args, env] of runs) {
      const ran = await svc(['keys', 'list', ...args], { cwd, env: { ...UNSET, ...env } })
      expectRefused(ran, 2, /svc\.json must not contain data-dir: keys and the database are read from there/)
    }
  })

  it('starts no daemon on a database of its choice; a database without a fingerprint is always refused', async () => {
    const cwd = project({ 'data-dir': './.d' })
    const theirs = join(cwd, '.d')
    await svc(['keys', 'create', '--name', 'planted', '--scopes', '*', '--data-dir', theirs])
    for (const name of readdirSync(theirs)) if (!name.startsWith('svc.db')) rmSync(join(theirs, name))
    const database = new Database(join(theirs, 'svc.db'))
    database.exec("delete from settings where name = 'vault_fingerprint'")
    database.close()
    expectRefused(await svc(['serve', '--port', '0'], { cwd, env: UNSET }), 2, /svc\.json must not contain data-dir/)
    for (const args of [
      ['serve', '--port', '0'],
      ['keys', 'list'],
      ['doctor', '-o', 'plain'],
    ]) {
      const ran = await svc([...args, '--data-dir', theirs], { cwd: cli.home })
      expect(ran.exitCode).toBe(1)
      expect(ran.stdout + ran.stderr).toMatch(
        /svc\.db has data but no fingerprint of an encryption key[\s\S]*--data-dir/,
      )
    }
    expect(readdirSync(theirs)).not.toContain('operator.key')
  })

  it('has no key sent to an API of its choice, however the key was given, until --api names it too', async () => {
    const cwd = project({ api: url })
    const key = cli.file('flag-key', 'svc_live_flag', 0o600)
    const ran = await svc(['keys', 'list', '--api-key-file', key], { cwd })
    expectRefused(
      ran,
      2,
      /the key file comes from --api-key-file\n {2}next: if you want that, confirm it with --api http/,
    )
    await svc(['keys', 'list', '--api-key-file', key, '--api', url], { cwd })
    expect(seen.splice(0)).toEqual(['Bearer svc_live_flag'])
  })

  it('has no answer signed of an API of its choice', async () => {
    const own = Keypair.generate()
    const message = new TransactionMessage({
      payerKey: own.publicKey,
      recentBlockhash: thief.toBase58(),
      // What was asked for: something else would be refused for what it is.
      instructions: [createSetAuthorityInstruction(new PublicKey(MINT), own.publicKey, AuthorityType.MintTokens, null)],
    }).compileToV0Message()
    answerOf.transaction = Buffer.from(new VersionedTransaction(message).serialize()).toString('base64')
    const keypair = cli.file('own.json', JSON.stringify([...own.secretKey]), 0o600)
    const args = ['tokens', 'revoke', MINT, 'mint', '-k', keypair, '--build-only', '--json']
    expectRefused(await svc(args, { cwd: project({ api: url }) }), 2, /its answers would be signed here/)
  })

  it('is searched up to the root of the repository or the home, and no further', async () => {
    const outside = mkdtempSync(join(tmpdir(), 'svc-outside-'))
    const deep = join(outside, 'repository', 'deep')
    mkdirSync(deep, { recursive: true })
    const output = async (cwd: string, env = {}) => {
      const { stdout, stderr } = await svc(['config', 'get', 'output', '-o', 'plain'], { cwd, env })
      const origin = (await svc(['config', 'list', '--json'], { cwd, env })).stdout
      expect(stderr).toBe('')
      return [stdout.trim(), JSON.parse(origin).find((row: { name: string }) => row.name === 'rate-per-day').origin]
    }
    try {
      project({ 'rate-per-day': 7 }, outside)
      expect((await output(deep))[1]).toBe('default')
      expect((await output(outside))[1]).toBe('project')
      mkdirSync(join(outside, 'repository', '.git'))
      expect((await output(deep))[1]).toBe('default')
      renameSync(join(outside, 'repository', '.git'), join(outside, '.git'))
      expect((await output(deep))[1]).toBe('project')
      const home = { HOME: join(outside, 'repository') }
      expect((await output(deep, home))[1]).toBe('default')
    } finally {
      rmSync(outside, { recursive: true })
    }
  })

  it.runIf(IS_ROOT)('counts only if this user owns it and its folder, unless --trust-project is given', async () => {
    const get = ['config', 'get', 'rate-per-day']
    const spoils: [(file: string, cwd: string) => void, RegExp][] = [
      [(file) => chownSync(file, STRANGER, STRANGER), /belongs to another user \(uid 12345, not 0\)/],
      [(_, cwd) => chownSync(cwd, STRANGER, STRANGER), /folder .* belongs to another user/],
      [(file) => chmodSync(file, 0o666), /svc\.json can be written by others \(mode 666\)/],
      [(_, cwd) => chmodSync(cwd, 0o777), /can be written by others \(mode 777\)/],
    ]
    for (const [spoil, said] of spoils) {
      const cwd = project({ 'rate-per-day': 7 })
      spoil(join(cwd, 'svc.json'), cwd)
      const refused = await svc(get, { cwd })
      expectRefused(refused, 2, said)
      expect(refused.stderr).toContain('for this one command with --trust-project')
      expect((await svc([...get, '--trust-project'], { cwd })).stdout).toBe('7\n')
    }
  })

  it('is refused behind a link, with --trust-project too', async () => {
    const cwd = folder()
    symlinkSync(cli.file('elsewhere.json', '{}'), join(cwd, 'svc.json'))
    for (const more of [[], ['--trust-project']]) {
      const ran = await svc(['keys', 'list', ...more], { cwd })
      expectRefused(ran, 2, /svc\.json: it is a symbolic link\n {2}next: use the file itself: .*elsewhere\.json/)
      expect(ran.stderr).not.toContain('for this one command')
    }
  })
})

describe('a file of the data folder', () => {
  const key = { SVC_API_KEY: 'svc_live_own' }

  it('has no key sent if daemon.json came with the folder and no daemon holds its lock', async () => {
    const lock = (make: (file: string) => void) => {
      const dataDir = planted(folder(0o700))
      make(join(dataDir, 'daemon.lock'))
      return dataDir
    }
    const elsewhere = new Database(join(folder(0o700), 'held.lock'))
    elsewhere.exec('begin exclusive')
    const wal = join(folder(0o700), 'wal.lock')
    new Database(wal).exec('pragma journal_mode = wal; create table t (a)')
    const folders = [
      lock(() => {}),
      lock((file) => writeFileSync(file, '', { mode: 0o600 })),
      lock((file) => writeFileSync(file, 'no database at all '.repeat(100), { mode: 0o600 })),
      lock((file) => mkdirSync(file)),
      lock((file) => symlinkSync(elsewhere.name, file)),
      lock((file) => cpSync(wal, file)),
    ]
    for (const dataDir of folders) {
      expect(await svc(['keys', 'list', '--data-dir', dataDir])).toMatchObject({ exitCode: 0 })
      const refused = await svc(['keys', 'list', '--data-dir', dataDir], { env: key })
      expectRefused(refused, 4, 'Invalid or revoked API key')
    }
    elsewhere.close()
  })

  it.runIf(IS_ROOT)(
    'has no key sent if daemon.json belongs to another user, is a link or can be written by others',
    async () => {
      const spoils: [(file: string, dataDir: string) => void, RegExp][] = [
        [
          (file) => chownSync(file, STRANGER, STRANGER),
          /daemon\.json: it belongs to another user .*\n {2}next: chown 0/,
        ],
        [(_, dataDir) => chownSync(dataDir, STRANGER, STRANGER), /the data folder .* belongs to another user/],
        [(file) => chmodSync(file, 0o666), /daemon\.json can be written by others .*\n {2}next: chmod go-w/],
        [(_, dataDir) => chmodSync(dataDir, 0o1777), /the data folder .* can be written by others \(mode 777\)/],
        [
          (file) => {
            renameSync(file, `${file}.real`)
            symlinkSync(`${file}.real`, file)
          },
          /daemon\.json: it is a symbolic link/,
        ],
      ]
      for (const [spoil, said] of spoils) {
        const dataDir = planted(folder(0o700))
        spoil(join(dataDir, 'daemon.json'), dataDir)
        expectRefused(await svc(['keys', 'list', '--data-dir', dataDir], { env: key }), 4, said)
        const doctor = await svc(['doctor', '-o', 'plain', '--data-dir', dataDir], { env: key })
        expect(doctor).toMatchObject({ exitCode: 1, stdout: expect.stringMatching(/^fail\t(daemon|data folder)\t/m) })
        expect(seen).toEqual([])
      }
    },
  )

  it.runIf(IS_ROOT)('is refused if it belongs to another user or is a link, whichever file it is', async () => {
    const copies = ['operator.key', 'encryption.key', 'svc.db', 'svc.db-wal', 'daemon.lock']
    for (const name of copies) {
      for (const link of [false, true]) {
        const dataDir = join(cli.home, `copy-${folders++}`)
        cpSync(cli.dataDir, dataDir, { recursive: true })
        const file = join(dataDir, name)
        if (name === 'svc.db-wal' || name === 'daemon.lock') writeFileSync(file, '', { mode: 0o600 })
        if (link) {
          renameSync(file, `${file}.real`)
          symlinkSync(`${file}.real`, file)
        } else chownSync(file, STRANGER, STRANGER)
        const ran = await svc(['serve', '--port', '0', '--data-dir', dataDir])
        expectRefused(ran, 4, new RegExp(`${name}: it ${link ? 'is a symbolic link' : 'belongs to another user'}`))
      }
    }
    const dataDir = folder(0o700)
    writeFileSync(join(dataDir, 'localnet.json'), JSON.stringify({ pid: 1, rpc_url: url, ws_url: url }))
    chownSync(join(dataDir, 'localnet.json'), STRANGER, STRANGER)
    const ran = await svc(['localnet', 'status', '--data-dir', dataDir])
    expectRefused(ran, 4, /localnet\.json: it belongs to another user/)
  })

  it('is refused by every command if others can write to its folder', async () => {
    const commands = [
      ['keys', 'list'],
      ['serve', '--port', '0'],
      ['localnet', 'status'],
      ['localnet', 'start', '--rpc-port', '0'],
      ['localnet', 'reset', '--yes'],
      ['status'],
    ]
    for (const mode of [0o777, 0o770, 0o1777]) {
      const dataDir = folder(mode)
      for (const args of commands) {
        const ran = await svc([...args, '--data-dir', dataDir])
        expectRefused(
          ran,
          4,
          /data folder .* can be written by others .*\n {2}next: choose another with --data-dir.*chmod 700/,
        )
      }
      expect(readdirSync(dataDir)).toEqual([])
    }
  })

  it('has mode 0600 in a folder of 0700, whoever made the folder and whatever the umask', async () => {
    const dataDir = folder(0o755)
    const script = `umask 0; exec '${process.execPath}' '${PROGRAM}' serve --port 0 --data-dir '${dataDir}' --json`
    const child = execa('sh', ['-c', script], {
      env: { ...cli.env, SVC_PROGRAMS_DIR: PROGRAMS_DIR, SVC_DATA_DIR: dataDir },
      extendEnv: false,
      reject: false,
    })
    await expect.poll(() => readdirSync(dataDir), { timeout: 60_000 }).toContain('daemon.json')
    const airdrop = await svc(['localnet', 'airdrop', thief.toBase58(), '1', '--data-dir', dataDir])
    expect(airdrop.exitCode, airdrop.stderr).toBe(0)
    const modes = Object.fromEntries(
      readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).map((name) => {
        const stats = statSync(join(dataDir, name))
        return [name, stats.isDirectory() ? stats.mode & 0o077 : stats.mode & 0o777]
      }),
    )
    child.kill('SIGTERM')
    await child
    const { 'svc.db': database, 'chain.db': chain, 'daemon.lock': lock, 'localnet.json': localnet } = modes
    expect([database, chain, lock, localnet]).toEqual([0o600, 0o600, 0o600, 0o600])
    expect(Object.entries(modes).filter(([, mode]) => mode !== 0o600 && mode !== 0)).toEqual([])
    expect(statSync(dataDir).mode & 0o777).toBe(0o700)
  })
})

describe('a key file', () => {
  it.runIf(IS_ROOT)('that another user could have put there is refused, for each kind of key', async () => {
    const secret = JSON.stringify([...Keypair.generate().secretKey])
    const uses: [string, string, (file: string) => Promise<Ran>][] = [
      ['api', 'svc_live_x', (file) => svc(['keys', 'list', '--api', url, '--api-key-file', file])],
      ['wallet', secret, (file) => svc(['tokens', 'revoke', MINT, 'mint', '-k', file])],
      ['webhook', `whsec_${'A'.repeat(44)}`, (file) => svc(['webhooks', 'verify', '--secret-file', file])],
      [
        'signer',
        secret,
        (file) => svc(['signer', 'test'], { env: { SVC_SIGNER: 'keypair', SVC_SIGNER_KEYPAIR: file } }),
      ],
    ]
    for (const [name, text, use] of uses) {
      const place = folder()
      const file = join(place, name)
      const reset = () => {
        rmSync(file, { force: true })
        writeFileSync(file, text, { mode: 0o600 })
      }
      const refused = async (said: RegExp) => {
        const { exitCode, stdout, stderr } = await use(file)
        expect({ name, exitCode: exitCode !== 0, stdout }).toEqual({ name, exitCode: true, stdout: '' })
        expect(stderr, name).toMatch(said)
        expect(seen).toEqual([])
      }
      reset()
      chownSync(file, STRANGER, STRANGER)
      await refused(/belongs to another user \(uid 12345, not 0\)/)
      reset()
      renameSync(file, `${file}.real`)
      symlinkSync(`${file}.real`, file)
      await refused(/is a symbolic link[\s\S]*\.real/)
      reset()
      chmodSync(place, 0o777)
      await refused(/is in a folder that can be written by others \(mode 777\)/)
      chmodSync(place, 0o1777)
      const { stderr } = await use(file)
      expect(stderr).not.toContain('is in a folder')
      seen.length = 0
    }
  })
})

describe('svc serve --host', () => {
  it('leaves the JSON-RPC of the embedded chain on loopback, and --rpc-host warns if it opens it', async () => {
    const dataDir = folder(0o700)
    const rpcUrl = () => JSON.parse(readFileSync(join(dataDir, 'daemon.json'), 'utf8')).rpc_url
    const shut = await startDaemon({ dataDir, flags: ['--host', '0.0.0.0'] })
    const told = rpcUrl()
    await shut.stop()
    expect(told).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    const args = ['serve', '--port', '0', '--rpc-host', '0.0.0.0', '--data-dir', dataDir]
    const open = execa(process.execPath, [PROGRAM, ...args], { env: cli.env, extendEnv: false, reject: false })
    await expect.poll(() => readdirSync(dataDir), { timeout: 60_000 }).toContain('daemon.json')
    const opened = rpcUrl()
    open.kill('SIGTERM')
    const { stderr } = await open
    expect(opened).toMatch(/^http:\/\/0\.0\.0\.0:\d+$/)
    const bad = await svc(['localnet', 'start', '--rpc-host', '192.0.2.1', '--rpc-port', '0', '--data-dir', dataDir])
    expect(bad).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/cannot listen on 192\.0\.2\.1: .*--rpc-host/),
    })
    expect(stderr).toMatch(/can change the embedded chain's clock and mint its SOL: rpc-host is 0\.0\.0\.0/)
  })
})
