/** Tokens made and given up by the built command, signed here, on the embedded chain; and the transactions of `svc tx`. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Keypair } from '@solana/web3.js'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { rawUnits } from '../../commands/cli/amounts.ts'
import { supplyInput } from '../../commands/tokens/index.ts'
import { hasProgram, quickProgramsDir } from '../support/programs.ts'
import { inSoak, itInSoak } from '../support/runs.ts'
import { commandLine } from './command-line.ts'
import { started } from './following.ts'
import { type Served, serveHere } from './served.ts'

const cli = commandLine()
const { svc } = cli
const payer = Keypair.generate()
const address = payer.publicKey.toBase58()
const METAPLEX = 'metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s'
const create = ['tokens', 'create', '--name', 'Test Token', '--symbol', 'TST', '--uri', 'https://example.com/t.json']
const token2022 = [...create, '--token-program', 'token2022']

const { json } = cli
/** A daemon with SOL for the payer: commands with `served` use it, and by its URL its chain is a cluster where a mistake costs something. */
let daemon: Served
let cluster = { url: '' }
const served = { env: { SVC_DATA_DIR: join(cli.home, 'served') } }
const rawOf = async (mint: string) => (await json(['tokens', 'get', mint])).raw

beforeAll(async () => {
  mkdirSync(join(cli.home, '.config/solana'), { recursive: true })
  cli.file('.config/solana/id.json', JSON.stringify([...payer.secretKey]), 0o600)
  await json(['localnet', 'airdrop', address, '100'])
  mkdirSync(served.env.SVC_DATA_DIR)
  daemon = await serveHere(served.env.SVC_DATA_DIR)
  await json(['localnet', 'airdrop', address, '20'], served)
  cluster = { url: daemon.rpcUrl }
})
afterAll(() => daemon?.stop())

describe('The supply of a new token', () => {
  it('is scaled exactly from whole tokens, for any decimals', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.nat(9), (units, decimals) => {
        const text = units.toString().padStart(decimals + 1, '0')
        const whole = `${text.slice(0, text.length - decimals)}${decimals === 0 ? '' : `.${text.slice(text.length - decimals)}`}`
        expect(supplyInput(whole, undefined, decimals)).toBe(units.toString())
        expect(supplyInput(undefined, units.toString(), decimals)).toBe(units.toString())
      }),
    )
  })

  it.each([
    [['--supply', '1', '--initial-supply', '1'], '--initial-supply cannot be used with --supply'],
    [[], 'or give --initial-supply'],
    [['--supply', '0.0000001'], '--supply has more than 6 fractional digits'],
    [['--supply', '1.5', '--decimals', '0'], '--supply has more than 0 fractional digits'],
    [['--supply', '1e6'], '--supply must be an amount like 1.5'],
    [['--supply', '-1'], '--supply must be an amount like 1.5'],
    [['--supply', '18446744073709.551616'], '--supply comes to more than 18446744073709551615 raw units'],
    [['--initial-supply', '1.5'], '--initial-supply has more than 0 fractional digits'],
    [['--decimals', '10', '--supply', '1'], '--decimals must be a whole number from 0 to 9'],
    [['--supply', '1', '--token-program', 'erc20'], '--token-program must be spl or token2022'],
  ])('is refused with %j', async (flags, message) => {
    await cli.refused([...create, ...flags], message)
  })
})

describe('svc tokens create', () => {
  it('--dry-run shows the fee, the rent and the changes, and creates nothing', async () => {
    const before = await json(['accounts', 'get', address])
    const { exitCode, stdout } = await svc([...token2022, '--supply', '1000.5', '--dry-run'])
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^ {2}cluster +embedded$/m)
    expect(stdout).toMatch(new RegExp(`^ {2}signer +${address}$`, 'm'))
    expect(stdout).toMatch(/^ {2}fee +0\.00001 SOL$/m)
    expect(stdout).toMatch(/^ {2}rent +0\.\d+ SOL in 2 new accounts$/m)
    const changes = stdout.split('\n').filter((line) => /^ {4}[1-9A-Za-z]{32,44} /.test(line))
    expect(changes[0]).toMatch(new RegExp(`^ {4}${address} \\(you\\) {2}-0\\.\\d+ SOL {2}\\(100 → 99\\.\\d+\\)$`))
    expect(changes[1]).toMatch(/\(yours\), new {2}\+1,000\.5 of [1-9A-Za-z]+ {2}\(0 → 1,000\.5\)$/)
    const data = await json([...token2022, '--supply', '1', '--dry-run'])
    expect(data).toMatchObject({ cluster: 'embedded', signer: address, err: null, fee: '10000' })
    expect((await json(['accounts', 'get', address])).lamports).toBe(before.lamports)
    expect(await json(['tokens', 'list'])).toEqual([])
  })

  it('creates a token with extensions, and says to buyers what they mean before anything is signed', async () => {
    const flags = ['--transfer-fee', '1.25%', '--max-fee', '2,000.5', '--pausable', '--default-frozen']
    const keeps = [...flags, '--keep-freeze-authority', '--interest=-2.5%']
    const { stdout } = await svc([...create, '--supply', '10', ...keeps, '--dry-run'])
    const said = stdout.slice(0, stdout.indexOf('  checked'))
    expect(Math.max(...said.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
    const sentences = said.replace(/\s+/g, ' ')
    expect(sentences).toContain(
      'buyers transfer fee: every transfer keeps 1.25 % of what is sent, at most 2,000.5 tokens',
    )
    expect(sentences).toContain('interest rate: wallets show amounts that change by -2.5 % a year')
    expect(sentences).toContain('default frozen: buyers cannot send or sell')
    expect(sentences).toContain('pausable: you can stop all transfers')
    const { mint } = await json([...create, '--supply', '10', ...keeps])
    expect(await rawOf(mint)).toMatchObject({
      token_program: 'token2022',
      supply: '10000000',
      extensions: {
        transfer_fee: { basis_points: 125, maximum_fee: '2000500000' },
        frozen_by_default: true,
        interest_basis_points: -250,
        paused: false,
      },
    })
    const hook = ['--transfer-hook', 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr', '--multiplier', '1.5']
    const other = await json([
      ...create,
      '--supply',
      '1',
      ...hook,
      '--non-transferable',
      '--permanent-delegate',
      address,
    ])
    expect((await rawOf(other.mint)).extensions).toMatchObject({
      transfer_hook: hook[1],
      permanent_delegate: address,
      non_transferable: true,
      ui_multiplier: { after: '1.5' },
    })
  })

  itInSoak('collects withheld fees, in the mint and for a wallet, and sets what the extensions say', async () => {
    const { mint } = await json([...create, '--supply', '1000', '--transfer-fee', '1%', '--multiplier', '2'])
    const [one, other] = [cli.keypair('fee-one.json'), cli.keypair('fee-two.json')]
    const pay = (to: string, amount: string) =>
      json(['wallet', 'send', to, amount, '--mint', mint, '--accept-transfer-fee'])
    await pay(one.address, '10')
    const { stdout } = await svc(['tokens', 'harvest', mint, '--dry-run'])
    expect(stdout).toMatch(/^ {2}fees +0\.1 into the mint$/m)
    expect(stdout).toMatch(/^ {2}accounts +1 token account with withheld fees$/m)
    expect(await json(['tokens', 'harvest', mint])).toMatchObject({ mint, amount: '100000', remaining_accounts: 0 })
    expect((await rawOf(mint)).extensions.transfer_fee.withheld_in_mint).toBe('100000')
    await pay(other.address, '20')
    const taken = await json(['tokens', 'withdraw-withheld', mint, '--to', one.address])
    expect(taken).toMatchObject({ recipient: one.address, amount: '300000', from_mint: '100000', accounts: 1 })
    await cli.refused(['tokens', 'withdraw-withheld', mint, '--accounts', other.address], 'is not a token account of')
    await cli.refused(['tokens', 'withdraw-withheld', mint, '-k', one.file], 'The withdraw authority')
    const set = await svc([
      'tokens',
      'set-fee',
      mint,
      '--transfer-fee',
      '0.5%',
      '--max-fee',
      '2',
      '--multiplier',
      '3',
      '--yes',
    ])
    expect([set.exitCode, set.stderr]).toEqual([
      0,
      expect.stringMatching(/^ {2}then +0\.5 %, at most 2 from epoch \d+ on; this is epoch \d+$/m),
    ])
    expect((await rawOf(mint)).extensions).toMatchObject({
      transfer_fee: { basis_points: 50, maximum_fee: '2000000', earlier: { basis_points: 100 } },
      ui_multiplier: { after: '3' },
    })
    await cli.refused(['tokens', 'set-extensions', mint], 'missing --transfer-fee or --interest')
    await cli.refused(['tokens', 'set-extensions', mint, '--interest', '1%'], `has no interest rate`)
    await cli.refused(
      ['tokens', 'set-extensions', mint, '--multiplier', '2', '--at', 'soon'],
      '--at must be a time such as',
    )
    const unreal = ['tokens', 'set-extensions', mint, '--multiplier', '2', '--at', '2030-02-30T00:00:00Z']
    await cli.refused(unreal, '--at is "2030-02-30T00:00:00Z", a date that does not exist')
    const later = ['--multiplier', '4', '--at', '2099-01-01T00:00:00+01:00']
    await json(['tokens', 'set-extensions', mint, ...later])
    expect((await rawOf(mint)).extensions.ui_multiplier).toEqual({
      before: '3',
      effective_at: '4070905200',
      after: '4',
    })
  })

  it.each([
    [['--transfer-fee', '101%'], '--transfer-fee must be a percentage from 0 to 100, such as 1.5%, not "101%"'],
    [['--transfer-fee', '0.125%'], '--transfer-fee must be a percentage'],
    [['--transfer-fee', '-1%'], '--transfer-fee must be a percentage'],
    [['--max-fee', '5'], '--max-fee needs --transfer-fee'],
    [['--pausable', '--token-program', 'spl'], '--token-program spl cannot be used with --pausable'],
    [['--interest', '1%', '--multiplier', '2'], '--interest cannot be used with --multiplier'],
    [['--interest', '400%'], '--interest must be a percentage from -327.68 to 327.67'],
    [['--multiplier', 'two'], '--multiplier: must be a decimal number above 0'],
    [['--default-frozen'], '--default-frozen needs --keep-freeze-authority'],
    [['--transfer-hook', address], `--transfer-hook: ${address} is not a program`],
    [['--permanent-delegate', 'me'], '--permanent-delegate'],
  ])('refuses extensions with %j', async (flags, message) => {
    await cli.refused([...create, '--supply', '1', ...flags], message)
  })

  const costsOf = (stdout: string) => {
    const [, total = ''] = /^ {2}cost +([\d.]+) SOL in all$/m.exec(stdout) ?? []
    const parts = [...stdout.matchAll(/^ {4}(.+?) {2,}([\d.]+) SOL$/gm)].map(([, name = '', sol = '']) => ({
      name,
      sol,
    }))
    return { total, parts: Object.fromEntries(parts.map(({ name, sol }) => [name, sol])) }
  }
  const lamports = (sol: string) => rawUnits(sol, 9, 'sol')

  const priced = {
    SVC_DATA_DIR: join(cli.home, 'costs'),
    SVC_PROGRAMS_DIR: quickProgramsDir(),
    SVC_PRIORITY_FEE: '50000',
  }

  it.skipIf(!hasProgram(METAPLEX)).each([
    ['token2022', ['rent of the mint with its metadata', 'rent of your token account']],
    ['spl', ["Metaplex's fee", 'rent of the metadata', 'rent of the mint', 'rent of your token account']],
  ])('names each part of the cost of a token of %s, and they add up to what is paid', async (program, names) => {
    const options = { env: priced }
    const held = async () => BigInt((await json(['accounts', 'get', address], options)).lamports)
    await json(['localnet', 'airdrop', address, '10'], options)
    const args = [...create, '--token-program', program, '--supply', '1']
    const before = await held()
    const { total, parts } = costsOf((await svc([...args, '--yes'], options)).stderr)
    expect(Object.keys(parts).sort()).toEqual([...names, 'priority fee', 'transaction fee, 2 signatures'].sort())
    expect(parts["Metaplex's fee"]).toBe(program === 'spl' ? '0.01' : undefined)
    expect(parts['transaction fee, 2 signatures']).toBe('0.00001')
    const sum = Object.values(parts).reduce((all, sol) => all + lamports(sol), 0n)
    expect([lamports(total), before - (await held())]).toEqual([sum, sum])
  })

  it('says what to do if the signer has no SOL, and sends nothing', async () => {
    const poor = cli.keypair('poor.json')
    const args = [...token2022, '--supply', '1', '-k', poor.file]
    const stderr = await cli.refused(args, 'it would fail, so nothing was sent')
    expect(stderr).toContain(`svc localnet airdrop ${poor.address} 10`)
    const { error } = JSON.parse((await svc([...args, '--json'])).stderr)
    expect(error).toMatchObject({ code: 'bad_request', details: { err: 'AccountNotFound' } })
  })

  it('creates the token, and revoke removes its authorities until it is fully immutable', async () => {
    const flags = ['--supply', '1000.5', '--keep-freeze-authority', '--decimals', '2']
    const { mint, signature, lifecycle, slot } = await json([...token2022, ...flags])
    expect(lifecycle).toMatch(/^(confirmed|finalized)$/)
    expect(slot).toBeGreaterThan(0)
    expect(await json(['tx', 'get', signature])).toMatchObject({ signature, err: null, slot })
    expect(await rawOf(mint)).toMatchObject({
      supply: '100050',
      decimals: 2,
      mint_authority: address,
      freeze_authority: address,
    })

    const statuses: string[] = []
    for (const type of ['freeze', 'mint', 'metadata']) {
      const revoked = await json(['tokens', 'revoke', mint, type])
      expect(revoked).toMatchObject({ mint, revoked: type, signature: expect.any(String) })
      statuses.push(revoked.status)
    }
    expect(statuses.at(-1)).toBe('fully_immutable')
    expect(await rawOf(mint)).toMatchObject({
      mint_authority: null,
      freeze_authority: null,
      metadata: { is_mutable: false },
    })
    await cli.refused(['tokens', 'revoke', mint, 'mint'], 'it is already revoked')
  })

  it.skipIf(!hasProgram(METAPLEX))('creates one of the original token program with Metaplex metadata', async () => {
    const dataDir = join(cli.home, 'spl')
    const options = { env: { SVC_DATA_DIR: dataDir, SVC_PROGRAMS_DIR: quickProgramsDir() } }
    await json(['localnet', 'airdrop', address, '10'], options)
    const { mint } = await json([...create, '--initial-supply', '7', '--revoke-mint-authority'], options)
    const token = await json(['tokens', 'get', mint], options)
    expect(token.raw).toMatchObject({ supply: '7', decimals: 6, mint_authority: null, freeze_authority: null })
    const revoked = await json(['tokens', 'revoke', mint, 'metadata'], options)
    expect(revoked.status).toBe('fully_immutable')
  })

  it('needs --yes without a terminal if it costs something, and sends nothing before', async () => {
    const { url } = cluster
    const lamports = async () => (await json(['accounts', 'get', address, '-u', url])).lamports
    const before = await lamports()
    await cli.refused([...token2022, '--supply', '1', '-u', url], 'confirm it with --yes')
    expect(await lamports()).toBe(before)
  })

  it('sends to mainnet-beta only with --yes', async () => {
    const args = [...token2022, '--supply', '1', '-u', 'mainnet-beta']
    expect(await cli.refused(args, 'this would be sent to mainnet-beta')).toContain('--yes')
  })
})

describe('A transaction of --build-only', () => {
  it('is printed, signed and submitted by three commands, and keeps the resource that it tracks', async () => {
    const built = await json([...token2022, '--supply', '5', '--build-only'])
    expect(built).toMatchObject({
      missing_signers: [address],
      signed_by: [built.mint],
      tracked_resource: { resource_id: built.mint },
    })
    const file = cli.file('built.json', JSON.stringify(built))
    await cli.refused(['tx', 'submit', `@${file}`], `not signed: ${address} (missing)`)

    const signed = await json(['tx', 'sign', `@${file}`])
    expect(signed).toMatchObject({ missing_signers: [], tracked_resource: built.tracked_resource })
    const landed = await json(['tx', 'submit', '-'], { input: JSON.stringify(signed) })
    expect(landed).toMatchObject({ signature: signed.signature, err: null })
    expect(await json(['tokens', 'get', built.mint])).toMatchObject({ mint: built.mint })
    expect(await json(['tokens', 'list'])).toEqual(
      expect.arrayContaining([expect.objectContaining({ mint: built.mint })]),
    )
  })

  it('is bare base64 in a pipe; stderr names who must sign', async () => {
    const { stdout, stderr } = await svc([...token2022, '--supply', '5', '--build-only'])
    expect(stdout).toMatch(/^[A-Za-z0-9+/]+=*\n$/)
    expect(stderr).toContain(`Must still be signed by ${address}`)
    const stranger = cli.keypair('stranger.json').file
    await cli.refused(['tx', 'sign', '-', '-k', stranger], `its signers are ${address}`, 2, { input: stdout })
    const decoded = await svc(['tx', 'decode', '-'], { input: stdout })
    expect(decoded.stdout).toMatch(new RegExp(`^ {2}missing +${address}$`, 'm'))
    expect(decoded.stdout).toMatch(/^instruction \d: Token-2022 \(TokenzQ/m)
    expect((await svc(['tx', 'decode', 'AAAA'])).exitCode).toBe(2)
    expect((await svc(['tx', 'decode', '{}'])).stderr).toContain('JSON without a transaction')
  })
})

describe('svc tx', () => {
  it('watch prints a line for each status until the transaction is finalized', async () => {
    const { signature } = await json([...token2022, '--supply', '1', '--wait', 'none'], served)
    const watch = started(cli, ['tx', 'watch', signature, '--json'], served.env)
    // A busy machine may take so long to start that it is finalized already.
    await watch.says('Z  ')
    await json(['localnet', 'advance', '20'], served)
    expect(await watch.ended(), watch.stderr()).toBe(0)
    expect(JSON.parse(watch.lines().join('\n'))).toMatchObject({ signature, lifecycle: 'finalized', err: null })
    expect(watch.stderr()).toMatch(/^\S+Z {2}(submitted|processing|confirmed|finalized)/)
    expect(watch.stderr()).toMatch(/Z {2}finalized {2}slot \d+\n$/)
  })

  it.skipIf(!inSoak)(
    'watch ends for an unknown signature when it can no longer land, and at --timeout',
    { tags: 'sampled' },
    async () => {
      const unseen = '4'.repeat(88)
      await cli.refused(['tx', 'watch', unseen, '--timeout', '1'], 'after 1 seconds', 1, served)
      const watch = started(cli, ['tx', 'watch', unseen, '--timeout', '120'], served.env)
      await watch.says('Z  unknown')
      await json(['localnet', 'advance', '3600'], served)
      expect(await watch.ended(), watch.stderr()).toBe(3)
      expect(watch.stderr()).toContain(`${unseen} was never seen, and can no longer land`)
      const sent = await json([...token2022, '--supply', '1'], served)
      expect((await svc(['tx', 'watch', sent.signature, '--until', 'confirmed'], served)).exitCode).toBe(0)
    },
  )

  it('submit sends a bundle only with --bundle, and says how many transactions fit', async () => {
    const transactions: string[] = []
    for (const supply of ['1', '2']) {
      const built = await json([...token2022, '--supply', supply, '--build-only'])
      transactions.push((await json(['tx', 'sign', built.transaction])).transaction)
    }
    expect((await svc(['tx', 'submit', ...transactions])).stderr).toContain('add --bundle')
    const many = Array.from({ length: 6 }, () => transactions[0]!)
    expect((await svc(['tx', 'submit', '--bundle', ...many])).stderr).toContain('at most 5')
    const bundle = await json(['tx', 'submit', '--bundle', ...transactions])
    expect(bundle.transaction_signatures).toHaveLength(2)
    expect(bundle.transactions.map(({ err }: { err: unknown }) => err)).toEqual([null, null])
  })

  it('works through a daemon', async () => {
    const { mint, lifecycle } = await json([...token2022, '--supply', '3'], served)
    expect(lifecycle).toMatch(/^(confirmed|finalized)$/)
    expect((await json(['tokens', 'get', mint], served)).raw.supply).toBe('3000000')
  })
})

describe('svc tokens create --mint-keypair', () => {
  const mintKey = Keypair.generate()
  const mint = mintKey.publicKey.toBase58()
  const file = join(cli.home, 'mint.json')
  const own = [...token2022, '--supply', '5', '--yes', '--mint-keypair', file]

  it('makes the token at the address of the key, which only signs', async () => {
    cli.file('mint.json', JSON.stringify([...mintKey.secretKey]), 0o600)
    expect(await json([...own, '--dry-run'])).toMatchObject({ err: null })
    const { stdout, stderr } = await svc([...own, '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ mint })
    expect(`${stdout}${stderr}`.includes([...mintKey.secretKey].slice(0, 8).join(','))).toBe(false)
    expect((await rawOf(mint)).supply).toBe('5000000')
  })

  it('refuses a mint that exists, a file that others read, and the flags that sign elsewhere', async () => {
    const refused = async (args: string[], message: string) => expect((await svc(args)).stderr).toContain(message)
    await refused(own, `an account exists at ${mint} already`)
    await refused([...own, '--qr'], '--qr cannot be used with --mint-keypair')
    cli.file('open.json', JSON.stringify([...mintKey.secretKey]), 0o644)
    await refused([...own.slice(0, -1), join(cli.home, 'open.json')], 'open.json')
    await refused([...own.slice(0, -1), join(cli.home, 'none.json')], 'none.json')
  })
})
