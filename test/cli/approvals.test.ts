/** Acts that wait, from the command line: who may approve, what waits, and a decision that is checked before it is signed. */
import { beforeAll, describe, expect, it } from 'vitest'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { mapped } from '../support/mapped.ts'
import { hasProgram, quickProgramsDir } from '../support/programs.ts'
import { commandLine } from './command-line.ts'

const cli = commandLine()
const { svc, json } = cli
const [wallet, ada, bob, eve] = mapped(['platform', 'ada', 'bob', 'eve'], (name) => cli.keypair(`${name}.json`))

beforeAll(async () => {
  Object.assign(cli.env, { SVC_PROGRAMS_DIR: quickProgramsDir() })
  await json(['config', 'set', 'signer', 'keypair'])
  await json(['config', 'set', 'signer.keypair', wallet.file])
  await json(['config', 'set', 'priority-fee', 'none'])
  await json(['localnet', 'airdrop', wallet.address, '10'])
})

describe('svc approvers and svc signer policy', () => {
  it('say who may approve and what waits, and refuse what could never be approved', async () => {
    await cli.refused(['signer', 'policy', '--hours', 'mon/09:00-17:00/UTC', '--yes'], '--approvals')
    await cli.refused(['signer', 'policy', '--approvals', '2', '--yes'], 'svc approvers add')
    await json(['approvers', 'add', ada.address, 'Ada', '--yes'])
    await json(['approvers', 'add', bob.address, 'Bob', '--yes'])
    await cli.refused(['approvers', 'add', wallet.address, 'Me', '--yes'], 'platform wallet')
    await cli.refused(['signer', 'policy', '--approvals', '2', '--wait', 'everything', '--yes'], 'does not know')
    await cli.refused(
      ['signer', 'policy', '--approvals', '2', '--hours', 'mon-fri/09:00-17:00/Mars', '--yes'],
      'is not an IANA time zone',
    )
    const flags = ['--approvals', '2', '--approved-per-transaction', '1', '--approved-per-day', '2', '--yes']
    const { stdout } = await svc(['signer', 'policy', ...flags, '--wait', 'authority,airdrop.withdraw'])
    expect(stdout).toContain('2 of all approvers, within 86400 s')
    expect(stdout).toContain('up to 1 SOL a transaction, 2 SOL a day')
    expect(stdout).toContain('authority, airdrop.withdraw')
    const listed = (await svc(['approvers', 'list', '-o', 'plain'])).stdout
    expect(listed).toMatch(/Bob.*active.*\n.*Ada.*active/)
  })
})

describe('svc proposals', () => {
  it('shows what waits, lets two people approve it with their keys, and names its transaction', async () => {
    const asked = await svc(['signer', 'test', '--submit', '--yes'])
    expect([asked.exitCode, asked.stdout]).toEqual([7, expect.stringContaining('Nothing was signed: it waits')])
    const [, id = ''] = /(prp_\w+)/.exec(asked.stdout) ?? []
    expect(asked.stderr).toContain(`svc proposals approve ${id}`)
    await cli.refused(['proposals', 'approve', id, '-k', eve.file, '--yes'], 'is not an approver')
    const first = await svc(['proposals', 'approve', id, '-k', ada.file, '--yes'])
    expect([first.exitCode, first.stdout]).toEqual([0, expect.stringContaining('has 1 of 2 approvals')])
    expect(first.stderr).toMatch(/checked here .*Memo/s)
    const second = await svc(['proposals', 'approve', id, '-k', bob.file, '--yes'])
    expect([second.exitCode, second.stdout]).toEqual([0, expect.stringContaining(`Executed ${id}: `)])
    const data = await json(['proposals', 'show', id])
    expect(data).toMatchObject({ status: 'executed', signature: expect.any(String) })
    expect((await json(['tx', 'get', data.signature])).lifecycle).toMatch(/processing|submitted|confirmed|finalized/)
  })

  it.skipIf(!hasProgram(PROGRAMS.tokenMetadata.id))(
    'of a rule shows SOL and whole tokens, and raw units only as JSON',
    async () => {
      const keys = ['-k', wallet.file]
      const named = ['--name', 'Paid', '--symbol', 'PAID', '--uri', 'https://example.com/p.json']
      const { mint } = await json(['tokens', 'create', ...named, '--supply', '1000', ...keys])
      const ceiling = ['--approved-token', `${mint}:9000000:9000000`, '--wait', 'token_transfer.create']
      await json(['signer', 'policy', '--approvals', '1', ...ceiling, '--yes'])
      const list = cli.file('paid.csv', `wallet,amount\n${ada.address},1.5\n${bob.address},2\n`)
      const sent = await svc(['airdrops', 'send', list, '--mint', mint, '--decimals', '6', '--signed', '--yes'])
      expect(sent.exitCode, sent.stderr).toBe(7)
      const [{ id }] = await json(['proposals', 'list', '--status', 'active'])

      const { stdout, stderr } = await svc(['proposals', 'show', id])
      expect(stdout).toContain('active, 0 of 1 approvals')
      expect(stdout).toMatch(/leaves +at most 0\.00\d+ SOL, 3\.5 of\s/)
      expect(stdout).toMatch(/checked here.*transferChecked.*amount {2}1\.5 of/s)
      expect(stdout).toMatch(/approvers: 1 approval needed\n {2}missing {3}\w+ {2}\w+\n {2}missing/)
      expect(stdout.replace(/ what .*? leaves /s, '')).not.toMatch(/\d (lamports|raw units)/)
      expect(stderr).toContain(`svc proposals approve ${id}`)
      const { approver } = await json(['proposals', 'show', id])
      expect(approver.movement.tokens).toEqual([{ mint, amount: '3500000' }])

      const asked = await svc(['proposals', 'approve', id, '-k', ada.file, '--yes'])
      expect(asked.stderr).toMatch(/receives .*: 1\.5 of /)
      expect((await svc(['proposals', 'show', id])).stdout).toMatch(
        new RegExp(`executed.* approved +${ada.address}`, 's'),
      )
    },
  )

  const lacks = [PROGRAMS.tokenMetadata, PROGRAMS.distributor].some(({ id }) => !hasProgram(id))
  it.skipIf(lacks)('of an airdrop can be executed until it expires, because its start is after that', async () => {
    const named = ['--name', 'Late', '--symbol', 'LATE', '--uri', 'https://example.com/l.json']
    const { mint } = await json(['tokens', 'create', ...named, '--supply', '1000', '-k', wallet.file])
    const ceiling = ['--approved-token', `${mint}:9000000:9000000`, '--approved-per-transaction', '1']
    const policy = ['--approvals', '1', ...ceiling, '--approved-per-day', '2', '--wait', 'airdrop.create', '--yes']
    await json(['signer', 'policy', ...policy])
    const list = cli.file('late.csv', `wallet,amount\n${ada.address},1.5\n${bob.address},2\n`)
    const built = await json(['merkle', 'build', list, '--mint', mint, '--decimals', '6', '--persist'])
    const { id: airdrop } = Array.isArray(built) ? built[0] : built
    const asked = await svc(['airdrops', 'init', airdrop, '--list', list, '--decimals', '6', '--signed', '--yes'])
    expect([asked.exitCode, asked.stdout], asked.stderr).toEqual([7, expect.stringContaining('it waits')])
    const [{ id, expires_at }] = await json(['proposals', 'list', '--status', 'active'])

    // Without the later start, the program would refuse it five minutes after it was proposed.
    await json(['localnet', 'advance', '36000'])
    const approved = await svc(['proposals', 'approve', id, '-k', ada.file, '--yes'])
    expect([approved.exitCode, approved.stdout]).toEqual([0, expect.stringContaining(`Executed ${id}: `)])
    const { starts_at } = await json(['airdrops', 'status', airdrop])
    expect(Math.abs(Date.parse(starts_at) - Date.parse(expires_at))).toBeLessThan(60_000)

    // The start is a formality: it can be claimed from at once.
    await json(['localnet', 'airdrop', ada.address, '1'])
    await json(['airdrops', 'claim', airdrop, '-k', ada.file])
  })
})
