/** Positions on the command line: listed, withdrawn from and locked with the owner's keypair. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Keypair } from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { png } from '../storage/images.ts'
import { lackingPrograms } from '../support/pool-platform.ts'
import { itInSoak } from '../support/runs.ts'
import { commandLine } from './command-line.ts'
import { type Served, serveHere } from './served.ts'

const cli = commandLine()

describe.skipIf(lackingPrograms.length > 0)(`svc pools positions (${lackingPrograms.join(', ')})`, () => {
  let daemon: Served
  let [own, pool, position] = ['', '', '']
  const owner = Keypair.generate()
  const platform = Keypair.generate()
  const act = (verb: string, ...more: string[]) => ['pools', 'positions', verb, pool, position, ...more, '-k', own]
  const held = async () =>
    (await cli.json(['pools', 'positions', 'list', pool, '--owner', owner.publicKey.toBase58()])).positions[0]

  beforeAll(async () => {
    await cli.svc(['localnet', 'status'])
    const logo = join(cli.home, 'token.png')
    writeFileSync(logo, png())
    own = cli.keypair('own.json', owner).file
    daemon = await serveHere(cli.dataDir, {
      SVC_SIGNER: 'keypair',
      SVC_SIGNER_KEYPAIR: cli.keypair('platform.json', platform).file,
      SVC_PRIORITY_FEE: 'none',
    })
    await cli.json(['localnet', 'airdrop', owner.publicKey.toBase58(), '100'])
    const texts = ['--name', 'Test', '--symbol', 'TST', '--image', logo, '--type', 'damm_v2', '--unlocked-liquidity']
    pool = (await cli.json(['pools', 'create', ...texts, '-k', own])).address
    await cli.json(['pools', 'swap', pool, '--buy', '5', '-k', own])
    position = (await held()).position
  })
  afterAll(() => daemon?.stop())

  it('list shows what a position is worth and which part is free', async () => {
    const { stdout, stderr } = await cli.svc([
      'pools',
      'positions',
      'list',
      pool,
      '--owner',
      owner.publicKey.toBase58(),
    ])
    expect(stdout).toContain(position)
    expect(stdout).toContain('100 %')
    expect(stderr).toContain('token B is SOL')
    const none = await cli.svc(['pools', 'positions', 'list', pool, '--owner', pool])
    expect(none.stderr).toContain(`${pool} has no positions in this pool`)
  })

  it('remove asks for one choice, leaves nothing in a dry run, and then pays the part', async () => {
    for (const wrong of [
      [],
      ['--all', '--percent', '5'],
      ['--percent', '0'],
      ['--percent', '100.01'],
      ['--liquidity', '0'],
    ]) {
      expect((await cli.svc(act('remove', ...wrong))).exitCode).toBe(2)
    }
    // A script cannot see what the API makes of a percentage.
    await cli.refused(act('remove', '--percent', '25'), '--liquidity')
    const before = await held()
    const quarter = String(BigInt(before.liquidity) / 4n)
    const dry = await cli.svc(act('remove', '--percent', '25', '--dry-run'))
    expect([dry.exitCode, dry.stdout]).toEqual([0, expect.stringContaining(quarter)])
    expect(await held()).toEqual(before)
    const done = await cli.json(act('remove', '--liquidity', quarter))
    expect(done).toMatchObject({ removed_liquidity: quarter })
    expect((await held()).liquidity).toBe(done.liquidity)
  })

  it('lock locks what is chosen for good, and remove then says why nothing can be withdrawn', async () => {
    const { liquidity } = await held()
    const half = String(BigInt(liquidity) / 2n)
    const { stdout } = await cli.svc(act('lock', '--liquidity', half, '--dry-run'))
    expect(stdout).toContain('nobody can ever withdraw')
    await cli.json(act('lock', '--liquidity', half))
    expect((await held()).locked_liquidity).toBe(half)
    await cli.json(act('remove', '--all'))
    expect(await held()).toMatchObject({ liquidity: half, unlocked_liquidity: '0' })
    await cli.refused(act('remove', '--all'), 'it is locked for good')
    await cli.refused(act('lock', '--all'), 'it is locked for good')
  })

  it('add shows both amounts, needs both from a script, and takes no more than shown', async () => {
    await cli.json(['pools', 'swap', pool, '--buy', '5', '-k', own])
    expect((await cli.svc(act('add'))).exitCode).toBe(2)
    await cli.refused(act('add', '--amount-b', '0.1'), '--amount-a')
    await cli.refused(act('add', '--amount-b', '0.0000000001'), '--amount-b')
    const before = await held()
    const shown = await cli.svc(act('add', '--amount-b', '0.1', '--dry-run'))
    expect([shown.exitCode, shown.stdout]).toEqual([0, expect.stringContaining('at most')])
    expect(shown.stdout).toContain('liquidity for this position from your own accounts')
    expect(await held()).toEqual(before)
    const done = await cli.json(act('add', '--amount-a', '100000000', '--amount-b', '0.1'))
    expect(BigInt(done.amount_b)).toBeLessThanOrEqual(100_000_000n)
    expect((await held()).liquidity).toBe(done.liquidity)
    expect(BigInt(done.liquidity)).toBe(BigInt(before.liquidity) + BigInt(done.added_liquidity))
  })

  it('open makes another position, of which nothing is locked', async () => {
    const open = ['pools', 'positions', 'open', pool, '--amount-a', '100000000', '--amount-b', '0.1', '-k', own]
    const { stdout } = await cli.svc([...open, '--dry-run'])
    expect(stdout).toContain('a new position of yours')
    await cli.refused(['pools', 'positions', 'open', pool, '-k', own], '--amount-a')
    const done = await cli.json(open)
    const { positions } = await cli.json(['pools', 'positions', 'list', pool, '--owner', owner.publicKey.toBase58()])
    const opened = positions.find((each: { position: string }) => each.position === done.position)
    expect(opened).toMatchObject({ nft_mint: done.nft_mint, liquidity: done.added_liquidity, locked_liquidity: '0' })
    position = done.position
  })

  itInSoak('vest shows the schedule, and what is vested can be withdrawn only after it', async () => {
    for (const wrong of [
      ['--periods', '2'],
      ['--frequency', '1h'],
      ['--cliff', 'soon'],
      ['--cliff-percent', '5'],
    ]) {
      expect((await cli.svc(act('vest', '--all', ...wrong))).exitCode, wrong.join(' ')).toBe(2)
    }
    const { positions } = await cli.json(['pools', 'positions', 'list', pool, '--owner', owner.publicKey.toBase58()])
    const { liquidity } = positions.find((each: { position: string }) => each.position === position)
    const half = String(BigInt(liquidity) / 2n)
    const terms = [
      '--liquidity',
      half,
      '--cliff',
      '10h',
      '--cliff-percent',
      '25',
      '--periods',
      '5',
      '--frequency',
      '2h',
    ]
    const shown = await cli.svc(act('vest', ...terms, '--dry-run'))
    expect(shown.stdout).toMatch(/cliff +25/)
    expect(shown.stdout).toMatch(/then +15 % each, 5 times/)
    const done = await cli.json(act('vest', ...terms))
    expect(done).toMatchObject({ vested_liquidity: half, vesting_liquidity: half, locked_liquidity: '0' })
    expect(Date.parse(done.ends_at) - Date.parse(done.cliff_at)).toBe(10 * 3_600_000)
    await cli.json(act('remove', '--all'))
    await cli.refused(act('remove', '--all'), 'its schedule releases the next part')
    await cli.json(['localnet', 'advance', '36000'])
    const whole = BigInt(half)
    const quarter = await cli.json(act('remove', '--all'))
    expect(BigInt(quarter.removed_liquidity)).toBe(whole - 5n * ((whole - whole / 4n) / 5n))
  })

  itInSoak('claim pays the fees of one position, and close returns the rent of an empty one', async () => {
    const amounts = ['--amount-a', '100000000', '--amount-b', '0.1']
    const made = await cli.json(['pools', 'positions', 'open', pool, ...amounts, '-k', own])
    await cli.json(['pools', 'swap', pool, '--buy', '5', '-k', own])
    const one = (verb: string, ...more: string[]) => [
      'pools',
      'positions',
      verb,
      pool,
      made.position,
      ...more,
      '-k',
      own,
    ]
    await cli.refused(one('close'), 'withdraw all of it first')
    const shown = await cli.svc(one('claim', '--dry-run'))
    expect(shown.stdout).toContain('this claim, into accounts of the wallet that it pays')
    expect(await cli.json(one('claim'))).toMatchObject({ kind: 'damm_v2', claimer: owner.publicKey.toBase58() })
    await cli.refused(one('claim'), 'nothing to claim')
    await cli.json(one('remove', '--all'))
    const closing = await cli.svc(one('close', '--dry-run'))
    expect(closing.stdout).toContain('this position closed, with its fees and its rent for you')
    expect(await cli.json(one('close'))).toMatchObject({ position: made.position, nft_mint: made.nft_mint })
    const again = await cli.svc(one('close'))
    expect([again.exitCode, again.stderr]).toEqual([3, expect.stringContaining('There is no position at')])
  })

  itInSoak('lock --signed locks a position of the platform wallet, and no other', async () => {
    const signed = ['pools', 'positions', 'lock', pool, position, '--liquidity', '7', '--signed', '--yes']
    await cli.refused(signed, 'holds no position')
    await cli.json(['signer', 'policy', '--per-transaction', '0.1', '--per-day', '1', '--yes'])
    const to = platform.publicKey.toBase58()
    await cli.json(['localnet', 'airdrop', to, '1'])
    await cli.json([
      'pools',
      'positions',
      'add',
      pool,
      position,
      ...['--amount-a', '1000', '--amount-b', '1', '-k', own],
    ])
    await cli.json(['pools', 'positions', 'transfer', pool, '--to', to, '--position', position, '-k', own])
    expect((await cli.json(signed)).locked_liquidity).toBe('7')
  })
})
