/** Who answers a command: the API given, the running daemon, or its own process; and what stands in the way. */
import { spawn } from 'node:child_process'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type Daemon, startDaemon } from '../support/daemon.ts'
import { onPostgres } from '../support/database.ts'
import { runs } from '../support/runs.ts'
import { commandLine, PROGRAM } from './command-line.ts'

const cli = commandLine()
const { svc, spawned } = cli
let daemon: Daemon

beforeAll(async () => {
  // The first command makes the data folder.
  await svc(['keys', 'list'])
  daemon = await startDaemon({ dataDir: cli.dataDir })
})
afterAll(() => daemon?.stop())

/** As a daemon holds it, until the test is over. */
function heldLock(dataDir: string) {
  const database = new Database(join(dataDir, 'daemon.lock'))
  database.exec('begin exclusive')
  onTestFinished(() => void database.close())
}

const elsewhere = () => ['--data-dir', join(cli.home, 'elsewhere')]

describe('A command', () => {
  it('uses the running daemon of its data folder with the operator key', async () => {
    const made = await svc(['keys', 'create', '--name', 'through-daemon', '--json'])
    expect(made.exitCode, made.stderr).toBe(0)
    const { key } = JSON.parse(made.stdout)
    const { status } = await fetch(`${daemon.url}/v2/pools`, { headers: { authorization: `Bearer ${key}` } })
    expect(status).toBe(200)
    const checks = JSON.parse((await svc(['doctor', '--json'])).stdout)
    expect(checks).toContainEqual(
      expect.objectContaining({ check: 'daemon', status: 'ok', detail: expect.stringContaining(daemon.url) }),
    )
  })

  it('uses --api with the key of a file or of SVC_API_KEY', async () => {
    const file = cli.file('key', `${daemon.operator}\n`, 0o600)
    const args = ['keys', 'list', '--json', '--api', daemon.url, ...elsewhere()]
    const byFile = await svc([...args, '--api-key-file', file])
    expect(JSON.parse(byFile.stdout).map((key: { name: string }) => key.name)).toContain('through-daemon')
    expect((await svc(args, { env: { SVC_API_KEY: daemon.operator } })).stdout).toBe(byFile.stdout)
  })

  it('exits 4 without a key or with a wrong one, and says how to give one', async () => {
    await cli.refused(['keys', 'list', '--api', daemon.url], '--api-key-file', 4)
    await cli.refused(['keys', 'list', '--api', daemon.url], 'Invalid or revoked API key', 4, {
      env: { SVC_API_KEY: `svc_live_${'0'.repeat(32)}` },
    })
  })

  it('exits 6 if the rate limit of the key is reached', async () => {
    const { key } = JSON.parse((await svc(['keys', 'create', '--name', 'small', '--per-minute', '1', '--json'])).stdout)
    const run = () => svc(['pools', 'list', '--api', daemon.url], { env: { SVC_API_KEY: key } })
    expect((await run()).exitCode).toBe(0)
    expect(await run()).toMatchObject({
      exitCode: 6,
      stdout: '',
      stderr: expect.stringContaining('Too many requests this minute'),
    })
  })

  it('refuses a key file that others can read, and says how to fix it', async () => {
    const file = cli.file('open-key', daemon.operator, 0o644)
    const given = await svc(['keys', 'list', '--api', daemon.url, '--api-key-file', file])
    expect(given).toEqual({
      exitCode: 4,
      stdout: '',
      stderr: `error: ${file} can be read by others (mode 644)\n  next: chmod 600 ${file}\n`,
    })
    const operator = join(cli.dataDir, 'operator.key')
    chmodSync(operator, 0o640)
    const local = await svc(['keys', 'list'])
    const doctor = await svc(['doctor', '-o', 'plain'])
    chmodSync(operator, 0o600)
    expect(local).toMatchObject({ exitCode: 4, stderr: expect.stringContaining(`chmod 600 ${operator}`) })
    expect(doctor).toMatchObject({
      exitCode: 1,
      stdout: expect.stringContaining(`fail\tkey file\t${operator} can be read by others`),
    })
    expect(doctor.stderr).toContain(`chmod 600 ${operator}`)
  })

  it('never prints a given key', async () => {
    const runs = await Promise.all([
      svc(['keys', 'list', '--api', daemon.url, '--debug'], { env: { SVC_API_KEY: 'not-a-key-but-hush' } }),
      svc(['config', 'list', '--json'], {
        env: { SVC_ENCRYPTION_KEY: 'hush-of-the-vault', SVC_DATABASE_URL: 'postgres://u:hush@h/d' },
      }),
    ])
    for (const { stdout, stderr } of runs) expect(stdout + stderr).not.toContain('hush')
  })

  it('says that nothing listens, that a host is unknown, or that the answer is not from svc', async () => {
    const server = createServer((_, answer) => answer.end('<html>')).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    await cli.refused(['pools', 'list', '--api', url], "not this API's envelope", 1)
    await new Promise((resolve) => server.close(resolve))
    const closed = await svc(['pools', 'list', '--api', url])
    expect(closed.exitCode).toBe(1)
    expect(closed.stderr).toBe(
      `error: ${url} cannot be reached: nothing listens there\n  next: start it with \`svc serve\`, or check --api\n`,
    )
    await cli.refused(['pools', 'list', '--api', 'http://nowhere.invalid'], 'cannot be reached', 1)
    for (const bad of ['nowhere', 'ftp://h', 'http://u:secret@h']) {
      const refused = await svc(['pools', 'list', '--api', bad])
      expect(refused.exitCode).toBe(2)
      expect(refused.stderr).not.toContain('secret')
    }
  })

  it('exits 130 at Ctrl-C while it waits for an answer', async () => {
    const silent = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => silent.once('listening', resolve))
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
    const child = spawn(process.execPath, [PROGRAM, 'pools', 'list', '--api', url], { env: cli.env, stdio: 'ignore' })
    await new Promise((resolve) => silent.once('request', resolve))
    child.kill('SIGINT')
    const exitCode = await new Promise((resolve) => child.once('close', resolve))
    await new Promise((resolve) => silent.close(resolve))
    expect(exitCode).toBe(130)
  })

  it('works on its own if the process of daemon.json has ended or no longer listens', async () => {
    const dead = join(cli.home, 'dead')
    await svc(['keys', 'list', '--data-dir', dead])
    writeFileSync(join(dead, 'daemon.json'), JSON.stringify({ pid: 2 ** 22 + 1, url: 'http://127.0.0.1:1' }))
    expect(await svc(['pools', 'list', '--json', '--data-dir', dead])).toMatchObject({
      exitCode: 0,
      stdout: '[]\n',
    })
    writeFileSync(join(dead, 'daemon.json'), JSON.stringify({ pid: process.ppid, url: 'http://127.0.0.1:1' }))
    expect(await svc(['pools', 'list', '--json', '--data-dir', dead])).toMatchObject({
      exitCode: 0,
      stdout: '[]\n',
    })
    heldLock(dead)
    const reused = await svc(['pools', 'list', '--json', '--data-dir', dead])
    expect(reused).toMatchObject({ exitCode: 0, stdout: '[]\n', stderr: expect.stringContaining('nothing listens') })
  })

  it('works on its own if daemon.json is damaged, and the doctor still finds the daemon', async () => {
    const file = join(cli.dataDir, 'daemon.json')
    const whole = readFileSync(file)
    for (const text of ['{', 'null', JSON.stringify({ pid: daemon.process.pid, url: 'nonsense' })]) {
      writeFileSync(file, text)
      expect(await svc(['pools', 'list', '--json'])).toMatchObject({ exitCode: 0, stdout: '[]\n' })
      const doctor = await svc(['doctor', '-o', 'plain'])
      expect(doctor).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('fail\tdaemon\tone is running') })
    }
    writeFileSync(file, whole)
  })

  it('does not send the operator key to another program on the port of the daemon', async () => {
    const seen: (string | undefined)[] = []
    const stranger = createServer((request, answer) => {
      seen.push(request.headers.authorization)
      answer.end('{}')
    }).listen(0, '127.0.0.1')
    await new Promise((resolve) => stranger.once('listening', resolve))
    const folder = join(cli.home, 'stranger')
    await svc(['keys', 'list', '--data-dir', folder])
    const url = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`
    writeFileSync(join(folder, 'daemon.json'), JSON.stringify({ pid: process.ppid, url }))
    heldLock(folder)
    const { exitCode, stderr } = await svc(['keys', 'list', '--data-dir', folder])
    await new Promise((resolve) => stranger.close(resolve))
    expect(exitCode).toBe(1)
    expect(stderr).toContain('answers, but is not svc')
    expect(stderr).toContain('daemon.json')
    expect(seen).toEqual([undefined])
  })
})

describe('svc serve', () => {
  it('says in one line why it cannot listen on an address', { tags: 'sampled' }, async () => {
    const folder = join(cli.home, 'nowhere')
    for (const host of ['192.0.2.1', 'nowhere.invalid'].slice(0, runs(1, 2))) {
      const { exitCode, stdout, stderr } = await spawned(['serve', '--port', '0', '--host', host, '--data-dir', folder])
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
      expect(stderr).toMatch(new RegExp(`^error: cannot listen on ${host}: .*--host$`, 'm'))
    }
  })

  it('prints only its URL on stdout, writes daemon.json, and removes it when it stops', async () => {
    const written = join(cli.dataDir, 'daemon.json')
    expect(JSON.parse(readFileSync(written, 'utf8'))).toEqual({
      pid: daemon.process.pid,
      reload_signal: 'SIGUSR2',
      url: daemon.url,
      database: expect.stringMatching(onPostgres ? /\/\w+$/ : /data\/svc\.db$/),
      role: 'all',
      cluster: 'embedded',
      cluster_unchosen: null,
      rpc_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      ws_url: expect.stringMatching(/^ws:\/\/127\.0\.0\.1:\d+$/),
    })
    const second = await spawned(['serve', '--port', '0', '--data-dir', cli.dataDir])
    expect(second).toMatchObject({
      exitCode: 5,
      stdout: '',
      stderr: expect.stringContaining('already runs on this data folder'),
    })
    await daemon.stop('SIGINT')
    expect(daemon.process.exitCode).toBe(0)
    expect(() => readFileSync(written)).toThrow('ENOENT')
  })
})
