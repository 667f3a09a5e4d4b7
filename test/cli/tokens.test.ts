/** Tokens made and given up by the built command, signed here, on the embedded chain; and the transactions of `svc tx`. */
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Keypair } from '@solana/web3.js'
import fc from 'fast-check'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { supplyInput } from '../../commands/tokens.ts'
import { startDaemon } from '../support/daemon.ts'
import { hasProgram, PROGRAMS_DIR } from '../support/programs.ts'
import { commandLine, onTerminal } from './command-line.ts'
import { started } from './following.ts'

const cli = commandLine()
const { svc } = cli
const payer = Keypair.generate()
const address = payer.publicKey.toBase58()
const METAPLEX = 'metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s'
const create = ['tokens', 'create', '--name', 'Test Token', '--symbol', 'TST', '--uri', 'https://example.com/t.json']
const token2022 = [...create, '--token-program', 'token2022']

const json = async (args: string[], options = {}) => {
  const { exitCode, stdout, stderr } = await svc([...args, '--json'], options)
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 })
  return JSON.parse(stdout)
}
/** A daemon with SOL for the payer, and how to speak to it. */
async function served(name: string) {
  const dataDir = join(cli.home, name)
  mkdirSync(dataDir)
  const daemon = await startDaemon({ dataDir })
  onTestFinished(() => daemon.stop())
  const options = { env: { SVC_DATA_DIR: dataDir } }
  await json(['localnet', 'airdrop', address, '10'], options)
  return options
}
/** A cluster that is nobody's free one: a chain that another data folder serves, known by its URL alone. */
async function elsewhere(name: string) {
  const dataDir = join(cli.home, name)
  const chain = started(cli, ['localnet', 'start', '--rpc-port', '0', '--json', '--data-dir', dataDir])
  await chain.says('Stop with Ctrl-C')
  const { rpc_url: url } = JSON.parse(readFileSync(join(dataDir, 'localnet.json'), 'utf8'))
  await json(['localnet', 'airdrop', address, '10', '--data-dir', dataDir])
  return { url, host: new URL(url).host }
}
const rawOf = async (mint: string) => (await json(['tokens', 'get', mint])).raw

beforeAll(async () => {
  mkdirSync(join(cli.home, '.config/solana'), { recursive: true })
  cli.file('.config/solana/id.json', JSON.stringify([...payer.secretKey]), 0o600)
  await json(['localnet', 'airdrop', address, '100'])
})

describe('a supply', () => {
  it('in whole tokens is scaled exactly, whatever the decimals', () => {
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
    [['--supply', '1', '--initial-supply', '1'], 'give either --supply (whole tokens) or --initial-supply'],
    [[], 'or give --initial-supply'],
    [['--supply', '0.0000001'], '--supply has more than 6 fractional digits'],
    [['--supply', '1.5', '--decimals', '0'], '--supply has more than 0 fractional digits'],
    [['--supply', '1e6'], '--supply must be an amount like 1.5'],
    [['--supply', '-1'], '--supply must be an amount like 1.5'],
    [['--supply', '18446744073709.551616'], '--supply comes to more than 18446744073709551615 raw units'],
    [['--initial-supply', '1.5'], '--initial-supply has more than 0 fractional digits'],
    [['--decimals', '10', '--supply', '1'], '--decimals must be a whole number from 0 to 9'],
    [['--supply', '1', '--token-program', 'erc20'], '--token-program must be spl or token2022'],
  ])('of %j is refused', async (flags, message) => {
    const { exitCode, stdout, stderr } = await svc([...create, ...flags])
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toContain(message)
  })
})

describe('tokens create', () => {
  it('with --dry-run shows cost, rent and changes, and makes nothing', async () => {
    const before = await json(['accounts', 'get', address])
    const { exitCode, stdout } = await svc([...token2022, '--supply', '1000.5', '--dry-run'])
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^ {2}cluster +embedded$/m)
    expect(stdout).toMatch(new RegExp(`^ {2}signer +${address}$`, 'm'))
    expect(stdout).toMatch(/^ {2}fee +0\.00001 SOL$/m)
    expect(stdout).toMatch(/^ {2}rent +0\.\d+ SOL in 2 new accounts$/m)
    const changes = stdout.split('\n').filter((line) => line.startsWith('    '))
    expect(changes[0]).toMatch(new RegExp(`^ {4}${address} \\(you\\) {2}-0\\.\\d+ SOL {2}\\(100 → 99\\.\\d+\\)$`))
    expect(changes[1]).toMatch(/\(yours\), new {2}\+1000\.5 of [1-9A-Za-z]+ {2}\(0 → 1000\.5\)$/)
    const data = await json([...token2022, '--supply', '1', '--dry-run'])
    expect(data).toMatchObject({ cluster: 'embedded', signer: address, err: null, fee: '10000' })
    expect((await json(['accounts', 'get', address])).lamports).toBe(before.lamports)
    expect(await json(['tokens', 'list'])).toEqual([])
  })

  it('says what to do when the signer has no SOL, and sends nothing', async () => {
    const poor = Keypair.generate()
    const file = cli.file('poor.json', JSON.stringify([...poor.secretKey]), 0o600)
    const refused = await svc([...token2022, '--supply', '1', '-k', file])
    expect(refused).toMatchObject({ exitCode: 2, stdout: '' })
    expect(refused.stderr).toContain('it would fail, so nothing was sent')
    expect(refused.stderr).toContain(`svc localnet airdrop ${poor.publicKey.toBase58()} 10`)
    const { error } = JSON.parse((await svc([...token2022, '--supply', '1', '-k', file, '--json'])).stderr)
    expect(error).toMatchObject({ code: 'bad_request', details: { err: 'AccountNotFound' } })
  })

  it('makes the token, and revoke gives up its authorities until it is fully immutable', async () => {
    const { mint, signature, lifecycle, slot } = await json([
      ...token2022,
      '--supply',
      '1000.5',
      '--keep-freeze-authority',
      '--decimals',
      '2',
    ])
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
    const again = await svc(['tokens', 'revoke', mint, 'mint'])
    expect(again).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining('it is already revoked') })
  })

  it.skipIf(!hasProgram(METAPLEX))('makes one of the original program with Metaplex metadata', async () => {
    const dataDir = join(cli.home, 'spl')
    const options = { env: { SVC_DATA_DIR: dataDir, SVC_PROGRAMS_DIR: PROGRAMS_DIR } }
    await json(['localnet', 'airdrop', address, '10'], options)
    const { mint } = await json([...create, '--initial-supply', '7', '--revoke-mint-authority'], options)
    const token = await json(['tokens', 'get', mint], options)
    expect(token.raw).toMatchObject({ supply: '7', decimals: 6, mint_authority: null, freeze_authority: null })
    const revoked = await json(['tokens', 'revoke', mint, 'metadata'], options)
    expect(revoked.status).toBe('fully_immutable')
  })

  it('asks a person who sits at a terminal where it costs something, and sends nothing on no', async () => {
    const { url, host } = await elsewhere('asked')
    const lamports = async () => (await json(['accounts', 'get', address, '-u', url])).lamports
    const before = await lamports()
    const args = [...token2022, '--supply', '1', '-u', url]
    const refused = await onTerminal(cli, args, [[`on ${host}?`, 'n']])
    expect(refused.exitCode, refused.screen).toBe(130)
    expect(refused.screen).toContain('rent')
    expect(await lamports()).toBe(before)
    const unasked = await svc(args)
    expect(unasked).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('confirm it with --yes') })
    expect(await lamports()).toBe(before)
    const plain = { ...cli, env: { ...cli.env, NO_COLOR: '1' } }
    const agreed = await onTerminal(plain, args, [[`on ${host}?`, 'y']])
    expect(agreed.exitCode, agreed.screen).toBe(0)
    expect(await lamports()).not.toBe(before)
  })

  it('asks nobody on the embedded chain, where a mistake costs nothing, but shows what it does', async () => {
    const plain = { ...cli, env: { ...cli.env, NO_COLOR: '1' } }
    const agreed = await onTerminal(plain, [...token2022, '--supply', '1'], [])
    expect(agreed.exitCode, agreed.screen).toBe(0)
    expect(agreed.screen).toContain('rent')
    expect(agreed.screen).toMatch(/signature \w{80,}\r\n/)
    expect(agreed.screen).toMatch(/LIFECYCLE +(confirmed|finalized)/)
  })

  it('says "for good" before an authority is given up', async () => {
    const { url, host } = await elsewhere('for-good')
    const { mint } = await json([...token2022, '--supply', '1', '--yes', '-u', url])
    const plain = { ...cli, env: { ...cli.env, NO_COLOR: '1' } }
    const { exitCode, screen } = await onTerminal(plain, ['tokens', 'revoke', mint, 'mint', '-u', url], [['●', 'n']])
    expect(exitCode, screen).toBe(130)
    expect(screen.replace(/[│\s]+/g, ' ')).toContain(`for good on ${host}?`)
    expect((await json(['tokens', 'get', mint, '-u', url])).raw.mint_authority).toBe(address)
  })

  it('goes to mainnet-beta only when told so', async () => {
    const { exitCode, stderr } = await svc([...token2022, '--supply', '1', '-u', 'mainnet-beta'])
    expect(exitCode).toBe(2)
    expect(stderr).toContain('this would be sent to mainnet-beta')
    expect(stderr).toContain('--yes')
  })
})

describe('a build', () => {
  it('is printed, signed and submitted one after another, and keeps what it tracks', async () => {
    const built = await json([...token2022, '--supply', '5', '--build-only'])
    expect(built).toMatchObject({
      missing_signers: [address],
      signed_by: [built.mint],
      tracked_resource: { resource_id: built.mint },
    })
    const file = cli.file('built.json', JSON.stringify(built))
    const early = await svc(['tx', 'submit', `@${file}`])
    expect(early).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(`not signed: ${address} (missing)`) })

    const signed = await json(['tx', 'sign', `@${file}`])
    expect(signed).toMatchObject({ missing_signers: [], tracked_resource: built.tracked_resource })
    const landed = await json(['tx', 'submit', '-'], { input: JSON.stringify(signed) })
    expect(landed).toMatchObject({ signature: signed.signature, err: null })
    expect(await json(['tokens', 'get', built.mint])).toMatchObject({ mint: built.mint })
    expect(await json(['tokens', 'list'])).toEqual(
      expect.arrayContaining([expect.objectContaining({ mint: built.mint })]),
    )
  })

  it('is bare base64 for a pipe, and who must sign is said on stderr', async () => {
    const { stdout, stderr } = await svc([...token2022, '--supply', '5', '--build-only'])
    expect(stdout).toMatch(/^[A-Za-z0-9+/]+=*\n$/)
    expect(stderr).toContain(`Must still be signed by ${address}`)
    const stranger = cli.file('stranger.json', JSON.stringify([...Keypair.generate().secretKey]), 0o600)
    const refused = await svc(['tx', 'sign', '-', '-k', stranger], { input: stdout })
    expect(refused).toMatchObject({
      exitCode: 2,
      stdout: '',
      stderr: expect.stringContaining(`its signers are ${address}`),
    })
    const decoded = await svc(['tx', 'decode', '-'], { input: stdout })
    expect(decoded.stdout).toMatch(new RegExp(`^ {2}missing +${address}$`, 'm'))
    expect(decoded.stdout).toMatch(/^instruction \d: Token-2022 \(TokenzQ/m)
    expect((await svc(['tx', 'decode', 'AAAA'])).exitCode).toBe(2)
    expect((await svc(['tx', 'decode', '{}'])).stderr).toContain('JSON without a transaction')
  })
})

describe('svc tx', () => {
  it('says where to look when Ctrl-C ends the waiting', async () => {
    const { exitCode, screen } = await onTerminal(
      cli,
      [...token2022, '--supply', '1', '--wait', 'finalized', '--yes'],
      [['waiting until finalized', '\u0003']],
    )
    expect(exitCode, screen).toBe(130)
    expect(screen).toMatch(/Stopped waiting: see `svc tx watch \w{80,}`/)
  })

  it('watches a transaction line by line until it is finalized', async () => {
    const options = await served('watched')
    const { signature } = await json([...token2022, '--supply', '1', '--wait', 'none'], options)
    const watch = started(cli, ['tx', 'watch', signature, '--json'], options.env)
    await watch.says('Z  confirmed')
    await json(['localnet', 'advance', '20'], options)
    expect(await watch.ended(), watch.stderr()).toBe(0)
    expect(JSON.parse(watch.lines().join('\n'))).toMatchObject({ signature, lifecycle: 'finalized', err: null })
    expect(watch.stderr()).toMatch(/^\S+Z {2}(submitted|processing|confirmed)/)
    expect(watch.stderr()).toMatch(/Z {2}finalized {2}slot \d+\n$/)
  })

  it('stops watching a signature that nobody has seen once it can no longer land, and when its time is over', async () => {
    const options = await served('unseen')
    const unseen = '4'.repeat(88)
    const late = await svc(['tx', 'watch', unseen, '--timeout', '1'], options)
    expect(late).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining('after 1 seconds') })
    const watch = started(cli, ['tx', 'watch', unseen, '--timeout', '120'], options.env)
    await watch.says('Z  unknown')
    await json(['localnet', 'advance', '3600'], options)
    expect(await watch.ended(), watch.stderr()).toBe(3)
    expect(watch.stderr()).toContain(`${unseen} was never seen, and can no longer land`)
    const sent = await json([...token2022, '--supply', '1'], options)
    expect((await svc(['tx', 'watch', sent.signature, '--until', 'confirmed'], options)).exitCode).toBe(0)
  })

  it('submits a bundle with --bundle alone, and says how many fit', async () => {
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

  it('works through a daemon as without one', async () => {
    const options = await served('served')
    const { mint, lifecycle } = await json([...token2022, '--supply', '3'], options)
    expect(lifecycle).toMatch(/^(confirmed|finalized)$/)
    expect((await json(['tokens', 'get', mint], options)).raw.supply).toBe('3000000')
  })
})
