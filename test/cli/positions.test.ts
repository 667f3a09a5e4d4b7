/** Positions on the command line: listed, withdrawn from and locked with the owner's keypair. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Keypair } from '@solana/web3.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { png } from '../storage/images.ts'
import { lackingPrograms } from '../support/pool-platform.ts'
import { commandLine } from './command-line.ts'
import { type Served, serveHere } from './served.ts'

const cli = commandLine()

describe.skipIf(lackingPrograms.length > 0)(`svc pools positions (${lackingPrograms.join(', ')})`, () => {
  let daemon: Served
  let [own, pool, position] = ['', '', '']
  const owner = Keypair.generate()
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
      SVC_SIGNER_KEYPAIR: cli.keypair('platform.json', Keypair.generate()).file,
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
})
