/** `svc localnet` and the choice of the cluster, through the built command: with a daemon, with a chain served alone, and without. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { solOf } from '../../commands/cli/amounts.ts'
import { lamportsInput } from '../../commands/localnet.ts'
import { openLocalChain } from '../../src/localnet/index.ts'
import { solText } from '../../src/solana/amounts.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { startDaemon } from '../support/daemon.ts'
import { freePort } from '../support/ports.ts'
import { WALLET_RENT } from '../support/rent.ts'
import { configureSolanaCli } from '../support/solana-cli.ts'
import { commandLine, MINT, onTerminal, STACK_FRAME } from './command-line.ts'
import { fileOf, rpc, startLocalnet } from './localnet-process.ts'

const cli = commandLine()
const { svc, spawned } = cli
const WALLET = '9B5XszUGdMaxCZ7uSQhPzdks5ZQSmWxrmzCSvtJ6Ns6g'

const { json } = cli
/** By a process of its own, because the test is about what one process leaves to the next. */
const jsonOfProcess = async (args: string[]) => {
  const { exitCode, stdout, stderr } = await spawned([...args, '--json'])
  expect(exitCode, stderr).toBe(0)
  return JSON.parse(stdout)
}
const folder = (name: string) => {
  const path = join(cli.home, name)
  mkdirSync(path, { recursive: true })
  return path
}

describe('An amount of SOL', () => {
  it('is read and written exactly, up to the last lamport of a u64', () => {
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

describe('svc localnet without a daemon', () => {
  const at = ['--data-dir', join(cli.home, 'alone')]

  it('shows the chain, gives SOL, moves the clock, and keeps all of it for the next process', async () => {
    const before = await json(['localnet', 'status', ...at])
    expect(before).toMatchObject({ cluster: 'embedded', pid: null, rpc_url: null, transactions: 0 })
    expect(before.programs).toHaveLength(9)
    expect(before.programs.every(({ loaded }: { loaded: boolean }) => !loaded)).toBe(true)

    const first = await jsonOfProcess(['localnet', 'airdrop', WALLET, '4123456.123456789', ...at])
    expect(first).toMatchObject({ address: WALLET, lamports: '4123456123456789', balance: '4123456123456789' })
    const second = await json(['localnet', 'airdrop', WALLET, '0.000000001', ...at])
    expect(second).toMatchObject({ lamports: '1', balance: '4123456123456790' })

    const moved = await json(['localnet', 'advance', '86400', ...at])
    expect(moved.unix_timestamp - before.unix_timestamp).toBeGreaterThanOrEqual(86_400)
    const after = await json(['localnet', 'status', ...at])
    expect(after.transactions).toBe(2)
    expect(after.slot).toBeGreaterThan(before.slot + 86_400 / 0.4)
    expect(after.unix_timestamp).toBeGreaterThanOrEqual(moved.unix_timestamp)
  })

  it('status names the programs that are missing and how to get them', async () => {
    const { exitCode, stdout, stderr } = await svc(['localnet', 'status', ...at])
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^CLUSTER +embedded$/m)
    expect(stdout).toMatch(/^CONSENSUS +(Alpenglow since slot 440208000|Tower)$/m)
    expect(stdout).toMatch(/^ {2}missing +Meteora DBC \(dbcij3LWUppWqq96dh6gJWwBifmcGfLSB5D4DuSMaqN\)$/m)
    expect(stderr).toContain('9 missing: fill the program cache with `svc localnet pull`')
  })

  it.each([
    [['airdrop', WALLET, '1.0000000001'], 'more than 9 fractional digits'],
    [['airdrop', WALLET, '1e3'], 'must be an amount like 1.5'],
    [['airdrop', WALLET, '.5'], 'must be an amount like 1.5'],
    [['airdrop', WALLET, '0'], 'must be more than 0'],
    [['airdrop', WALLET, '18446744073.709551616'], 'at most 18,446,744,073.709551615'],
    [['airdrop', MINT.replace('S', 'T'), '0.000000001'], `must be at least ${solText(WALLET_RENT)}`],
    [['airdrop', 'nobody', '1'], '<address> must be a base58 address'],
    [['airdrop', `${WALLET}1`, '1'], '<address> must be a base58 address'],
    [['advance', '0'], '<seconds> must be a whole number from 1'],
    [['status', '--url', 'devnet'], 'is the embedded chain, not devnet'],
  ])('refuses %j', async (args, message) => {
    await cli.refused(['localnet', ...args, ...at], message)
  })

  it('reset deletes the chain after a yes, and the next command starts a new one', async () => {
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

  it('names the process that uses the chain, if that one does not serve it', async () => {
    const dataDir = folder('held')
    const chain = await openLocalChain({ dataDir, programsDir: dataDir })
    const user = `in use by process ${process.pid}`
    await cli.refused(['localnet', 'status', '--data-dir', dataDir], user, 1)
    await cli.refused(['localnet', 'reset', '--yes', '--data-dir', dataDir], user, 5)
    chain.close()
    expect(existsSync(join(dataDir, 'chain.db'))).toBe(true)
  })
})

describe('svc localnet with a daemon', () => {
  it('uses the chain of the daemon, which opens at its first use, and refuses a flag for another cluster', async () => {
    const dataDir = folder('served')
    const at = ['--data-dir', dataDir]
    const daemon = await startDaemon({ dataDir })
    onTestFinished(() => daemon.stop())
    const { rpc_url, ws_url, ...rest } = fileOf(dataDir, 'daemon.json')
    const database = expect.any(String)
    const place = { cluster_unchosen: null, database, url: daemon.url, role: 'all', cluster: 'embedded' }
    expect(rest).toEqual({ pid: daemon.process.pid, reload_signal: 'SIGUSR2', ...place })
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

    for (const [run, args] of [
      [spawned, ['start']],
      [svc, ['reset', '--yes']],
    ] as const) {
      expect(await run(['localnet', ...args, ...at])).toMatchObject({
        exitCode: 5,
        stdout: '',
        stderr: expect.stringContaining(`process ${daemon.process.pid}`),
      })
    }

    const mismatch = 'works on embedded, not on devnet'
    await cli.refused(['pools', 'list', '-u', 'devnet', ...at], mismatch)
    const noted = await svc(['pools', 'list', ...at], { env: { SVC_URL: 'd' } })
    expect(noted).toMatchObject({ exitCode: 0, stderr: expect.stringContaining(mismatch) })
    const fits = await svc(['pools', 'list', '--url', 'embedded', ...at])
    expect(fits).toMatchObject({ exitCode: 0, stderr: 'None found.\n' })

    await daemon.stop()
    expect(existsSync(join(dataDir, 'localnet.json'))).toBe(false)
    expect((await json(['localnet', 'airdrop', WALLET, '1', ...at])).balance).toBe('3500000000')
  })
})

describe('A chain of svc localnet start', () => {
  it('is used by commands, and refuses a second server', async () => {
    const dataDir = folder('start')
    const at = ['--data-dir', dataDir]
    const { pid, rpc_url, stop } = await startLocalnet(cli, dataDir, ['--rpc-port', '0'])
    expect(fileOf(dataDir, 'localnet.json')).toMatchObject({ pid, rpc_url })
    expect(await spawned(['localnet', 'start', '--rpc-port', '0', ...at])).toMatchObject({
      exitCode: 5,
      stderr: expect.stringContaining(`is served by process ${pid}, at ${rpc_url}`),
    })
    expect((await json(['localnet', 'airdrop', WALLET, '3', ...at])).balance).toBe('3000000000')

    expect(await stop()).toBe(0)
    expect(existsSync(join(dataDir, 'localnet.json'))).toBe(false)
    expect((await json(['localnet', 'status', ...at])).transactions).toBe(1)
  })
})

describe('The consensus of svc localnet start', () => {
  it('is a flag: a chain begins on either, may change to Alpenglow, and is refused to go back', async () => {
    const dataDir = folder('consensus')
    const at = ['--data-dir', dataDir]
    const start = (consensus: string) => startLocalnet(cli, dataDir, ['--rpc-port', '0', '--consensus', consensus])
    const tower = await start('tower')
    expect(await rpc(tower.rpc_url, 'getAgGenesisCert')).toBeNull()
    expect(await json(['localnet', 'status', ...at])).toMatchObject({ consensus: 'tower', alpenglow_slot: null })
    await tower.stop()
    const migrated = await start('alpenglow')
    const status = await json(['localnet', 'status', ...at])
    expect(status).toMatchObject({ consensus: 'alpenglow', alpenglow_slot: expect.any(Number) })
    expect(await rpc(migrated.rpc_url, 'getAgGenesisCert')).toMatchObject({ block: { slot: status.alpenglow_slot } })
    await migrated.stop()
    expect(await spawned(['localnet', 'start', '--rpc-port', '0', '--consensus', 'tower', ...at])).toMatchObject({
      exitCode: 2,
      stdout: '',
      stderr: expect.stringContaining(`runs Alpenglow since slot ${status.alpenglow_slot} and cannot go back to Tower`),
    })
  })
})

it('svc localnet pull from a cluster that does not answer says so once, and names other sources', async () => {
  const port = await freePort()
  const stderr = await cli.refused(['localnet', 'pull', '--url', `http://127.0.0.1:${port}`, '-o', 'table'], '', 1)
  expect(stderr).toMatch(
    /^error: nothing could be pulled from 127\.0\.0\.1:\d+: the RPC node cannot be reached \(.*\); a folder of another machine is read with --from DIR\n {2}next: .*--url URL/,
  )
  expect(stderr.trim().split('\n')).toHaveLength(2)
})

it.each([
  ['a configuration of the Solana CLI', {}, 'mainnet-beta'],
  ['SVC_RPC_URLS', { SVC_RPC_URLS: 'URLS' }, ''],
])('svc localnet pull names every source that it tried: %s', async (by, env, last) => {
  const home = folder(`tried-${by.length}`)
  const urls = [`http://127.0.0.1:${await freePort()}`, `http://127.0.0.1:${await freePort()}`]
  configureSolanaCli(home, urls[0])
  // Nothing of the tests leaves this machine: the public node is never reached.
  const proxy = { https_proxy: `http://127.0.0.1:${await freePort()}` }
  const more = 'SVC_RPC_URLS' in env ? { SVC_RPC_URLS: urls.join() } : {}
  const { stderr, exitCode } = await spawned(['localnet', 'pull', '--programs', 'lock'], {
    env: { HOME: home, SVC_PROGRAMS_DIR: join(home, 'programs'), ...proxy, ...more },
  })
  expect(exitCode).toBe(1)
  const shown = stderr.replaceAll(/\s+/g, ' ')
  const tried = 'SVC_RPC_URLS' in more ? urls.map((url) => new URL(url).host) : [new URL(urls[0]!).host, last]
  expect(shown).toMatch(
    new RegExp(`nothing could be pulled from ${tried[0]}: .*; from ${tried[1]}: .*; a folder .* --from DIR`),
  )
})

describe('svc localnet pull --from', () => {
  const SETTINGS = {
    slot_ms: 250,
    consensus: 'alpenglow',
    rent: { lamports_per_byte: 5080, exemption_threshold: 1, burn_percent: 50 },
  }
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

  it('fills the configured program cache, from which the next chain loads its programs', async () => {
    const programsDir = join(cli.home, 'programs')
    const env = { SVC_PROGRAMS_DIR: programsDir }
    const args = ['localnet', 'pull', '--from', from, '--programs', 'core,lock']
    const { items, ...report } = await json(args, { env })
    expect(report).toEqual({
      source: from,
      tried: [],
      programs_dir: programsDir,
      settings: { status: 'written', settings: SETTINGS, error: null },
    })
    expect(items.map(({ name, status }: Record<string, unknown>) => [name, status])).toEqual([
      ['Metaplex Core', 'written'],
      ['Jupiter Lock', 'written'],
    ])
    const again = await svc(args, { env })
    expect(again).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('0 written, 2 unchanged, 0 missing') })
    expect(again.stderr).toContain('Slots of 250 ms, Alpenglow, rent of 5080 lamports per byte × 1 (unchanged)')
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
        detail: expect.stringMatching(/^2 of 9 programs in .*missing: Meteora DBC/),
      }),
    ])
    writeFileSync(join(programsDir, `${PROGRAMS.core.id}.so`), Buffer.concat([elf, Buffer.alloc(8)]))
    expect(await doctor()).toContainEqual(
      expect.objectContaining({ status: 'warn', detail: 'Metaplex Core is not the file that was pulled' }),
    )
  })

  it('exits 1 if a program is missing or invalid, and writes the others', async () => {
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
    await cli.refused(['localnet', 'pull', ...args], message)
  })
})

describe('The cluster', () => {
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
  ])('is chosen by %j, before or after the noun', async (args, wanted) => {
    expect(await label(args)).toBe(wanted)
    const before = await svc([...args, 'status'])
    expect(before.stderr).toContain(`Cluster: ${wanted}`)
  })

  it('is that of the Solana CLI if no setting names one', async () => {
    const home = folder('with-solana')
    configureSolanaCli(home, 'https://api.devnet.solana.com')
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

  it('of the Solana CLI is warned of where SOL of the embedded chain is made', async () => {
    const home = folder('wallet-elsewhere')
    configureSolanaCli(home)
    const env = { HOME: home }
    const warning =
      /warning:? Other commands work on mainnet-beta, from the Solana CLI's configuration \(~\/\.config\/solana\/cli\/config\.yml\), not on this chain: export SVC_URL=embedded/
    const file = join(home, 'wallet.json')
    const plain = (text: string) => text.replaceAll(/\s+/g, ' ')
    expect(plain((await svc(['localnet', 'wallet', file], { env })).stderr)).toMatch(warning)
    const { address } = await json(['localnet', 'wallet', file], { env })
    expect(plain((await svc(['localnet', 'airdrop', address, '1'], { env })).stderr)).toMatch(warning)
    const chosen = await svc(['localnet', 'wallet', file], { env: { ...env, SVC_URL: 'embedded' } })
    expect(chosen.stderr).not.toContain('Other commands')
  })

  it.each([
    ['a configuration of the Solana CLI', "the Solana CLI's configuration (~/.config/solana/cli/config.yml"],
    ['--url', '--url'],
    ['SVC_URL', 'SVC_URL'],
    ['SVC_URL_FILE', 'SVC_URL_FILE'],
    ['SVC_RPC_URLS', 'SVC_RPC_URLS'],
    ['a profile', 'the setting url of your profile'],
  ])('that cannot be reached is named with where its URL comes from: %s', async (by, source) => {
    const home = folder(`source-${by.replaceAll(/\W/g, '-')}`)
    const url = `http://127.0.0.1:${await freePort()}`
    const env: Record<string, string> = { HOME: home }
    if (by === 'a configuration of the Solana CLI') configureSolanaCli(home, url)
    if (by === 'SVC_URL' || by === 'SVC_RPC_URLS') env[by] = url
    if (by === 'SVC_URL_FILE') env[by] = cli.file('url.secret', url, 0o600)
    if (by === 'a profile') await svc(['config', 'set', 'url', url], { env })
    const flags = by === '--url' ? ['--url', url] : []
    const { stderr, exitCode } = await svc(['accounts', 'get', MINT, ...flags], { env })
    expect(exitCode).toBe(1)
    const host = new URL(url).host
    expect(stderr.replaceAll(/\s+/g, ' ')).toContain(`The RPC node of ${host}, from ${source}`)
    expect(stderr).not.toMatch(STACK_FRAME)
  })

  it('of the Solana CLI alone is not confirmed by --yes, but by a choice for svc', async () => {
    const home = folder('unchosen')
    configureSolanaCli(home, `http://127.0.0.1:${await freePort()}`)
    const { file, address } = cli.keypair('pays.json')
    const send = ['wallet', 'send', address, '0.1', '-k', file, '--yes']
    const refusal = await svc(send, { env: { HOME: home } })
    expect(refusal.exitCode).toBe(2)
    expect(refusal.stderr.replaceAll(/\s+/g, ' ')).toMatch(
      /this would be sent to 127\.0\.0\.1:\d+, which only the Solana CLI's configuration \(.*\) names next: choose it with -u/,
    )
    // With a choice it gets as far as the node, which is not there.
    for (const chosen of [
      ['-u', 'http://127.0.0.1:1'],
      ['--url', 'http://127.0.0.1:1'],
    ]) {
      const asked = await svc([...send, ...chosen], { env: { HOME: home } })
      expect([asked.exitCode, asked.stderr.replaceAll(/\s+/g, ' ')]).toEqual([
        1,
        expect.stringContaining('cannot be reached'),
      ])
    }
    const own = await svc(send, { env: { HOME: home, SVC_URL: 'http://127.0.0.1:1' } })
    expect(own.stderr).toContain('cannot be reached')
  })

  it('is refused if it is not a cluster, and a URL that may contain a key is not repeated', async () => {
    const refused = await cli.refused(['status', '-u', 'rpc.example.com/hush'], 'url (--url) must be embedded')
    expect(refused).not.toContain('hush')
    const set = await svc(['config', 'set', 'url', 'https://rpc.example.com/hush'])
    expect(set.exitCode).toBe(0)
    const profiles = await svc(['config', 'profiles'])
    await svc(['config', 'unset', 'url'])
    expect(set.stdout + profiles.stdout).not.toContain('hush')
  })

  it('is set only by -u if the verb has its own --url', async () => {
    const args = ['webhooks', 'create', '--events', '*', '--url', 'https://8.8.8.8/svc', '-u', 'embedded']
    const created = await json([...args, '--data-dir', folder('hooks')])
    expect(created.url).toBe('https://8.8.8.8/svc')
    await cli.refused(
      ['webhooks', 'create', '--events', '*', '--url', 'https://h.example.com', '-u', 'x'],
      'url (--url) must be embedded',
    )
    expect((await svc(['webhooks', 'list', '--url', 'embedded', '--data-dir', folder('hooks')])).exitCode).toBe(0)
  })

  it('does not matter to work that needs no chain', async () => {
    const file = cli.file('one.csv', `${MINT},1`)
    expect((await svc(['merkle', 'build', file, '--mint', MINT, '-u', 'devnet'])).exitCode).toBe(0)
  })
})
