/** The platform wallet from the command line: set up, bounded, tried, paused, and its log. */
import { mkdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Keypair } from '@solana/web3.js'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { startDaemon } from '../support/daemon.ts'
import { commandLine, onTerminal } from './command-line.ts'

const cli = commandLine()
const { svc } = cli
const wallet = Keypair.generate()
const address = wallet.publicKey.toBase58()

const json = async (args: string[]) => {
  const { exitCode, stdout, stderr } = await svc([...args, '--json'])
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 })
  return JSON.parse(stdout)
}

beforeAll(async () => {
  expect((await svc(['signer', 'status'])).stdout).toContain('No signer is configured')
  const refused = await svc(['signer', 'address'])
  expect([refused.exitCode, refused.stderr.includes('no signer is configured')]).toEqual([2, true])
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
  it('shows that nothing may leave at first, and how to change that', async () => {
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

  it('asks before it signs and submits on a cluster where that costs something', async () => {
    const unasked = await svc(['signer', 'test', '--submit', '-u', 'mainnet-beta'])
    expect(unasked).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining('confirm it with --yes') })
    const args = ['signer', 'test', '--submit', '-u', 'mainnet-beta']
    const { exitCode, screen } = await onTerminal(cli, args, [['submit it on mainnet-beta?', 'n']])
    expect(exitCode, screen).toBe(130)
  })

  it('says when a daemon runs with other settings than those that are configured, and so does config', async () => {
    const dataDir = join(cli.home, 'older')
    mkdirSync(dataDir)
    const daemon = await startDaemon({ dataDir, flags: ['--rpc-port', '0'] })
    onTestFinished(() => daemon.stop())
    const options = { env: { SVC_DATA_DIR: dataDir } }
    const none = await svc(['signer', 'status'], options)
    expect(none.stdout).toContain('No signer is configured')
    expect(none.stderr).toContain('The daemon runs with signer none, configured is keypair: it reads its settings when')
    const set = await svc(['config', 'set', 'signer.cluster', 'embedded'], options)
    expect(set.stderr).toContain(`stop it (kill ${daemon.process.pid}) and start it again`)
    expect((await svc(['config', 'unset', 'signer.cluster'], options)).stderr).toContain('start it again')
    const own = await svc(['config', 'set', 'output', 'table'], options)
    expect([own.stderr, own.exitCode]).toEqual(['', 0])
    expect((await svc(['config', 'unset', 'output'], options)).stderr).toBe('')
    // Without a daemon the next command reads it.
    expect((await svc(['config', 'set', 'priority-fee', 'none'])).stderr).toBe('')
    expect((await svc(['signer', 'status'])).stderr).not.toContain('The daemon runs')
  })

  it('changes the policy in SOL and raw units, exactly', async () => {
    const mint = Keypair.generate().publicKey.toBase58()
    const changed = await json([
      'signer',
      'policy',
      '--per-transaction',
      '0.5',
      '--per-day',
      '0.000010000',
      '--max-fee',
      '0.00001',
      '--token',
      `${mint}:5:18446744073709551615`,
      '--yes',
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

  it.each([
    [['--per-day', '1.0000000001'], '--per-day has more than 9 fractional digits'],
    [['--per-transaction', '1e3'], '--per-transaction must be an amount like 1.5'],
    [['--token', 'x'], '--token must be MINT:UNITS_PER_TRANSACTION:UNITS_PER_DAY'],
    [['--token', 'x:1:1'], '--token item 1 (mint)'],
    [['--programs', 'nobody'], '--programs item 1'],
  ])('policy %j is refused and nothing changes', async (flags, message) => {
    const { exitCode, stderr } = await svc(['signer', 'policy', ...flags, '--yes'])
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(message)])
  })

  it('does not change a policy unasked', async () => {
    const { exitCode, stderr } = await svc(['signer', 'policy', '--per-day', '1', '--no-input'])
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('--yes')])
  })

  it('signs a memo until the day is full, pauses, resumes, and begins the day anew', async () => {
    for (const memo of ['hello', 'hello again']) {
      const { signature } = await json(['signer', 'test', '--submit', '--memo', memo])
      const { err } = await json(['tx', 'get', signature])
      expect(err).toBeNull()
    }
    const full = await svc(['signer', 'test', '--submit'])
    expect([full.exitCode, full.stderr]).toEqual([2, expect.stringContaining('svc signer reset')])
    await json(['signer', 'reset', '--yes'])
    await json(['signer', 'pause', '--reason', 'keys are being moved'])
    const paused = await svc(['signer', 'test', '--submit'])
    expect([paused.exitCode, paused.stderr]).toEqual([2, expect.stringContaining('keys are being moved')])
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
    const again = await svc(['audit', 'export', file])
    expect([again.exitCode, again.stderr]).toEqual([2, expect.stringContaining('--force')])
    expect((await svc(['audit', 'export', file, '--force'])).exitCode).toBe(0)
    const nowhere = await svc(['audit', 'export', join(cli.home, 'no', 'folder.jsonl')])
    expect([nowhere.exitCode, nowhere.stderr]).toEqual([2, expect.stringContaining('cannot be written')])
  })
})
