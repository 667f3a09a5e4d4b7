/** `svc localnet` and the choice of the cluster, through the built command: with a daemon, with a chain served alone, and without. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { solOf } from '../../commands/cli/amounts.ts'
import { lamportsInput } from '../../commands/localnet.ts'
import { openLocalChain } from '../../src/localnet/index.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { type Daemon, startDaemon } from '../support/daemon.ts'
import { commandLine, MINT, onTerminal, PROGRAM } from './command-line.ts'

const cli = commandLine()
const { svc, spawned } = cli
const WALLET = '9B5XszUGdMaxCZ7uSQhPzdks5ZQSmWxrmzCSvtJ6Ns6g'

const json = async (args: string[], options = {}, run = svc) => {
  const { exitCode, stdout, stderr } = await run([...args, '--json'], options)
  expect(exitCode, stderr).toBe(0)
  return JSON.parse(stdout)
}
/** By a process of its own, where what one process leaves to the next is the point. */
const jsonOfProcess = (args: string[]) => json(args, {}, spawned)
const folder = (name: string) => {
  const path = join(cli.home, name)
  mkdirSync(path, { recursive: true })
  return path
}
const daemonOf = async (dataDir: string, flags: string[] = [], env: Record<string, string> = {}): Promise<Daemon> => {
  const daemon = await startDaemon({ dataDir, flags, env })
  onTestFinished(() => daemon.stop())
  return daemon
}
const fileOf = (dataDir: string, name: string) => JSON.parse(readFileSync(join(dataDir, name), 'utf8'))

/** `svc localnet start` as a process of its own; resolves when it listens. */
async function startLocalnet(dataDir: string, flags: string[]) {
  const child = spawn(process.execPath, [PROGRAM, 'localnet', 'start', '--json', '--data-dir', dataDir, ...flags], {
    env: { ...cli.env, SVC_LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [stdout, stderr] = ['', '']
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const ended = once(child, 'exit').then(() => {
    throw new Error(stderr)
  })
  ended.catch(() => undefined)
  const ready = (async () => {
    for await (const chunk of child.stdout.setEncoding('utf8')) {
      stdout += chunk
      if (stdout.trimEnd().endsWith('}')) return JSON.parse(stdout)
    }
  })()
  const stop = async () => {
    child.kill('SIGTERM')
    await ended.catch(() => undefined)
    return child.exitCode
  }
  onTestFinished(async () => void (await stop()))
  return { ...(await Promise.race([ready, ended])), stop, stderr: () => stderr }
}

async function rpc(url: string, method: string, ...params: unknown[]) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  return ((await answer.json()) as { result: unknown }).result
}

describe('an amount of SOL', () => {
  it('is read and written exactly, to the last lamport of a u64', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 2n ** 64n - 1n }), (lamports) => {
        expect(lamportsInput(solOf(lamports))).toBe(lamports)
      }),
    )
    expect(['1', '1.5', '0.000000001', '007.10', '18446744073.709551615'].map(lamportsInput)).toEqual([
      1_000_000_000n,
      1_500_000_000n,
      1n,
      7_100_000_000n,
      18_446_744_073_709_551_615n,
    ])
  })
})

describe('without a daemon', () => {
  const at = ['--data-dir', join(cli.home, 'alone')]

  it('shows the chain, gives SOL to the lamport and moves its clock, and keeps it all', async () => {
    const before = await jsonOfProcess(['localnet', 'status', ...at])
    expect(before).toMatchObject({ cluster: 'embedded', pid: null, rpc_url: null, transactions: 0 })
    expect(before.programs).toHaveLength(6)
    expect(before.programs.every(({ loaded }: { loaded: boolean }) => !loaded)).toBe(true)

    const first = await jsonOfProcess(['localnet', 'airdrop', WALLET, '4123456.123456789', ...at])
    expect(first).toMatchObject({ address: WALLET, lamports: '4123456123456789', balance: '4123456123456789' })
    const second = await jsonOfProcess(['localnet', 'airdrop', WALLET, '0.000000001', ...at])
    expect(second).toMatchObject({ lamports: '1', balance: '4123456123456790' })

    const moved = await jsonOfProcess(['localnet', 'advance', '86400', ...at])
    expect(moved.unix_timestamp - before.unix_timestamp).toBeGreaterThanOrEqual(86_400)
    const after = await jsonOfProcess(['localnet', 'status', ...at])
    expect(after.transactions).toBe(2)
    expect(after.slot).toBeGreaterThan(before.slot + 86_400 / 0.4)
    expect(after.unix_timestamp).toBeGreaterThanOrEqual(moved.unix_timestamp)
  })

  it('says in its table which programs are missing and how to get them', async () => {
    const { exitCode, stdout, stderr } = await svc(['localnet', 'status', ...at])
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^CLUSTER +embedded$/m)
    expect(stdout).toMatch(/^ {2}missing +Meteora DBC \(dbcij3LWUppWqq96dh6gJWwBifmcGfLSB5D4DuSMaqN\)$/m)
    expect(stderr).toContain('6 missing: fill the program cache with `svc localnet pull`')
  })

  it.each([
    [['airdrop', WALLET, '1.0000000001'], 'more than 9 fractional digits'],
    [['airdrop', WALLET, '1e3'], 'must be an amount like 1.5'],
    [['airdrop', WALLET, '.5'], 'must be an amount like 1.5'],
    [['airdrop', WALLET, '0'], 'must be more than 0'],
    [['airdrop', WALLET, '18446744073.709551616'], 'at most 18446744073.709551615'],
    [['airdrop', MINT.replace('S', 'T'), '0.000000001'], 'must be at least 890880 lamports'],
    [['airdrop', 'nobody', '1'], '<address> must be a base58 address'],
    [['airdrop', `${WALLET}1`, '1'], '<address> must be a base58 address'],
    [['advance', '0'], '<seconds> must be a whole number from 1'],
    [['status', '--url', 'devnet'], 'is the embedded chain, not devnet'],
  ])('refuses localnet %j', async (args, message) => {
    expect(await svc(['localnet', ...args, ...at])).toMatchObject({
      exitCode: 2,
      stdout: '',
      stderr: expect.stringContaining(message),
    })
  })

  it('deletes the chain when that is agreed to, and begins another', async () => {
    const dataDir = folder('reset')
    await json(['localnet', 'airdrop', WALLET, '1', '--data-dir', dataDir])
    const refused = await onTerminal(cli, ['localnet', 'reset', '--data-dir', dataDir], [['Delete', 'n']])
    expect(refused.exitCode).toBe(130)
    expect((await json(['localnet', 'status', '--data-dir', dataDir])).transactions).toBe(1)
    const { files } = await json(['localnet', 'reset', '--yes', '--data-dir', dataDir])
    expect(files).toContain(join(dataDir, 'chain.db'))
    expect(existsSync(join(dataDir, 'chain.db'))).toBe(false)
    expect((await json(['localnet', 'status', '--data-dir', dataDir])).transactions).toBe(0)
    expect(await json(['localnet', 'reset', '--yes', '--data-dir', folder('never-used')])).toEqual({ files: [] })
  })

  it('tells which process has the chain when one that serves nothing holds its journal', async () => {
    const dataDir = folder('held')
    const chain = await openLocalChain({ dataDir, programsDir: dataDir })
    const [status, reset] = await Promise.all([
      spawned(['localnet', 'status', '--data-dir', dataDir]),
      spawned(['localnet', 'reset', '--yes', '--data-dir', dataDir]),
    ])
    chain.close()
    expect(status).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(`in use by process ${process.pid}`) })
    expect(reset).toMatchObject({ exitCode: 5, stderr: expect.stringContaining(`in use by process ${process.pid}`) })
    expect(existsSync(join(dataDir, 'chain.db'))).toBe(true)
  })
})

describe('with a daemon', () => {
  it('goes through the chain that the daemon serves, which opens at its first use', async () => {
    const dataDir = folder('served')
    const at = ['--data-dir', dataDir]
    const daemon = await daemonOf(dataDir)
    const { rpc_url, ws_url, ...rest } = fileOf(dataDir, 'daemon.json')
    const database = expect.any(String)
    expect(rest).toEqual({ pid: daemon.process.pid, database, url: daemon.url, role: 'all', cluster: 'embedded' })
    expect(Number(new URL(ws_url).port)).toBe(Number(new URL(rpc_url).port) + 1)
    expect(statSync(join(dataDir, 'localnet.json')).mode & 0o777).toBe(0o600)
    expect((await daemon.request('GET', '/ready', { key: null })).json.data).toEqual({
      ready: true,
      role: 'all',
      checks: { database: 'ok', rpc: 'ok', workers: 'ok' },
    })
    expect(existsSync(join(dataDir, 'chain.db'))).toBe(false)

    expect(await json(['localnet', 'airdrop', WALLET, '2.5', ...at])).toMatchObject({ balance: '2500000000' })
    expect(await rpc(rpc_url, 'getBalance', WALLET, { commitment: 'processed' })).toMatchObject({
      value: 2_500_000_000,
    })
    const status = await json(['localnet', 'status', ...at])
    expect(status).toMatchObject({ pid: daemon.process.pid, rpc_url, ws_url, transactions: 1 })
    const moved = await json(['localnet', 'advance', '3600', ...at])
    expect(moved.unix_timestamp).toBeGreaterThanOrEqual(status.unix_timestamp + 3600)
    expect((await svc(['status', ...at])).stderr).toContain('Cluster: embedded')

    for (const args of [['start'], ['reset', '--yes']]) {
      expect(await spawned(['localnet', ...args, ...at])).toMatchObject({
        exitCode: 5,
        stdout: '',
        stderr: expect.stringContaining(`process ${daemon.process.pid}`),
      })
    }
    await daemon.stop()
    expect(existsSync(join(dataDir, 'localnet.json'))).toBe(false)
    expect((await json(['localnet', 'airdrop', WALLET, '1', ...at])).balance).toBe('3500000000')
  })

  it('keeps every balance that was answered when the daemon is killed, and goes on without it', async () => {
    const dataDir = folder('killed')
    const daemon = await daemonOf(dataDir)
    const { balance } = await json(['localnet', 'airdrop', WALLET, '7', '--data-dir', dataDir])
    await daemon.stop('SIGKILL')
    expect(existsSync(join(dataDir, 'localnet.json'))).toBe(true)
    const next = await json(['localnet', 'airdrop', WALLET, '1', '--data-dir', dataDir])
    expect(BigInt(next.balance)).toBe(BigInt(balance) + 1_000_000_000n)
  })

  it('refuses a flag for another cluster than the daemon works on, and remarks on a setting', async () => {
    const dataDir = folder('mismatch')
    await daemonOf(dataDir)
    const refused = await svc(['pools', 'list', '-u', 'devnet', '--data-dir', dataDir])
    expect(refused).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('works on embedded, not on devnet') })
    const noted = await svc(['pools', 'list', '--data-dir', dataDir], { env: { SVC_URL: 'd' } })
    expect(noted).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('works on embedded, not on devnet') })
    const fits = await svc(['pools', 'list', '--url', 'embedded', '--data-dir', dataDir])
    expect(fits).toMatchObject({ exitCode: 0, stderr: 'None found.\n' })
  })

  it('serves no chain where it works on a cluster, asks that one at most once a second and shows its host alone', async () => {
    let answers = true
    let asked = 0
    const node = await listening((request, response) => {
      asked++
      request.resume().on('end', () => {
        response.writeHead(answers ? 200 : 500, { 'content-type': 'application/json' })
        response.end('{"jsonrpc":"2.0","id":"1","result":9}')
      })
    })
    const dataDir = folder('remote')
    const began = performance.now()
    const url = `http://127.0.0.1:${node.port}/hush-path?api-key=hush-query`
    const daemon = await daemonOf(dataDir, [], { SVC_URL: url, SVC_LOG_LEVEL: 'debug' })
    let log = ''
    daemon.process.stderr!.on('data', (text) => {
      log += text
    })
    const label = `127.0.0.1:${node.port}`
    expect(fileOf(dataDir, 'daemon.json')).toEqual({
      ...{ pid: daemon.process.pid, database: expect.any(String), url: daemon.url, role: 'all', cluster: label },
    })
    expect(existsSync(join(dataDir, 'localnet.json'))).toBe(false)
    const ready = () => daemon.request('GET', '/ready', { key: null })
    const all = await Promise.all([ready(), ready(), ready(), ready()])
    expect(all.map(({ status, json }) => [status, json.data.checks.rpc])).toEqual(Array(4).fill([200, 'ok']))
    expect(asked).toBeLessThanOrEqual(1 + Math.ceil((performance.now() - began) / 1000))

    const env = { SVC_URL: url }
    const shown = await Promise.all([
      svc(['status', '--data-dir', dataDir], { env }),
      svc(['doctor', '--data-dir', dataDir], { env }),
      svc(['config', 'list', '--data-dir', dataDir], { env }),
      svc(['config', 'get', 'url', '--json'], { env }),
    ])
    expect(shown[0]).toMatchObject({ exitCode: 0, stderr: expect.stringContaining(`Cluster: ${label}`) })
    expect(shown[1].stdout).toMatch(new RegExp(`^ok +cluster +${label} \\(SVC_URL\\)$`, 'm'))
    expect(shown[1].stdout).toMatch(new RegExp(`^ok +rpc +${label} answers, slot 9$`, 'm'))
    expect(JSON.parse(shown[3].stdout)).toMatchObject({ value: label, origin: 'environment' })

    answers = false
    await expect.poll(async () => (await ready()).status).toBe(503)
    expect((await ready()).json.data).toEqual({
      ...{ ready: false, role: 'all', checks: { database: 'ok', rpc: 'failing', workers: 'ok' } },
      reasons: { rpc: 'the chain does not answer' },
    })
    const unwell = await svc(['doctor', '--data-dir', dataDir], { env })
    expect(unwell).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('the RPC node answers 500') })
    await daemon.stop()
    expect(log).toContain(label)
    for (const { stdout, stderr } of [...shown, unwell]) log += stdout + stderr
    expect(log).not.toContain('hush')
  })

  it('takes another port where the default one is taken, and says so; one that was asked for is refused', async () => {
    // Another run's test lets go of the port soon; whoever has it for longer takes it from this test as well.
    let outcome: string | undefined
    const take = async () => {
      await listening((_, response) => response.end(), 8899).then(
        () => (outcome = 'taken'),
        (error: NodeJS.ErrnoException) => (outcome = error.code),
      )
      return outcome
    }
    await expect
      .poll(take, { timeout: 60_000, interval: 200 })
      .toBe('taken')
      .catch(() => expect(outcome).toBe('EADDRINUSE'))
    const dataDir = folder('ports')
    const { rpc_url, stderr, stop } = await startLocalnet(dataDir, [])
    await expect.poll(stderr).toContain(`Port 8899 of 127.0.0.1 is taken: the embedded chain is at ${rpc_url}`)
    expect(rpc_url).not.toMatch(/:8899$/)
    expect(await rpc(rpc_url, 'getHealth')).toBe('ok')
    expect(await stop()).toBe(0)
    const refused = await spawned(['localnet', 'start', '--rpc-port', '8899', '--data-dir', dataDir])
    expect(refused).toMatchObject({
      exitCode: 5,
      stderr: expect.stringContaining('Port 8899 of 127.0.0.1 is taken; choose another with --rpc-port'),
    })
    const serve = await spawned(['serve', '--port', '0', '--rpc-port', '8899', '--data-dir', dataDir])
    expect(serve).toMatchObject({ exitCode: 5, stderr: expect.stringContaining('Port 8899') })
    expect(existsSync(join(dataDir, 'daemon.json'))).toBe(false)
  })
})

describe('a chain that is served alone', () => {
  it('is used by commands and by a daemon beside it, and refuses a second one', async () => {
    const dataDir = folder('start')
    const at = ['--data-dir', dataDir]
    const { pid, rpc_url, stop } = await startLocalnet(dataDir, ['--rpc-port', '0'])
    expect(fileOf(dataDir, 'localnet.json')).toMatchObject({ pid, rpc_url })
    expect(await spawned(['localnet', 'start', '--rpc-port', '0', ...at])).toMatchObject({
      exitCode: 5,
      stderr: expect.stringContaining(`is served by process ${pid}, at ${rpc_url}`),
    })
    expect((await json(['localnet', 'airdrop', WALLET, '3', ...at])).balance).toBe('3000000000')

    const daemon = await daemonOf(dataDir)
    expect(fileOf(dataDir, 'daemon.json').rpc_url).toBe(rpc_url)
    expect((await daemon.request('GET', '/ready', { key: null })).json.data.checks.rpc).toBe('ok')
    await daemon.stop()
    expect(fileOf(dataDir, 'localnet.json').pid).toBe(pid)

    expect(await stop()).toBe(0)
    expect(existsSync(join(dataDir, 'localnet.json'))).toBe(false)
    expect((await json(['localnet', 'status', ...at])).transactions).toBe(1)
  })
})

describe('svc localnet pull --from', () => {
  const SETTINGS = { slot_ms: 250, rent: { lamports_per_byte: 5080, exemption_threshold: 1, burn_percent: 50 } }
  let from: string
  let elf: Uint8Array
  beforeAll(async () => {
    from = mkdtempSync(join(tmpdir(), 'svc-from-'))
    const chain = await openLocalChain({ dataDir: from, programsDir: from })
    elf = chain.account('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL')!.data
    chain.close()
    for (const id of [PROGRAMS.core.id, PROGRAMS.lock.id]) writeFileSync(join(from, `${id}.so`), elf)
    writeFileSync(join(from, 'cluster.json'), JSON.stringify(SETTINGS))
  })
  afterAll(() => rmSync(from, { recursive: true, force: true }))

  it('fills the cache of the settings, from which the next chain loads its programs', async () => {
    const programsDir = join(cli.home, 'programs')
    const env = { SVC_PROGRAMS_DIR: programsDir }
    const args = ['localnet', 'pull', '--from', from, '--programs', 'core,lock']
    const { items, ...report } = await json(args, { env })
    expect(report).toEqual({
      source: from,
      programs_dir: programsDir,
      settings: { status: 'written', settings: SETTINGS, error: null },
    })
    expect(items.map(({ name, status }: Record<string, unknown>) => [name, status])).toEqual([
      ['Metaplex Core', 'written'],
      ['Jupiter Lock', 'written'],
    ])
    const again = await svc(args, { env })
    expect(again).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('0 written, 2 unchanged, 0 missing') })
    expect(again.stderr).toContain('Slots of 250 ms, rent of 5080 lamports per byte × 1 (unchanged)')
    const { programs, ...status } = await json(['localnet', 'status', '--data-dir', folder('pulled')], { env })
    expect(status).toMatchObject({ slot_ms: 250, lamports_per_byte: 5080 })
    const loaded = programs.filter(({ loaded }: { loaded: boolean }) => loaded)
    expect(loaded.map(({ name }: { name: string }) => name)).toEqual(['Metaplex Core', 'Jupiter Lock'])

    const doctor = async () =>
      (await json(['doctor', '--data-dir', folder('pulled')], { env })).filter(
        ({ check }: { check: string }) => check === 'program cache',
      )
    expect(await doctor()).toEqual([
      expect.objectContaining({
        status: 'warn',
        detail: expect.stringMatching(/^2 of 6 programs in .*missing: Meteora DBC/),
      }),
    ])
    writeFileSync(join(programsDir, `${PROGRAMS.core.id}.so`), Buffer.concat([elf, Buffer.alloc(8)]))
    expect(await doctor()).toContainEqual(
      expect.objectContaining({ status: 'warn', detail: 'Metaplex Core is not the file that was pulled' }),
    )
  })

  it('exits 1 when a program is missing there or is none, having taken the rest', async () => {
    const env = { SVC_PROGRAMS_DIR: join(cli.home, 'partial') }
    writeFileSync(join(from, `${PROGRAMS.distributor.id}.so`), 'not a program')
    const { exitCode, stdout, stderr } = await svc(['localnet', 'pull', '--from', from, '-o', 'plain'], { env })
    expect(exitCode).toBe(1)
    expect(stdout).toMatch(/^failed\tprogram\tJito merkle distributor\t.*\tit is not an ELF file$/m)
    expect(stdout).toMatch(/^missing\tprogram\tMeteora DBC\t/m)
    expect(stderr).toContain('2 written, 0 unchanged')
    expect(existsSync(join(cli.home, 'partial', `${PROGRAMS.core.id}.so`))).toBe(true)
  })

  it.each([
    [['--from', '/nowhere/at/all'], '/nowhere/at/all does not exist'],
    [['--programs', 'serum', '--from', '.'], 'there is no program "serum"'],
    [['--from', '.', '--url', 'm'], 'give either --from or --url'],
    [['--url', 'embedded'], 'gets its programs from this cache'],
  ])('refuses %j', async (args, message) => {
    expect(await svc(['localnet', 'pull', ...args])).toMatchObject({
      exitCode: 2,
      stdout: '',
      stderr: expect.stringContaining(message),
    })
  })
})

describe('the cluster', () => {
  const label = async (args: string[], options = {}) => {
    const { exitCode, stderr } = await svc(['status', ...args], options)
    expect(exitCode, stderr).toBe(0)
    return /^Cluster: (.*)$/m.exec(stderr)?.[1]
  }

  it.each([
    [[], 'embedded'],
    [['-u', 'm'], 'mainnet-beta'],
    [['-ud'], 'devnet'],
    [['--url', 't'], 'testnet'],
    [['--url=localhost'], 'localhost'],
    [['-u', 'https://rpc.example.com/key'], 'rpc.example.com'],
  ])('is chosen by %j before or after the noun', async (args, wanted) => {
    expect(await label(args)).toBe(wanted)
    const before = await svc([...args, 'status'])
    expect(before.stderr).toContain(`Cluster: ${wanted}`)
  })

  it("is the Solana CLI's where no setting says otherwise", async () => {
    const home = folder('with-solana')
    mkdirSync(join(home, '.config/solana/cli'), { recursive: true })
    writeFileSync(
      join(home, '.config/solana/cli/config.yml'),
      '---\njson_rpc_url: "https://api.devnet.solana.com"\nwebsocket_url: ""\n',
    )
    const env = { HOME: home }
    expect(await label([], { env })).toBe('devnet')
    expect(await label([], { env: { ...env, SVC_URL: 'testnet' } })).toBe('testnet')
    expect(await label(['-u', 'embedded'], { env })).toBe('embedded')
    expect(await json(['config', 'get', 'url'], { env })).toMatchObject({ origin: 'solana' })
    await svc(['config', 'set', 'url', 'embedded'], { env })
    expect(await label([], { env })).toBe('embedded')
    const status = await json(['localnet', 'status'], { env })
    expect(status.cluster).toBe('embedded')
  })

  it('is refused where it is no cluster, without repeating what may hold a key', async () => {
    const refused = await svc(['status', '-u', 'rpc.example.com/hush'])
    expect(refused).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('url (--url) must be embedded') })
    expect(refused.stderr).not.toContain('hush')
    const set = await svc(['config', 'set', 'url', 'https://rpc.example.com/hush'])
    expect(set.exitCode).toBe(0)
    const profiles = await svc(['config', 'profiles'])
    await svc(['config', 'unset', 'url'])
    expect(set.stdout + profiles.stdout).not.toContain('hush')
  })

  it('is -u alone where a verb has a url of its own', async () => {
    const args = ['webhooks', 'create', '--events', '*', '--url', 'https://8.8.8.8/svc', '-u', 'embedded']
    const created = await json([...args, '--data-dir', folder('hooks')])
    expect(created.url).toBe('https://8.8.8.8/svc')
    const refused = await svc(['webhooks', 'create', '--events', '*', '--url', 'https://h.example.com', '-u', 'x'])
    expect(refused).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('url (--url) must be embedded') })
    expect((await svc(['webhooks', 'list', '--url', 'embedded', '--data-dir', folder('hooks')])).exitCode).toBe(0)
  })

  it('leaves work that needs no chain alone', async () => {
    const file = cli.file('one.csv', `${MINT},1`)
    expect((await svc(['merkle', 'build', file, '--mint', MINT, '-u', 'devnet'])).exitCode).toBe(0)
  })
})

/** A server for one test; `port` 0 takes any. */
async function listening(
  answer: Parameters<typeof createServer>[1] & object,
  port = 0,
): Promise<{ server: Server; port: number }> {
  const server = createServer(answer)
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { server, port: (server.address() as AddressInfo).port }
}
