/** `svc locks` with the other signers: the platform wallet, and the vault of a multisig, for a Token-2022 mint with a fee. */
import { readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { DAY, lacksLock } from '../support/gold.ts'
import { hasProgram, quickProgramsDir } from '../support/programs.ts'
import { itInSoak } from '../support/runs.ts'
import { someAddress } from '../support/wallets.ts'
import { commandLine } from './command-line.ts'
import { type Served, serveHere } from './served.ts'
import { carryOutBy } from './vault.ts'

const cli = commandLine()
const [ada, ben, cy] = [cli.keypair('ada.json'), cli.keypair('ben.json'), cli.keypair('cy.json')]
const platform = cli.keypair('platform.json')
const ok = (args: readonly string[]) => cli.json([...args])
const svc = (args: readonly string[]) => cli.svc([...args])
const world = { mint: '', multisig: '', vault: '' }
const advance = (days: number) => ok(['localnet', 'advance', String(days * DAY + 60)])
const lockedFor = (wallet: string) => ok(['locks', 'list', '--recipient', wallet])
const create = (recipient: string, amount: string, ...more: string[]) => [
  ...['locks', 'create', world.mint, recipient, amount, '--periods', '4', '--frequency', '1d'],
  ...['--cancellable-by', 'creator', '--recipient-changeable-by', 'creator', ...more],
]
const token = (symbol: string, ...more: string[]) => [
  ...['tokens', 'create', '--name', 'Team', '--symbol', symbol, '--uri', 'https://example.com/t.json'],
  ...['--supply', '10000', '--token-program', 'token2022', ...more, '-k', ada.file],
]

let daemon: Served
beforeAll(async () => {
  Object.assign(cli.env, { SVC_PROGRAMS_DIR: quickProgramsDir(), SVC_PRIORITY_FEE: 'none' })
  Object.assign(cli.env, { SVC_SIGNER: 'keypair', SVC_SIGNER_KEYPAIR: platform.file })
  daemon = await serveHere(cli.dataDir, cli.env)
  for (const { address } of [ada, ben, cy, platform]) await ok(['localnet', 'airdrop', address, '100'])
  world.mint = (await ok(token('TM', '--transfer-fee', '1%', '--max-fee', '1000'))).mint
  await ok(['tokens', 'transfer', world.mint, platform.address, '2000', '--accept-transfer-fee', '-k', ada.file])
  const limits = ['--per-transaction', '10', '--per-day', '100', '--token', `${world.mint}:1000000000:9000000000`]
  await ok(['signer', 'policy', ...limits, '--yes'])
})
afterAll(() => daemon?.stop())

describe.skipIf(lacksLock !== '')(`A lock of the platform wallet, of a mint with a transfer fee ${lacksLock}`, () => {
  it('is claimed with --signed, by the wallet that receives it', async () => {
    const { address } = await ok(create(platform.address, '8', '-k', ada.file))
    await advance(2)
    expect(await ok(['locks', 'claim', address, '--signed'])).toMatchObject({ amount: '4000000', received: '3960000' })
  })

  itInSoak(
    'is made once for each row of a list with --signed, also if a run was killed before its answer',
    async () => {
      const wallets = [someAddress(), someAddress(), someAddress()]
      const file = cli.file('signed.csv', wallets.map((wallet, i) => `${wallet},${i + 1}\n`).join(''))
      const list = ['locks', 'create', world.mint, '--from', file, '--cliff', '1d', '--all-at-once', '--signed']
      const dry = await svc([...list, '--dry-run'])
      expect(dry.exitCode, dry.stderr).toBe(0)
      expect(dry.stderr).toMatch(/^ {2}withheld +0\.060609 by the mint, whose transfer fee is 1 %$/m)
      expect(dry.stderr).toMatch(/^ {2}takes +6\.060609 with it/m)
      const first = await ok(list)
      expect(first).toMatchObject({ total: 3, locked: 3, failed: 0, amount: '6000000' })
      expect(await ok(list)).toMatchObject({ locked: 0, there_already: 3 })

      const journal = first.journal as string
      const [head, ...lines] = readFileSync(journal, 'utf8').trim().split('\n')
      const cut = (at: number) => {
        const entries = lines.map((line) => JSON.parse(line))
        const last = entries.at(-1)
        const request = { ...last.request, signature: null, at }
        entries.splice(-1, 1, { ...last, signature: null, isMade: false, account: null, request })
        writeFileSync(journal, `${[head, ...entries.map((entry) => JSON.stringify(entry))].join('\n')}\n`)
      }
      cut(JSON.parse(lines.at(-1) ?? '').request.at)
      const again = await ok(list)
      expect(again).toMatchObject({ locked: 1, there_already: 2 })
      expect(again.locks.map(({ lock }: { lock: string }) => lock)).toEqual(
        first.locks.map(({ lock }: { lock: string }) => lock),
      )
      // After half an hour the API may have forgotten the key, and would sign once more.
      cut(1)
      const late = await svc([...list, '--json'])
      expect([late.exitCode, JSON.parse(late.stdout)]).toEqual([
        1,
        expect.objectContaining({ unknown: 1, failed: 0, locked: 0 }),
      ])
      expect(late.stdout).toContain('it is not asked again')
      expect(late.stdout).toMatch(/if it was not locked, put the row into a list of its own with another --journal"/)
      for (const wallet of wallets) expect(await lockedFor(wallet)).toHaveLength(1)
      const own = await svc([...list.slice(0, -1), '-k', ada.file])
      expect([own.exitCode, own.stderr]).toEqual([2, expect.stringContaining('was started with the')])
    },
  )
})

const lacks = lacksLock !== '' || !hasProgram(PROGRAMS.squads.id)
describe.skipIf(lacks)('A lock of a vault, of a mint with a transfer fee', () => {
  const by = () => ['--squads', world.multisig, '-k', ada.file]
  const carryOut = (id: string) => carryOutBy(cli, daemon, id, [ben])
  const done = async (args: readonly string[]) => {
    const { proposal } = await ok([...args, ...by()])
    await carryOut(proposal)
  }
  const statuses = ({ rows }: { rows: { status: string }[] }) => rows.map(({ status }) => status)
  const firstIds = ({ rows }: { rows: { proposals: string[] }[] }) => rows.map(({ proposals }) => proposals[0] ?? '')

  beforeAll(async () => {
    const members = ['--member', `${ada.address}:propose,${ben.address}`, '--threshold', '1']
    const { multisig, vault } = await ok(['multisig', 'create', ...members, '-k', ada.file])
    Object.assign(world, { multisig, vault })
    await ok(['localnet', 'airdrop', vault, '10'])
    await ok([
      'tokens',
      'transfer',
      world.mint,
      vault,
      '1000',
      '--allow-programs',
      '--accept-transfer-fee',
      '-k',
      ada.file,
    ])
  })

  it('is made, titled, given away and cancelled with --squads, and the vault claims a lock that it receives', async () => {
    await done(create(ben.address, '100'))
    const [{ address }] = await ok(['locks', 'list', '--creator', world.vault])
    await done(['locks', 'update', address, '--title', 'Vault'])
    await done(['locks', 'transfer', address, cy.address])
    expect(await ok(['locks', 'get', address])).toMatchObject({
      ...{ creator: world.vault, recipient: cy.address, title: 'Vault', amount: '100000000' },
    })
    await advance(1)
    await done(['locks', 'cancel', address])
    expect(await ok(['locks', 'list', '--creator', world.vault])).toEqual([])

    const own = await ok(create(world.vault, '8', '--allow-programs', '-k', ada.file))
    await advance(2)
    await done(['locks', 'claim', own.address])
    expect(await ok(['locks', 'get', own.address])).toMatchObject({ claimed: '4000000' })
  })

  itInSoak('is proposed once for each row of a list with --squads, and made once', async () => {
    const wallets = [ben.address, cy.address, cy.address]
    const file = cli.file('vault.csv', `wallet,amount,cliff\n${wallets.map((to, i) => `${to},${i + 1},1d\n`).join('')}`)
    const list = ['locks', 'create', world.mint, '--from', file, '--periods', '2', '--frequency', '1d', ...by()]
    expect(statuses(await ok([...list, '--dry-run']))).toEqual(['to propose', 'to propose', 'to propose'])
    const first = await ok(list)
    expect(statuses(first)).toEqual(['proposed', 'proposed', 'proposed'])
    const ids = firstIds(first)
    await carryOut(ids[0] ?? '')
    await ok(['proposals', 'reject', ids[1] ?? '', '-k', ben.file])
    const second = await ok(list)
    expect(statuses(second)).toEqual(['executed', 'proposed', 'waits'])
    for (const id of firstIds(second).slice(1)) await carryOut(id)
    expect(statuses(await ok(list))).toEqual(['executed', 'executed', 'executed'])
    const made: Record<string, string>[] = await ok(['locks', 'list', '--creator', world.vault])
    expect(made.map(({ recipient, amount }) => [recipient, amount]).toSorted()).toEqual(
      wallets.map((to, i) => [to, `${i + 1}000000`]).toSorted(),
    )
    // The schedules begin when the list was first proposed, so that a row is the same in every run.
    expect(new Set(made.map(({ starts_at }) => starts_at)).size).toBe(1)
  })
})
