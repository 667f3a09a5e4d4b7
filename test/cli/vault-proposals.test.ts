/** The walk through docs/approvals.md by command line: a multisig, a token that its vault makes, two approvals, the execution. */
import { beforeAll, describe, expect, it } from 'vitest'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { hasProgram, quickProgramsDir } from '../support/programs.ts'
import { commandLine, type KeypairFile } from './command-line.ts'

const lacks = [PROGRAMS.squads, PROGRAMS.tokenMetadata].some(({ id }) => !hasProgram(id))
const cli = commandLine()
const [ada, ben, cy] = ['ada', 'ben', 'cy'].map((name) => cli.keypair(`${name}.json`)) as [
  KeypairFile,
  KeypairFile,
  KeypairFile,
]
const ok = (args: readonly string[]) => cli.json([...args])

describe.skipIf(lacks)('A multisig by command line', () => {
  const world = { multisig: '', vault: '', mint: '', proposal: '' }

  beforeAll(async () => {
    Object.assign(cli.env, { SVC_PROGRAMS_DIR: quickProgramsDir(), SVC_PRIORITY_FEE: 'none' })
    for (const { address } of [ada, ben, cy]) await ok(['localnet', 'airdrop', address, '10'])
  })

  it('is made with members, of whom one may only propose', async () => {
    const members = `${ada.address}:propose,${ben.address},${cy.address}`
    const made = await ok(['multisig', 'create', '--member', members, '--threshold', '2', '-k', ada.file])
    Object.assign(world, { multisig: made.multisig, vault: made.vault })
    const shown = await ok(['multisig', 'show', world.multisig])
    expect(shown).toMatchObject({ vault: world.vault, threshold: 2, transaction_index: '0', config_authority: null })
    expect(shown.members.find(({ address }: { address: string }) => address === ada.address)).toEqual({
      address: ada.address,
      propose: true,
      vote: false,
      execute: false,
    })
    await ok(['localnet', 'airdrop', world.vault, '10'])
  })

  const create = (...more: string[]) => [
    ...['tokens', 'create', '--name', 'Vault Token', '--symbol', 'VLT', '--uri', 'https://example.com/v.json'],
    ...['--supply', '1000', '--squads', world.multisig, ...more],
  ]

  it('gets what a command builds as a proposal, and nothing is done yet', async () => {
    const dry = await ok(create('-k', ada.file, '--dry-run'))
    expect(dry).toMatchObject({ vault: world.vault })
    const printed = await ok(create('--payer', ada.address, '--build-only'))
    expect(printed).toMatchObject({ missing_signers: [ada.address], transaction_index: '1' })
    expect(printed.vault_messages).toHaveLength(1)
    const proposed = await ok(create('-k', ada.file))
    expect(proposed).toMatchObject({ transaction_index: '1', vault: world.vault, approvals_needed: 2 })
    Object.assign(world, { mint: proposed.mint, proposal: proposed.proposal })
    expect((await cli.svc(['tokens', 'get', world.mint])).exitCode).not.toBe(0)
  })

  const statusOf = async () => (await ok(['proposals', 'show', world.proposal])).status
  const step = (name: string, file: string) => ['proposals', name, world.proposal, '-k', file]

  it('executes it once two members have approved, and not before', async () => {
    const early = await cli.svc([...step('execute', ben.file), '--yes'])
    expect(early.exitCode).not.toBe(0)
    const stranger = await cli.svc([...step('approve', ada.file), '--yes'])
    expect(stranger.stderr).toContain('may not vote')
    await ok(step('approve', ben.file))
    expect(await statusOf()).toBe('active')
    expect((await cli.svc([...step('approve', ben.file), '--yes'])).exitCode).not.toBe(0)
    await ok(step('approve', cy.file))
    expect(await statusOf()).toBe('approved')
    expect(await ok(step('execute', cy.file))).toMatchObject({ proposal_status: 'executed' })
    expect(await statusOf()).toBe('executed')
    const token = await ok(['tokens', 'get', world.mint])
    expect(token.raw).toMatchObject({ mint_authority: world.vault, supply: '1000000000' })
    expect((await cli.svc([...step('execute', cy.file), '--yes'])).exitCode).not.toBe(0)
  })

  it('is never left out in silence: what cannot propose refuses the flag and the setting', async () => {
    const claim = ['locks', 'claim', '--all', '-k', ada.file, '--yes']
    const refused = await cli.svc([...claim, '--squads', world.multisig])
    expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining('--squads none')])
    expect((await cli.svc(claim, { env: { SVC_SQUADS: world.multisig } })).exitCode).toBe(2)
  })

  it('gets the rent of the finished proposal back', async () => {
    await ok(step('reclaim', ada.file))
    expect((await ok(['proposals', 'show', world.proposal])).reclaimed_at).not.toBeNull()
    expect((await cli.svc([...step('reclaim', ada.file), '--yes'])).exitCode).not.toBe(0)
  })
})
