/** Acts that wait, from the command line: who may approve, what waits, and a decision that is checked before it is signed. */
import { beforeAll, describe, expect, it } from 'vitest'
import { commandLine, type KeypairFile } from './command-line.ts'

const cli = commandLine()
const { svc, json } = cli
const [wallet, ada, bob, eve] = ['platform', 'ada', 'bob', 'eve'].map((name) => cli.keypair(`${name}.json`)) as [
  KeypairFile,
  KeypairFile,
  KeypairFile,
  KeypairFile,
]

beforeAll(async () => {
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
    expect([asked.exitCode, asked.stdout]).toEqual([0, expect.stringContaining('Nothing was signed: it waits')])
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
})
