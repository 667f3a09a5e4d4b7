/** `svc airdrops launch --squads`: a list of two airdrops, launched by two of three members and claimed from. */
import { randomBytes } from 'node:crypto'
import { base58 } from '@scure/base'
import { beforeAll, describe, expect, it } from 'vitest'
import { MAX_STORED_LEAVES } from '../../src/merkle/entry-list.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { hasProgram } from '../support/programs.ts'
import { itInSoak } from '../support/runs.ts'
import { commandLine } from './command-line.ts'
import { vaultOf } from './vault.ts'

const lacks = [PROGRAMS.squads, PROGRAMS.tokenMetadata, PROGRAMS.distributor].some(({ id }) => !hasProgram(id))
const cli = commandLine()
const vault = vaultOf(cli)
const { ada, ben, vote, carryOut } = vault
const claimer = cli.keypair('claimer.json')
const ok = (args: readonly string[]) => cli.json([...args])

describe.skipIf(lacks)('An airdrop in two parts of a vault', { tags: 'sampled' }, () => {
  const world = { mint: '', list: '' }
  const launch = (...more: string[]) => [
    ...['airdrops', 'launch', world.list, '--mint', world.mint, '--raw', '--allow-programs'],
    ...vault.by(),
    ...more,
  ]

  beforeAll(async () => {
    await vault.open()
    await vault.serve({})
    await vault.fund(claimer.address)
    const token = ['--name', 'Drop', '--symbol', 'DRP', '--uri', 'https://example.com/d.json', '--supply', '1000']
    world.mint = (await ok(['tokens', 'create', ...token, '-k', ada.file])).mint
    const others = Array.from({ length: MAX_STORED_LEAVES + 2 }, () => `${base58.encode(randomBytes(32))},1`)
    world.list = cli.file('list.csv', [...others, `${claimer.address},7`, ''].join('\n'))
  })

  it('is refused while the vault lacks the tokens, and previewed without any trace', async () => {
    await cli.refused(launch(), `${vault.address} has 0 of the`)
    await ok(['wallet', 'send', vault.address, '1000', '--mint', world.mint, '--allow-programs', '-k', ada.file])
    const rows = await ok(launch('--dry-run'))
    expect(rows).toHaveLength(2)
    expect(await ok(['proposals', 'list'])).toEqual([])
  })

  const proposalsOf = (rows: { proposal: string }[]) => rows.map(({ proposal }) => proposal)

  it('becomes two proposals in order, which a second run finds', async () => {
    const rows = await ok(launch())
    expect(rows).toMatchObject(
      [1, 2].map((number) => ({ proposal_status: 'active', transaction_index: String(number), funded: false })),
    )
    const again = await cli.svc([...launch(), '--json'])
    expect([again.exitCode, proposalsOf(JSON.parse(again.stdout))]).toEqual([0, proposalsOf(rows)])
    expect(again.stderr).toContain('Every part is proposed already: nothing was sent')
    expect(again.stderr).toContain(`svc proposals approve ${rows[0].proposal}`)
    expect(await ok(['proposals', 'list'])).toHaveLength(2)
    await cli.refused(launch('--clawback-after-days', '90'), `stop that one: \`svc proposals reject`, 1)
    await cli.refused(
      launch('--airdrop-count', '7'),
      'as another airdrop: proposing it again would pay everybody twice',
    )
  })

  itInSoak('goes on where it stands: a rejected part is proposed anew, an executed one is left alone', async () => {
    const [first, second] = proposalsOf(await ok(launch())) as [string, string]
    await carryOut(first)
    await vote('reject', second, ben)
    const ran = await cli.svc([...launch(), '--json'])
    expect(ran.exitCode, ran.stderr).toBe(0)
    expect(ran.stderr).toContain(`Airdrop 1 is proposed anew, because ${second} is rejected`)
    const rows = JSON.parse(ran.stdout)
    expect(rows).toMatchObject([
      { funded: true, missing: '0' },
      { funded: false, proposal_status: 'active', transaction_index: '3' },
    ])
  })

  it('with a start that is near is proposed with a warning, and shown with the time until which it can be executed', async () => {
    const list = cli.file('locked.csv', `wallet,amount,locked\n${claimer.address},1,5\n`)
    const start = new Date(Math.ceil(Date.now() / 1000) * 1000 + 2.5 * 3_600_000).toISOString()
    const times = ['--starts-at', start, '--ends-at', '2099-01-01']
    const args = ['airdrops', 'launch', list, '--mint', world.mint, '--raw', '--airdrop-count', '9', ...times]
    const ran = await cli.svc([...args, ...vault.by(), '--json'])
    expect(ran.exitCode, ran.stderr).toBe(0)
    const [{ proposal, execute_before }] = JSON.parse(ran.stdout)
    expect(execute_before).toBe(start)
    expect(ran.stderr).toContain(`${proposal} must be executed before ${start.replace('.000', '')}, in 2 hours`)
    expect((await cli.svc(['proposals', 'show', proposal])).stdout).toContain('the start of its airdrop')
  })

  itInSoak('whose start has passed can only be proposed anew, and pays out once all are executed', async () => {
    const second = (await ok(launch()))[1].proposal
    await ok(['localnet', 'advance', String(14 * 86_400)])
    const late = await cli.svc(['proposals', 'approve', second, '-k', ben.file])
    expect([late.exitCode, late.stderr]).toEqual([2, expect.stringContaining('can no longer be executed')])
    const ran = await cli.svc([...launch(), '--json'])
    expect(ran.stderr).toContain(`Airdrop 1 is proposed anew, because ${second} can no longer be executed`)
    await carryOut(JSON.parse(ran.stdout)[1].proposal)
    const rows = await ok(launch())
    expect(rows).toMatchObject([{ funded: true }, { funded: true }])
    expect((await cli.svc([...launch(), '--json'])).stderr).toContain('Everything is on chain already')
    await ok(['airdrops', 'claim', rows[1].id, '-k', claimer.file])
    const { address } = await ok(['pdas', 'derive', 'ata', `owner=${claimer.address}`, `mint=${world.mint}`])
    const { data } = await ok(['accounts', 'get', address])
    expect(Buffer.from(data, 'base64').readBigUInt64LE(64)).toBe(7n)
  })
})
