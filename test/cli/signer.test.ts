/** The platform wallet from the command line: set up, bounded, tried, paused, and its log. */
import { mkdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Keypair } from '@solana/web3.js'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { DEFAULT_PROGRAMS } from '../../src/policy/policy.ts'
import { SYSTEM_PROGRAM } from '../../src/solana/program-ids.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { commandLine } from './command-line.ts'
import { serveHere } from './served.ts'

const cli = commandLine()
const { svc } = cli
const wallet = Keypair.generate()
const address = wallet.publicKey.toBase58()

const { json } = cli

beforeAll(async () => {
  expect((await svc(['signer', 'status'])).stdout).toContain('No signer is configured')
  const refused = await svc(['signer', 'address'])
  expect([refused.exitCode, refused.stderr.includes('no signer is configured')]).toEqual([2, true])
  const none = join(cli.home, 'none.json')
  await cli.refused(
    ['config', 'set', 'signer.keypair', none],
    `signer.keypair: ${none} cannot be read: there is no such`,
  )
  await cli.refused(['config', 'set', 'signer.keypair', cli.home], `signer.keypair: ${cli.home} is not a file`)
  const file = cli.file('platform.json', JSON.stringify([...wallet.secretKey]), 0o644)
  await json(['config', 'set', 'signer', 'keypair'])
  await json(['config', 'set', 'signer.keypair', file])
  await json(['config', 'set', 'priority-fee', 'none'])
  const open = await svc(['signer', 'status'])
  expect(open.exitCode).toBe(1)
  expect(open.stderr).toMatch(/platform\.json .*chmod 600/s)
  cli.file('platform.json', JSON.stringify([...wallet.secretKey]), 0o600)
  await json(['localnet', 'airdrop', address, '10'])
})

describe('svc signer', () => {
  it('shows that at first nothing may leave the wallet, and how to change that', async () => {
    const { stdout, stderr } = await svc(['signer', 'status'])
    expect(stdout).toContain(`address          ${address}`)
    expect(stdout).toContain('per transaction  0 SOL, of which at most')
    expect(stderr).toContain('svc signer policy --per-transaction')
    expect((await svc(['signer', 'address'])).stdout).toBe(`${address}\n`)
    expect((await svc(['signer', 'test'])).stdout).toMatch(new RegExp(`keypair signed for ${address} in \\d+ ms`))
    const refused = await svc(['signer', 'test', '--submit'])
    expect(refused.exitCode).toBe(2)
    expect(refused.stderr).toMatch(/lamports_per_transaction|in one transaction/)
  })

  it('test needs a yes on a cluster where signing costs something', async () => {
    await cli.refused(['signer', 'test', '--submit', '-u', 'mainnet-beta'], 'confirm it with --yes')
  })

  it('and svc config say if the daemon runs with other settings than configured', async () => {
    const dataDir = join(cli.home, 'older')
    mkdirSync(dataDir)
    const daemon = await serveHere(dataDir)
    onTestFinished(() => daemon.stop())
    const options = { env: { SVC_DATA_DIR: dataDir } }
    const none = await svc(['signer', 'status'], options)
    expect(none.stdout).toContain('No signer is configured')
    expect(none.stderr).toContain('The daemon runs with signer none, configured is keypair: it reads its settings when')
    const set = await svc(['config', 'set', 'signer.cluster', 'embedded'], options)
    expect(set.stderr).toContain(`stop it (kill ${process.ppid}) and start it again`)
    expect((await svc(['config', 'unset', 'signer.cluster'], options)).stderr).toContain('start it again')
    const own = await svc(['config', 'set', 'output', 'table'], options)
    expect([own.stderr, own.exitCode]).toEqual(['', 0])
    expect((await svc(['config', 'unset', 'output'], options)).stderr).toBe('')
    // Without a daemon the next command reads it.
    expect((await svc(['config', 'set', 'priority-fee', 'none'])).stderr).toBe('')
    expect((await svc(['signer', 'status'])).stderr).not.toContain('The daemon runs')
  })

  it('policy takes SOL and raw units exactly', async () => {
    const mint = Keypair.generate().publicKey.toBase58()
    const changed = await json([
      ...['signer', 'policy', '--per-transaction', '0.5', '--per-day', '0.000010000', '--max-fee', '0.00001'],
      ...['--token', `${mint}:5:18446744073709551615`, '--yes'],
    ])
    expect(changed.policy).toMatchObject({
      lamports_per_transaction: '500000000',
      lamports_per_day: '10000',
      max_fee_lamports: '10000',
      tokens: [{ mint, per_transaction: '5', per_day: '18446744073709551615' }],
      destinations: null,
    })
    expect((await json(['signer', 'policy', '--destinations', address, '--yes'])).policy.destinations).toEqual([
      address,
    ])
    expect(
      (await json(['signer', 'policy', '--destinations', 'any', '--token', `${mint}:0:0`, '--yes'])).policy,
    ).toMatchObject({
      destinations: null,
      tokens: [],
    })
    expect((await json(['signer', 'policy'])).policy.lamports_per_day).toBe('10000')
  })

  it('policy and status say whether what it signs is guarded', async () => {
    expect((await svc(['signer', 'status'])).stdout).toMatch(/^guards +when-it-fits$/m)
    const required = await svc(['signer', 'policy', '--guards', 'required', '--yes'])
    expect(`${required.stderr}${required.stdout}`).toMatch(/guards +when-it-fits → required[\s\S]*^guards +required$/m)
    const { policy } = await json(['signer', 'policy', '--guards', 'when-it-fits', '--powers', 'none', '--yes'])
    expect([policy.guards, policy.powers]).toEqual(['when_it_fits', []])
    // The test of the audit log below sees that a later change leaves both as they were written.
  })

  it.each([
    [['--guards', 'maybe'], '--guards must be required or when-it-fits or off, not "maybe"'],
    [['--per-day', '1.0000000001'], '--per-day has more than 9 fractional digits'],
    [['--per-transaction', '1e3'], '--per-transaction must be an amount like 1.5'],
    [['--per-transaction', '1,500'], '--per-transaction: "1,500" can mean 1500 or 1.500; type one of these'],
    [['--per-transaction', '15,00.5'], '--per-transaction must be an amount like 1.5'],
    [['--token', 'x'], '--token must be MINT:UNITS_PER_TRANSACTION:UNITS_PER_DAY'],
    [['--token', 'x:1:1'], '--token item 1 (mint)'],
    [['--programs', 'nobody'], '--programs: must be a base58 address'],
    [['--programs', `${SYSTEM_PROGRAM},nobody`], '--programs item 2: must be a base58 address'],
    [['--powers', 'freeze,mint'], '--powers does not know "mint"'],
    [['--wait', 'powers'], 'say with --approvals how many approvals it needs'],
  ])('policy %j is refused and nothing changes', async (flags, message) => {
    await cli.refused(['signer', 'policy', ...flags, '--yes'], message)
  })

  it('policy shows old and new value of each rule that it changes, in SOL, tokens and names', async () => {
    const mint = Keypair.generate().publicKey.toBase58()
    const { stderr } = await svc([
      ...['signer', 'policy', '--per-transaction', '1,500.25', '--per-day', '0.00001', '--destinations', address],
      ...['--token', `${mint}:5:1000`, '--programs', `${SYSTEM_PROGRAM},${PROGRAMS.dbc.id}`, '--yes'],
    ])
    expect(stderr).toMatch(/per transaction +0\.5 SOL → 1,500\.25 SOL/)
    expect(stderr).toMatch(/per day +0\.00001 SOL, as now/)
    expect(stderr).toContain('SOL: 1,500.25 SOL per transaction is more than the 0.00001 SOL of a day, which counts')
    expect(stderr).toMatch(new RegExp(`destinations +any → ${address}`))
    expect(stderr).toContain('none may leave → 5 raw units a transaction, 1,000 raw units a day')
    expect(stderr).toMatch(/program removed +SPL Token \(Tokenkeg/)
    expect((await svc(['signer', 'status'])).stdout).toContain('System program, Meteora DBC')
    const { file, address: maker } = cli.keypair('maker.json')
    const token = ['--name', 'Known', '--symbol', 'KNOWN', '--uri', 'https://example.com/k.json', '--supply', '1']
    await json(['localnet', 'airdrop', maker, '1'])
    const made = await json(['tokens', 'create', ...token, '--token-program', 'token2022', '-k', file, '--yes'])
    const named = await svc(['signer', 'policy', '--token', `${made.mint}:1500000:2500000000`, '--yes'])
    expect(named.stderr).toContain(`${made.mint}: none may leave → 1.5 KNOWN a transaction, 2,500 KNOWN a day`)
    await json([
      ...['signer', 'policy', '--per-transaction', '0.5', '--destinations', 'any'],
      ...['--token', `${mint}:0:0,${made.mint}:0:0`],
      ...['--programs', DEFAULT_PROGRAMS.join(','), '--yes'],
    ])
  })

  it('policy names the powers over holders, which are none at first', async () => {
    expect((await json(['signer', 'policy'])).policy.powers).toEqual([])
    expect((await svc(['signer', 'status'])).stdout).toMatch(/powers +none/)
    const { stderr } = await svc(['signer', 'policy', '--powers', 'pause,freeze', '--yes'])
    expect(stderr).toMatch(/powers +none → freeze, pause/)
    expect((await svc(['signer', 'status'])).stdout).toMatch(/powers +freeze, pause/)
    expect((await json(['signer', 'policy', '--powers', 'none', '--yes'])).policy.powers).toEqual([])
  })

  it('policy needs a yes', async () => {
    await cli.refused(['signer', 'policy', '--per-day', '1', '--no-input'], '--yes')
  })

  it('signs memos until the daily limit, pauses, resumes, and starts a new day', async () => {
    for (const memo of ['hello', 'hello again']) {
      const { signature } = await json(['signer', 'test', '--submit', '--memo', memo])
      const { err } = await json(['tx', 'get', signature])
      expect(err).toBeNull()
    }
    await cli.refused(['signer', 'test', '--submit'], 'svc signer reset')
    await json(['signer', 'reset', '--yes'])
    await json(['signer', 'pause', '--reason', 'keys are being moved'])
    await cli.refused(['signer', 'test', '--submit'], 'keys are being moved')
    await json(['signer', 'resume', '--yes'])
    await json(['signer', 'test', '--submit'])
    expect((await svc(['signer', 'status'])).stdout).toMatch(/0\.000005 SOL spent .* 0\.000005 SOL left/)
  })
})

describe('svc audit', () => {
  it('lists, verifies and exports what was signed and changed', async () => {
    const list = await json(['audit', 'list', '--order', 'asc', '--all'])
    const actions = list.map(({ action }: { action: string }) => action)
    expect(actions.filter((action: string) => action === 'signing.signed')).toHaveLength(3)
    expect(actions.slice(-4)).toEqual(['signing.refused', 'signer.resumed', 'signing.intended', 'signing.signed'])
    const verified = await svc(['audit', 'verify'])
    expect(verified.stdout).toBe(`${list.length} entries, all intact. Head: ${list.at(-1).hash}\n`)
    expect((await svc(['audit', 'verify', '--head', list[0].hash])).exitCode).toBe(0)
    const cut = await svc(['audit', 'verify', '--head', 'ab'.repeat(32)])
    expect([cut.exitCode, cut.stdout]).toEqual([1, expect.stringContaining('is not valid')])

    const file = join(cli.home, 'audit.jsonl')
    expect((await svc(['audit', 'export', file])).stdout).toBe(`Wrote ${list.length} entries to ${file}.\n`)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toEqual(list)
    await cli.refused(['audit', 'export', file], '--force')
    expect((await svc(['audit', 'export', file, '--force'])).exitCode).toBe(0)
    await cli.refused(['audit', 'export', join(cli.home, 'no', 'folder.jsonl')], 'cannot be written')
  })
})
