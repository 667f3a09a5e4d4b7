/** `svc airdrops sponsor` and `claim --sponsor`: a wallet that never held SOL claims, and what the API builds is checked first. */
import { Keypair } from '@solana/web3.js'
import { beforeAll, describe, expect, it } from 'vitest'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { hasProgram, PROGRAMS_DIR } from '../support/programs.ts'
import { commandLine } from './command-line.ts'

const cli = commandLine()
const lacksPrograms = [PROGRAMS.distributor, PROGRAMS.tokenMetadata].some(({ id }) => !hasProgram(id))
const ID = 'A'.repeat(46)

describe('svc airdrops sponsor refuses', () => {
  it.each([
    [['sponsor', ID, '--on', '--off'], 'give either --on or --off'],
    [['sponsor', ID, '--budget', '1,5'], '--budget must be an amount like 1.5'],
    [['sponsor', ID, '--budget', '0.0000000001'], '--budget has more than 9 fractional digits'],
    [['claim', ID, '--sponsor', '--swap-to-sol'], '--swap-to-sol does not go with --sponsor'],
    [['claim', ID, '--sponsor', '--build-only'], '--build-only does not go with --sponsor'],
    [['claim', ID, '--sponsor', '--proof', 'x.json'], '--proof does not go with --sponsor'],
    [['claim', ID, '--sponsor', '--platform-fee', '5'], '--platform-fee does not go with --sponsor'],
  ])('%j', async (args, message) => {
    const { exitCode, stdout, stderr } = await cli.svc(['airdrops', ...args])
    expect(stderr).toContain(message)
    expect([exitCode, stdout]).toEqual([2, ''])
  })
})

describe.skipIf(lacksPrograms)('svc airdrops, sponsored', () => {
  const [payer, platform, poor, second] = Array.from({ length: 4 }, () => Keypair.generate()) as [
    Keypair,
    Keypair,
    Keypair,
    Keypair,
  ]
  const file = (name: string, { secretKey }: Keypair) => cli.file(name, JSON.stringify([...secretKey]), 0o600)
  const files = { payer: '', platform: '', poor: '', second: '' }
  const env = () => ({
    SVC_PROGRAMS_DIR: PROGRAMS_DIR,
    SVC_SIGNER: 'keypair',
    SVC_SIGNER_KEYPAIR: files.platform,
    SVC_PRIORITY_FEE: 'none',
  })
  const run = (args: string[]) => cli.svc(args, { env: env() })
  const ok = async (args: string[]) => {
    const { exitCode, stdout, stderr } = await run([...args, '--json'])
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: expect.any(String) })
    return JSON.parse(stdout)
  }
  let id = ''

  beforeAll(async () => {
    for (const [name, key] of Object.entries({ payer, platform, poor, second })) {
      files[name as keyof typeof files] = file(`${name}.json`, key)
    }
    for (const key of [payer, platform]) await ok(['localnet', 'airdrop', key.publicKey.toBase58(), '10'])
    await ok(['signer', 'policy', '--per-transaction', '0.1', '--per-day', '1', '--yes'])
    const token = ['--name', 'Drop', '--symbol', 'DRP', '--uri', 'https://example.com/d.json', '--supply', '1000000']
    const { mint } = await ok(['tokens', 'create', ...token, '-k', files.payer, '--yes'])
    const rows = [poor, second].map(({ publicKey }, i) => `${publicKey.toBase58()},${i + 1}`)
    const list = cli.file('drop.csv', ['wallet,amount', ...rows, ''].join('\n'))
    const launched = await ok([
      'airdrops',
      'launch',
      list,
      '--mint',
      mint,
      '--decimals',
      '6',
      '-k',
      files.payer,
      '--yes',
    ])
    id = launched[0].id
  }, 120_000)

  it('shows, sets and stops a sponsorship, and a wallet without SOL claims once', async () => {
    const claim = ['airdrops', 'claim', id, '--sponsor', '-k', files.poor, '--yes']
    const unsponsored = await run(claim)
    expect([unsponsored.exitCode, unsponsored.stderr]).toEqual([3, expect.stringContaining('svc airdrops sponsor')])
    expect(await ok(['airdrops', 'sponsor', id, '--budget', '0.005'])).toMatchObject({ budget: '5000000', used: '0' })
    const tried = await run([...claim, '--dry-run'])
    expect([tried.exitCode, tried.stdout]).toEqual([0, expect.stringContaining('sponsored')])
    expect(await ok(['airdrops', 'sponsor', id])).toMatchObject({ used: '0', pending: 0 })
    const claimed = await ok(claim)
    expect(claimed).toMatchObject({
      airdrop: id,
      fee_payer: platform.publicKey.toBase58(),
      sponsored_lamports: '3385600',
      lifecycle: expect.stringMatching(/confirmed|finalized/),
    })
    const shown = await run(['airdrops', 'sponsor', id])
    expect(shown.stdout).toMatch(/budget\s+0\.005\n[\s\S]*used\s+0\.0033856\n[\s\S]*left\s+0\.0016144/i)
    const again = await run(claim)
    expect([again.exitCode, again.stderr]).toEqual([5, expect.stringContaining(claimed.signature)])
    const over = await run(['airdrops', 'claim', id, '--sponsor', '-k', files.second, '--yes'])
    expect([over.exitCode, over.stderr]).toEqual([2, expect.stringContaining('1614400 lamports left')])
    expect(await ok(['airdrops', 'sponsor', id, '--off'])).toMatchObject({ enabled: false, budget: '5000000' })
    const off = await run(['airdrops', 'claim', id, '--sponsor', '-k', files.second, '--yes'])
    expect([off.exitCode, off.stderr]).toEqual([3, expect.stringContaining('--on')])
    await ok(['airdrops', 'sponsor', id, '--on', '--budget', '1'])
    expect(
      await ok(['airdrops', 'claim', id, '--sponsor', '-k', files.second, '--yes', '--wait', 'none']),
    ).toMatchObject({
      lifecycle: 'submitted',
    })
  })
})
