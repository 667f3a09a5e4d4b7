/** Cold keys: built here by address, signed by another process that has the key and nothing else, refreshed, combined and sent. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Keypair } from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { png } from '../storage/images.ts'
import { type Daemon, startDaemon } from '../support/daemon.ts'
import { someone } from '../support/local-chain.ts'
import { hasProgram, PROGRAMS_DIR } from '../support/programs.ts'
import { CONFIRMED, commandLine } from './command-line.ts'

const cli = commandLine()
const lacksPrograms = [PROGRAMS.dbc, PROGRAMS.tokenMetadata, PROGRAMS.distributor].some(({ id }) => !hasProgram(id))
/** More than the 150 blocks of a blockhash at 400 ms a slot. */
const EXPIRY_SECONDS = '120'

describe.skipIf(lacksPrograms)('a key that is elsewhere', () => {
  const [cold, partner] = [Keypair.generate(), Keypair.generate()]
  const address = cold.publicKey.toBase58()
  let daemon: Daemon
  let files = 0

  const refused = async (args: string[]) => {
    const { exitCode, stdout, stderr } = await cli.svc([...args, '--json'])
    expect({ exitCode, stdout }).toMatchObject({ exitCode: expect.toSatisfy((code) => code !== 0), stdout: '' })
    return JSON.parse(stderr).error
  }
  const run = async (args: string[]) => {
    const { exitCode, stdout, stderr } = await cli.svc([...args, '--json'])
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 })
    return JSON.parse(stdout)
  }
  const saved = (content: unknown) => cli.file(`${files++}.json`, JSON.stringify(content))
  const expire = () => run(['localnet', 'advance', EXPIRY_SECONDS])
  /** Signs in a process of its own, in a home that has the key: no daemon, no database, no chain. */
  const signedBy = async (owner: string, content: unknown): Promise<string> => {
    const home = join(cli.home, owner)
    const { exitCode, stdout, stderr } = await cli.spawned(
      ['tx', 'sign', `@${saved(content)}`, '-k', join(home, 'id.json'), '--json'],
      { env: { HOME: home, SVC_DATA_DIR: join(home, 'data') }, cwd: home },
    )
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 })
    return saved(JSON.parse(stdout))
  }
  const submissions = async () =>
    (await run(['events', 'list', '--type', 'transaction.submitted', '--limit', '100'])).length

  /** What a device's owner reads before signing: every instruction by name, in 80 columns, on a machine without a chain. */
  const reads = async (transaction: string) => {
    const { exitCode, stdout } = await cli.svc(['tx', 'decode', transaction, '--offline'])
    expect(exitCode).toBe(0)
    expect(stdout).not.toContain('does not know')
    expect(stdout).toContain(`missing   ${address}`)
    for (const line of stdout.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80)
    const tried = await cli.svc(['tx', 'decode', transaction])
    expect(tried.stdout).toMatch(/^expires {3}it can land now, and for at most 150 blocks more(, \d+ seconds)?$/m)
    expect(tried.stdout).toMatch(/^trial run/m)
  }

  /** Built by address, expired at every step, and in the end sent once; returns what landed. */
  async function roundTrip(args: string[], owners: readonly string[]) {
    const before = await submissions()
    const built = await run([...args, '--build-only'])
    expect(JSON.stringify(built)).not.toContain('secret')
    for (const transaction of built.transactions ?? [built.transaction]) await reads(transaction)
    await expire()
    const first = await run(['tx', 'refresh', `@${saved(built)}`])
    expect(first.last_valid_block_height).toBeGreaterThan(built.last_valid_block_height)
    const late: string[] = []
    for (const owner of owners) late.push(await signedBy(owner, first))
    const lateFile = saved(await run(['tx', 'combine', ...late]))
    await expire()
    const expired = await refused(['tx', 'submit', `@${lateFile}`])
    expect(expired.message).toContain('blockhash')
    expect(await submissions()).toBe(before)
    expect((await refused(['tx', 'refresh', `@${lateFile}`])).message).toContain(`is signed by`)

    const second = await run(['tx', 'refresh', `@${saved(first)}`])
    const parts: string[] = []
    for (const owner of owners) parts.push(await signedBy(owner, second))
    expect((await refused(['tx', 'combine', late[0]!, parts[0]!])).message).toContain('one of them was refreshed')
    const whole = await run(['tx', 'combine', ...parts])
    expect(whole.missing_signers).toEqual([])
    const landed = await run(['tx', 'submit', `@${saved(whole)}`])
    const count = built.transactions?.length ?? 1
    expect(await submissions()).toBe(before + count)
    // Neither what expired nor what landed can be done once more.
    await refused(['tx', 'submit', `@${lateFile}`])
    for (const version of [built, first, second]) {
      const again = await refused(['tx', 'refresh', `@${saved(version)}`])
      expect(again.message).toContain('build it again to do the same once more')
    }
    await run(['tx', 'submit', `@${saved(whole)}`])
    expect(await submissions()).toBe(before + count)
    return { built, landed }
  }

  beforeAll(async () => {
    for (const [owner, { secretKey }] of [
      ['cold', cold],
      ['device', partner],
    ] as const) {
      mkdirSync(join(cli.home, owner), { mode: 0o700 })
      writeFileSync(join(cli.home, owner, 'id.json'), JSON.stringify([...secretKey]), { mode: 0o600 })
    }
    writeFileSync(join(cli.home, 'token.png'), png())
    await cli.svc(['localnet', 'status'])
    daemon = await startDaemon({
      dataDir: cli.dataDir,
      flags: ['--rpc-port', '0'],
      env: {
        SVC_PROGRAMS_DIR: PROGRAMS_DIR,
        SVC_SIGNER: 'keypair',
        SVC_SIGNER_KEYPAIR: join(cli.home, 'device', 'id.json'),
      },
    })
    for (const { publicKey } of [cold, partner]) await run(['localnet', 'airdrop', publicKey.toBase58(), '100'])
  })
  afterAll(() => daemon?.stop())

  it('makes a token, puts its airdrop on chain, and claims its own share', async () => {
    const token = ['tokens', 'create', '--name', 'Cold', '--symbol', 'CLD', '--uri', 'https://example.com/c.json']
    const { built, landed } = await roundTrip([...token, '--supply', '1000', '--payer', address], ['cold'])
    expect(landed).toMatchObject({ lifecycle: CONFIRMED, err: null })
    expect((await run(['tokens', 'get', built.mint])).raw).toMatchObject({
      supply: '1000000000',
      mint_authority: address,
    })

    const list = cli.file('list.csv', `${someone().toBase58()},250\n${address},250\n`)
    const tree = await run(['merkle', 'build', list, '--mint', built.mint, '--decimals', '6', '--persist'])
    const airdrop = await roundTrip(['airdrops', 'init', tree.id, '--payer', address], ['cold'])
    expect(airdrop.landed).toMatchObject({ lifecycle: CONFIRMED })
    const state = await run(['airdrops', 'get', tree.id])
    expect(state).toMatchObject({ status: 'initialized', vault_balance: '500000000' })
    await roundTrip(['airdrops', 'claim', tree.id, '--payer', address], ['cold'])
    expect(await run(['airdrops', 'get', tree.id])).toMatchObject({ vault_balance: '250000000' })
  })

  it('launches a pool in several transactions, and two keys in two places claim its fees with splits', async () => {
    const logo = join(cli.home, 'token.png')
    const create = ['pools', 'create', '--name', 'Cold Launch', '--symbol', 'COLD', '--image', logo, '--buy', '10']
    const { built, landed } = await roundTrip([...create, '--creator', address], ['cold'])
    expect(landed.transactions.map(({ lifecycle }: { lifecycle: string }) => lifecycle)).toEqual(
      built.transactions.map(() => CONFIRMED),
    )
    expect(await run(['pools', 'verify', built.address])).toMatchObject({ verified: true })

    const [one, other] = [someone().toBase58(), someone().toBase58()]
    const claim = [
      'fees',
      'claim',
      built.address,
      '--split',
      `${one}:7500,${other}:2500`,
      '--payer',
      address,
      '--tx-version',
      '1',
    ]
    const claimed = await roundTrip(claim, ['cold', 'device'])
    expect(claimed.landed).toMatchObject({ lifecycle: CONFIRMED })
    const shares = await Promise.all(
      [one, other].map(async (wallet) => (await run(['accounts', 'get', wallet])).lamports),
    )
    expect(shares).toEqual(['60000000', '20000000'])
  })

  it('goes on with a launch of which one transaction landed before its blockhash was over', async () => {
    const create = ['pools', 'create', '--name', 'Half Way', '--symbol', 'HALF', '--image', join(cli.home, 'token.png')]
    const built = await run([...create, '--buy', '1', '--payer', address, '--build-only'])
    const [first] = (await run(['tx', 'combine', await signedBy('cold', built)])).transactions
    expect(await run(['tx', 'submit', first])).toMatchObject({ lifecycle: CONFIRMED })
    await expire()
    const { stdout, stderr } = await cli.svc(['tx', 'refresh', `@${saved(built)}`, '-o', 'json'])
    expect(stderr).toContain('has landed already, and is left out')
    const rest = JSON.parse(stdout)
    expect(rest.transactions).toHaveLength(built.transactions.length - 1)
    expect(await run(['tx', 'submit', `@${await signedBy('cold', rest)}`])).toMatchObject({ lifecycle: CONFIRMED })
    expect(await run(['pools', 'verify', built.address])).toMatchObject({ verified: true })
  })

  it('is not asked for by anything that only builds, and is missed by everything else', async () => {
    const token = ['tokens', 'create', '--name', 'Cold', '--symbol', 'CLX', '--uri', 'https://example.com/c.json']
    const args = [...token, '--supply', '1', '--token-program', 'token2022', '--payer', address]
    expect(await run([...args, '--dry-run'])).toMatchObject({ signer: address, err: null })
    const { stderr: lacking } = await cli.svc(args)
    expect(lacking).toMatch(`the key of ${address} is not here: there is no keypair at`)
    expect(lacking).toContain('add --build-only')
    const built = cli.file('built.json', '{}')
    expect((await cli.svc(['tx', 'decode', built])).stderr).toContain(`give its content as @${built}`)
    const hot = cli.file('hot.json', JSON.stringify([...Keypair.generate().secretKey]), 0o600)
    const error = await refused([...args, '-k', hot])
    expect([error.param, error.message]).toEqual(['--payer', expect.stringContaining(address)])
  })
})
