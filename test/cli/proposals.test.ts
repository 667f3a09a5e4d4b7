/** `svc proposals` on the real program: two of three members decide about what a vault does, and what is refused says the way out. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { vaultAddress } from '../../src/solana/squads/index.ts'
import { itInSoak } from '../support/runs.ts'
import { lacksTreasury } from '../support/treasury.ts'
import { SOL } from '../support/wallets.ts'
import { CONFIRMED, commandLine } from './command-line.ts'
import { type Served, serveHere } from './served.ts'

const cli = commandLine()

describe.skipIf(lacksTreasury)(`svc proposals${lacksTreasury}`, () => {
  let daemon: Served
  const [a, b, c, server, stranger] = ['a', 'b', 'c', 'server', 'stranger'].map((name) => ({
    name,
    address: '',
    file: '',
  }))
  let [multisig, vault, locked] = ['', '', '']

  beforeAll(async () => {
    for (const key of [a, b, c, server, stranger]) Object.assign(key!, cli.keypair(`${key!.name}.json`))
    daemon = await serveHere(cli.dataDir)
    for (const key of [a, b, c, server, stranger]) await cli.json(['localnet', 'airdrop', key!.address, '10'])
    const members = [a, b, c].map((key) => key!.address).join(',')
    const create = [
      ...['multisig', 'create', '--member', `${members},${server!.address}:propose`, '--threshold', '2'],
      ...['--rent-collector', a!.address, '-k', a!.file],
    ]
    multisig = (await cli.json(create)).multisig
    locked = (await cli.json([...create, '--time-lock', '3600'])).multisig
    vault = vaultAddress(multisig, 0)
    for (const of of [vault, vaultAddress(locked, 0)]) await cli.json(['localnet', 'airdrop', of, '20'])
  })
  afterAll(() => daemon?.stop())

  const propose = async (of = multisig, by = server!): Promise<string> =>
    (await cli.json(['wallet', 'send', stranger!.address, '1', '--squads', of, '-k', by.file])).proposal
  const step = (verb: string, id: string, by: { file: string }, ...more: string[]) =>
    cli.json(['proposals', verb, id, '-k', by.file, ...more])
  const balance = async (wallet: string) => BigInt((await cli.json(['wallet', 'balance', wallet])).lamports)
  const refused = (verb: string, id: string, by: { file: string }, message: string | RegExp, exitCode = 2) =>
    cli.refused(['proposals', verb, id, '-k', by.file], message, exitCode)

  it('carry out what a server proposed: two approve, one executes, and its rent returns', async () => {
    const id = await propose()
    const before = await balance(stranger!.address)
    const shown = await cli.svc(['proposals', 'show', id], { env: { SVC_KEYPAIR: b!.file } })
    for (const [by, words] of [
      [b!, 'waits for you, 0 of 2 approvals: Send 1 SOL'],
      [stranger!, 'waits, 0 of 2 approvals: Send 1 SOL'],
    ] as const) {
      const { stderr } = await cli.svc(['status'], { env: { SVC_KEYPAIR: by.file } })
      const line = stderr.split('\n').find((each) => each.includes(id))
      expect(line).toContain(`${id} ${words}`)
      expect(line?.length).toBeLessThanOrEqual(80)
    }
    expect(shown.stdout).toContain(`Send 1 SOL to ${stranger!.address}`)
    for (const words of [
      'active, 0 of 2 approvals',
      `missing   ${b!.address} (you)`,
      `no vote   ${server!.address}`,
      '+1 SOL',
    ]) {
      expect(shown.stdout).toContain(words)
    }
    expect(shown.stdout.split('\n').filter((line) => line.length > 80)).toEqual([])
    expect(await step('approve', id, a!)).toMatchObject({ proposal: id, lifecycle: CONFIRMED })
    await refused('approve', id, a!, 'has approved the proposal', 2)
    await refused('execute', id, a!, 'is active, not approved', 2)
    const second = await cli.svc(['proposals', 'approve', id, '-k', b!.file])
    expect(second.stderr).toContain(`svc proposals execute ${id}`)
    expect(second.stderr).toContain('checked   here: one approval of exactly this proposal')
    expect(await step('execute', id, b!)).toMatchObject({ proposal: id, lifecycle: CONFIRMED })
    expect((await balance(stranger!.address)) - before).toBe(SOL)
    await refused('execute', id, a!, /is executed/, 2)
    const held = await balance(a!.address)
    await step('reclaim', id, c!)
    expect(await balance(a!.address)).toBeGreaterThan(held)
    await refused('reclaim', id, c!, 'was returned already', 2)
  })

  it('refuse who may not vote, and name those who may', async () => {
    const id = await propose()
    expect(await refused('approve', id, server!, 'may not vote')).toContain(b!.address)
    expect(await refused('approve', id, stranger!, 'is not a member')).toContain(b!.address)
  })

  itInSoak('sign nothing with --dry-run, and print the transaction with --build-only', async () => {
    const id = await propose()
    const dry = await step('approve', id, a!, '--dry-run')
    expect(dry).toMatchObject({ err: null, signer: a!.address })
    const built = await cli.json(['proposals', 'approve', id, '--payer', b!.address, '--build-only'])
    expect(built).toMatchObject({ missing_signers: [b!.address] })
    expect((await cli.json(['proposals', 'show', id])).decisions).toEqual([])
    const signed = await cli.json(['tx', 'sign', built.transaction, '-k', b!.file])
    await cli.json(['tx', 'submit', signed.transaction])
    await refused('approve', id, b!, 'has approved the proposal', 2)
  })

  itInSoak('are rejected by two, and cancelled by two after their approval', async () => {
    const first = await propose()
    for (const by of [a!, b!]) await step('reject', first, by)
    await refused('approve', first, c!, 'is rejected', 2)
    const other = await propose()
    await refused('cancel', other, a!, 'not approved', 2)
    for (const by of [a!, b!]) await step('approve', other, by)
    for (const by of [a!, b!]) await step('cancel', other, by)
    await refused('execute', other, a!, 'is cancelled', 2)
  })

  itInSoak('are proposed anew once they are rejected, with the same act at the next number', async () => {
    const id = await propose()
    await cli.refused(['proposals', 'renew', id, '-k', a!.file, '--yes'], 'is active', 2)
    for (const by of [a!, b!]) await step('reject', id, by)
    const renewed = await step('renew', id, a!, '--yes')
    expect(renewed).toMatchObject({ renews: id, multisig, vault, proposal_status: 'active', approvals_needed: 2 })
    expect((await cli.json(['proposals', 'show', id])).renewed_by).toBe(renewed.proposal)
    const [old, now] = await Promise.all([id, renewed.proposal].map((one) => cli.json(['proposals', 'show', one])))
    expect(now.message_sha256).toBe(old.message_sha256)
    expect(BigInt(now.approver.transaction_index)).toBe(BigInt(old.approver.transaction_index) + 1n)
  })

  itInSoak('wait for the time lock, and say until when', async () => {
    const id = await propose(locked)
    for (const by of [a!, b!]) await step('approve', id, by)
    const stderr = await refused('execute', id, a!, 'The time lock of the multisig ends at', 2)
    expect(stderr).toContain(id)
    expect((await cli.svc(['proposals', 'show', id])).stdout).toContain('it can be executed from')
    await cli.json(['localnet', 'advance', '4000'])
    expect(await step('execute', id, a!)).toMatchObject({ lifecycle: CONFIRMED })
  })

  itInSoak('are made for each mint of a list once, and each row is done by the members', async () => {
    const texts = ['--name', 'Listed', '--symbol', 'LST', '--uri', 'https://example.com/l.json', '--supply', '0']
    const made = ['tokens', 'create', ...texts, '--token-program', 'token2022', '--pausable', '-k', a!.file]
    const mints = [(await cli.json(made)).mint, (await cli.json(made)).mint]
    const list = join(cli.home, 'mints.csv')
    writeFileSync(list, mints.map((mint) => `${mint},pause,${vault}\n`).join(''))
    const given = ['tokens', 'set-authority', '--from', list, '--allow-programs', '-k', a!.file]
    expect(await cli.json(given)).toMatchObject({ done: 2 })
    writeFileSync(list, mints.map((mint) => `${mint}\n`).join(''))
    const pause = ['tokens', 'pause', '--from', list, '--squads', multisig, '-k', server!.file]
    const proposed = await cli.json(pause)
    expect(proposed).toMatchObject({ proposed: 2, failed: 0, journal: `${list}.pause.proposals.json` })
    expect(await cli.json(pause)).toMatchObject({ proposed: 0, waiting: 2 })
    for (const { proposals } of proposed.rows) {
      for (const by of [a!, b!]) await step('approve', proposals[0], by)
      await step('execute', proposals[0], a!)
    }
    expect(await cli.json(pause)).toMatchObject({ proposed: 0, executed: 2 })
    for (const mint of mints) expect((await cli.json(['tokens', 'get', mint])).raw.extensions.paused).toBe(true)
    await cli.refused(['tokens', 'pause', '--from', list, '--journal', 'j', '-k', a!.file], '--journal needs --squads')
  })

  it('import what is on the chain, and say what is not', async () => {
    const id = await propose()
    const { approver } = await cli.json(['proposals', 'show', id])
    expect((await cli.json(['proposals', 'import', multisig, approver.transaction_index])).id).toBe(id)
    await cli.refused(['proposals', 'import', multisig, '999'], 'has no proposal 999', 3)
  })

  it('say what is wrong with an id or a flag', async () => {
    await cli.refused(['proposals', 'approve', 'prp_nothing', '-k', a!.file], 'prp_nothing', 3)
    await cli.refused(['proposals', 'approve', 'prp_nothing', '--wait', 'soon'], '--wait')
  })
})
