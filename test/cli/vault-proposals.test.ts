/** The walk through docs/approvals.md by command line: a multisig, a token that its vault makes, two approvals, the execution. */
import { beforeAll, describe, expect, it } from 'vitest'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { vaultAddress } from '../../src/solana/squads/index.ts'
import { mapped } from '../support/mapped.ts'
import { hasProgram, quickProgramsDir } from '../support/programs.ts'
import { itInSoak } from '../support/runs.ts'
import { commandLine } from './command-line.ts'

const lacks = [PROGRAMS.squads, PROGRAMS.tokenMetadata, PROGRAMS.lock, PROGRAMS.core].some(({ id }) => !hasProgram(id))
const cli = commandLine()
const [ada, ben, cy] = mapped(['ada', 'ben', 'cy'], (name) => cli.keypair(`${name}.json`))
const ok = (args: readonly string[]) => cli.json([...args])

describe.skipIf(lacks)('A multisig by command line', { tags: 'sampled' }, () => {
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

  itInSoak('moves what a vault without SOL holds, because the member who executes it pays the fee', async () => {
    const poor = `${world.multisig}:2`
    const poorVault = vaultAddress(world.multisig, 2)
    const transfer = ['tokens', 'transfer', world.mint]
    const carryOut = async (...args: string[]) => {
      const { proposal } = await ok([...transfer, ...args, '-k', ada.file])
      for (const { file } of [ben, cy]) await ok(['proposals', 'approve', proposal, '-k', file])
      expect(await ok(['proposals', 'execute', proposal, '-k', cy.file])).toMatchObject({ proposal_status: 'executed' })
    }
    await carryOut(ben.address, '1', '--squads', world.multisig)
    await carryOut(poorVault, '5', '--allow-programs', '--squads', world.multisig)
    const dry = await cli.svc([...transfer, ben.address, '2', '--squads', poor, '-k', ada.file, '--dry-run'])
    expect([dry.exitCode, dry.stdout + dry.stderr]).toEqual([0, expect.not.stringContaining('fails')])
    const list = cli.file('poor.csv', `wallet,amount\n${ben.address},1\n`)
    const listed = await cli.svc([...transfer, '--from', list, '--squads', poor, '-k', ada.file, '--dry-run'])
    expect([listed.exitCode, listed.stdout + listed.stderr]).toEqual([
      0,
      expect.not.stringContaining(`from ${poorVault}`),
    ])
    await carryOut(ben.address, '2', '--squads', poor)
    expect((await ok(['wallet', 'balance', poorVault])).lamports).toBe('0')
  })

  itInSoak('is refused as the receiver of anything, with the address of its vault, whatever is allowed', async () => {
    const { multisig, vault, mint } = world
    const list = cli.file('lost.csv', `wallet,amount\n${multisig},1\n`)
    const more = ['--allow-programs', '-k', ada.file, '--yes']
    const { collection } = await ok([
      ...['collections', 'create', '--name', 'Own', '--uri', 'https://example.com/c.json', '-k', ada.file],
    ])
    const lost = [
      ['locks', 'create', mint, multisig, '1', '--cliff', '365d', '--all-at-once', '--squads', multisig],
      ['collections', 'transfer-authority', collection, multisig],
      ['wallet', 'send', multisig, '1'],
      ['tokens', 'transfer', mint, multisig, '1', '--squads', multisig],
      ['tokens', 'set-authority', mint, 'mint', multisig, '--squads', multisig],
      ['airdrops', 'send', list, '--mint', mint, '--decimals', '6', '--squads', multisig],
    ]
    for (const args of lost) {
      const { exitCode, stdout, stderr } = await cli.svc([...args, ...more])
      expect([args[1], exitCode === 0, stdout + stderr]).toEqual([args[1], false, expect.stringContaining(vault)])
    }
  })

  itInSoak('is found by the address of its vault, which a proposal or the setting has made known', async () => {
    const { multisig, vault, mint } = world
    const third = vaultAddress(multisig, 2)
    const proposed = async (squads: string, env = {}) => {
      const args = ['tokens', 'transfer', mint, ben.address, '1', '-k', ada.file, '--dry-run']
      const flag = squads === '' ? [] : ['--squads', squads]
      return cli.json([...args, ...flag], { env })
    }
    for (const named of [vault, `${vault}:0`]) {
      expect(await proposed(named), named).toMatchObject({ vault })
    }
    expect(await proposed('', { SVC_SQUADS: vault })).toMatchObject({ vault })
    expect(await proposed(third)).toMatchObject({ vault: third })
    expect(await ok(['multisig', 'show', third])).toMatchObject({ address: multisig, vault: third, vault_index: 2 })
    expect(await ok(['multisig', 'show', multisig])).not.toHaveProperty('vault_index')
    const send = ['wallet', 'send', ben.address, '0.1', '-k', ada.file, '--yes', '--squads']
    await cli.refused([...send, `${vault}:1`], `--squads names the vault 0 of ${multisig}, and the number 1`)
    const unknown = vaultAddress(cy.address, 0)
    await cli.refused([...send, unknown], 'which may be the vault of one that is not known here', 3)
    await cli.refused([...send, cy.address], 'There is no Squads multisig at', 3)
    // The setting of an installation is known too.
    const other = await ok(['multisig', 'create', '--member', ada.address, '--threshold', '1', '-k', ada.file])
    await cli.refused([...send, other.vault], 'may be the vault of one', 3)
    const shown = await cli.json(['multisig', 'show', other.vault], { env: { SVC_SQUADS: other.multisig } })
    expect(shown.address).toBe(other.multisig)
  })

  itInSoak('keeps the SOL of the vault with --guard-inside, which any other spend of it blocks', async () => {
    const send = (...more: string[]) => ['wallet', 'send', ben.address, '0.5', ...more, '-k', ada.file]
    const propose = async (...more: string[]) =>
      (await ok(send('--squads', world.multisig, '--yes', ...more))).proposal as string
    const [guarded, other] = [await propose('--guard-inside'), await propose()]
    const { stdout } = await cli.svc(['proposals', 'show', guarded])
    expect(stdout).toContain('assert_account_info')
    for (const id of [guarded, other]) {
      for (const { file } of [ben, cy]) await ok(['proposals', 'approve', id, '-k', file])
    }
    const execute = (id: string) => ['proposals', 'execute', id, '-k', cy.file]
    await ok(execute(other))
    await cli.refused([...execute(guarded), '--yes'], 'The execution would fail now', 2)
    await ok(['localnet', 'airdrop', world.vault, '0.5'])
    expect(await ok(execute(guarded))).toMatchObject({ proposal_status: 'executed' })
    await cli.refused(send('--guard-inside', '--yes'), '--guard-inside needs a multisig', 2)
  })

  it('gets the rent of the finished proposal back', async () => {
    await ok(step('reclaim', ada.file))
    expect((await ok(['proposals', 'show', world.proposal])).reclaimed_at).not.toBeNull()
    expect((await cli.svc([...step('reclaim', ada.file), '--yes'])).exitCode).not.toBe(0)
  })
})
