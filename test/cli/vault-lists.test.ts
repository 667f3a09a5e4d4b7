/** `--from` with --squads: lists of NFTs and of launches, of which each row is a proposal of its own. */
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { base58 } from '@scure/base'
import { getAssociatedTokenAddressSync, TOKEN_2022_PROGRAM_ID } from '@solana/spl-token'
import { PublicKey } from '@solana/web3.js'
import { beforeAll, describe, expect, it } from 'vitest'
import type { LocalChain } from '../../src/localnet/types.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { png } from '../storage/images.ts'
import { hasProgram } from '../support/programs.ts'
import { itInSoak } from '../support/runs.ts'
import { commandLine } from './command-line.ts'
import { vaultOf } from './vault.ts'

const lacks = [PROGRAMS.squads, PROGRAMS.tokenMetadata, PROGRAMS.dbc, PROGRAMS.core].some(({ id }) => !hasProgram(id))
const cli = commandLine()
const vault = vaultOf(cli)
const { ada, ben, by, carryOut } = vault
const ok = (args: readonly string[]) => cli.json([...args])

describe.skipIf(lacks)('A list of a vault', () => {
  const statuses = ({ rows }: { rows: { status: string }[] }) => rows.map(({ status }) => status)
  const firstIds = ({ rows }: { rows: { proposals: string[] }[] }) => rows.map(({ proposals }) => proposals[0]!)

  let chain: LocalChain
  const ataOf = (owner: string, mint: string, program?: PublicKey) =>
    getAssociatedTokenAddressSync(new PublicKey(mint), new PublicKey(owner), true, program).toBase58()
  const accountOf = (owner: string, mint: string, program?: PublicKey) =>
    Buffer.from(chain.account(ataOf(owner, mint, program))!.data)

  beforeAll(async () => {
    await vault.open()
    chain = await (await vault.serve({ SVC_PLATFORM_WALLET: vault.address })).local()
  })

  it('of NFTs is proposed row by row, and each row is minted once', async () => {
    const uri = 'https://example.com/1.json'
    const made = await ok(['collections', 'create', '--name', 'Apes', '--uri', uri, ...by()])
    await carryOut(made.proposal)
    const list = cli.file('nfts.csv', `name,uri,owner\nOne,${uri},${ben.address}\nTwo,${uri},\nTwo,${uri},\n`)
    const mint = ['nfts', 'mint', '--collection', made.collection, '--from', list, ...by()]
    expect(statuses(await ok([...mint, '--dry-run']))).toEqual(['to propose', 'to propose', 'to propose'])
    expect(await ok(['proposals', 'list'])).toHaveLength(1)

    const first = await ok(mint)
    expect(statuses(first)).toEqual(['proposed', 'proposed', 'proposed'])
    const ids = firstIds(first)
    expect(new Set(ids).size).toBe(3)
    await carryOut(ids[0]!)
    await ok(['proposals', 'reject', ids[1]!, '-k', ben.file])
    const second = await ok(mint)
    expect(statuses(second)).toEqual(['executed', 'proposed', 'waits'])
    expect(firstIds(second)[2]).toBe(ids[2])
    for (const id of firstIds(second).slice(1)) await carryOut(id)
    expect(statuses(await ok(mint))).toEqual(['executed', 'executed', 'executed'])
    // The service sees the executions in its next rounds.
    const owners = async () => {
      const nfts: Record<string, string>[] = await ok(['nfts', 'list', '--collection', made.collection])
      return nfts.map(({ name, owner }) => `${name} ${owner}`).toSorted()
    }
    const [one, two] = [`One ${ben.address}`, `Two ${vault.address}`]
    await expect.poll(owners).toEqual([one, two, two])
  })

  it('of transfers is proposed batch by batch, and each wallet is paid once', async () => {
    const token = ['--name', 'Pay', '--symbol', 'PAY', '--uri', 'https://example.com/p.json', '--supply', '1000']
    const { mint } = await ok(['tokens', 'create', ...token, '-k', ada.file])
    const wallets = Array.from({ length: 12 }, () => base58.encode(randomBytes(32)))
    const written = (amountOf: (i: number) => number) =>
      cli.file('pay.csv', ['wallet,amount', ...wallets.map((wallet, i) => `${wallet},${amountOf(i)}`), ''].join('\n'))
    const list = written((i) => i + 1)
    const send = ['airdrops', 'send', list, '--mint', mint, '--decimals', '6', '--allow-programs', ...by()]
    await cli.refused(send, `${vault.address} holds 0 of`, 1)
    await ok(['wallet', 'send', vault.address, '100', '--mint', mint, '--allow-programs', '-k', ada.file])
    const known = (await ok(['proposals', 'list'])).length
    const dry = await cli.svc([...send, '--dry-run'])
    expect([dry.exitCode, dry.stderr]).toEqual([0, expect.stringContaining('78 with what waits, of 100 in the vault')])
    expect(await ok(['proposals', 'list'])).toHaveLength(known)

    const first = await ok(send)
    expect(statuses(first)).toEqual(['proposed', 'proposed'])
    const [one, two] = firstIds(first) as [string, string]
    await carryOut(one)
    await ok(['proposals', 'reject', two, '-k', ben.file])
    expect(statuses(await ok(send))).toEqual(['executed', 'proposed'])
    const [, again] = firstIds(await ok(send)) as [string, string]
    expect(again).not.toBe(two)
    expect(first.rows[0].name).toBe(`${wallets[0]} and 6 more`)

    written((i) => (i === 0 ? 5 : i + 1))
    await cli.refused(send, `${wallets[0]} was sent 1000000 raw units by the proposal ${one}`)
    written((i) => (i === 11 ? 5 : i + 1))
    await cli.refused(send, `${wallets[11]} is to be sent 12000000 raw units by the proposal ${again}`)
    written((i) => i + 1)
    await cli.refused([...send, '--journal', join(cli.home, 'other.json')], 'was sent before, by the journal')
    const own = send.slice(0, -by().length)
    await cli.refused([...own, '-k', ada.file], 'was sent before, by the journal')

    await carryOut(again)
    const out = join(cli.home, 'paid.csv')
    expect(statuses(await ok([...send, '--out', out]))).toEqual(['executed', 'executed'])
    const lines = readFileSync(out, 'utf8').trim().split('\n').slice(1)
    expect(lines).toHaveLength(12)
    for (const line of lines) expect(line).toMatch(/^\w+,\d{1,2},sent already,\w{64,}/)
    for (const [i, owner] of wallets.entries())
      expect(accountOf(owner, mint).readBigUInt64LE(64)).toBe(BigInt(i + 1) * 1_000_000n)

    // A stored list is pushed in the same way; a wallet that cannot receive is named.
    const stored = cli.file('push.csv', `${ben.address},3\n${vault.multisig},4\n`)
    const built = await ok(['merkle', 'build', stored, '--mint', mint, '--decimals', '6', '--persist'])
    const { id } = Array.isArray(built) ? built[0] : built
    const push = ['airdrops', 'push', id, '--list', stored, '--decimals', '6', ...by()]
    const pushed = await cli.svc([...push, '--json'])
    expect([pushed.exitCode, pushed.stderr]).toEqual([1, expect.stringContaining(vault.multisig)])
    expect(statuses(JSON.parse(pushed.stdout))).toEqual(['proposed'])
  })

  itInSoak('of pauses has a journal of its own, and proposes again what was undone since', async () => {
    const token = ['--name', 'Stop', '--symbol', 'STOP', '--uri', 'https://example.com/s.json', '--supply', '1']
    const pausable = ['--token-program', 'token2022', '--pausable', '-k', ada.file]
    const { mint } = await ok(['tokens', 'create', ...token, ...pausable])
    await ok(['tokens', 'set-authority', mint, 'pause', vault.address, '--allow-programs', '-k', ada.file])
    const list = cli.file('mints.csv', `mint\n${mint}\n`)
    const act = async (verb: string) => ok(['tokens', verb, '--from', list, ...by()])
    for (const verb of ['pause', 'resume', 'pause']) {
      const proposed = await act(verb)
      expect([verb, statuses(proposed)]).toEqual([verb, ['proposed']])
      expect([verb, statuses(await act(verb))]).toEqual([verb, ['waits']])
      await carryOut(firstIds(proposed)[0]!)
      expect([verb, statuses(await act(verb))]).toEqual([verb, ['executed']])
    }
  })

  itInSoak(
    'of a token that is minted, frozen, thawed and burned is proposed batch by batch, and done once',
    async () => {
      const token = ['--name', 'Grant', '--symbol', 'GRT', '--uri', 'https://example.com/g.json', '--supply', '0']
      const extensions = [
        '--token-program',
        'token2022',
        '--permanent-delegate',
        vault.address,
        '--keep-freeze-authority',
      ]
      const { mint } = await ok(['tokens', 'create', ...token, ...extensions, '-k', ada.file])
      for (const type of ['mint', 'freeze'])
        await ok(['tokens', 'set-authority', mint, type, vault.address, '--allow-programs', '-k', ada.file])
      const wallets = Array.from({ length: 26 }, () => base58.encode(randomBytes(32)))
      const written = (lines: readonly string[]) => cli.file('grants.csv', ['wallet,amount', ...lines, ''].join('\n'))
      const grants = wallets.map((wallet, i) => `${wallet},${i + 1}`)
      const list = written(grants)
      const act = (verb: string) => ['tokens', verb, mint, '--from', list, '--allow-programs', ...by()]
      const withoutPrograms = (verb: string) => act(verb).filter((word) => word !== '--allow-programs')
      const stateOf = (owner: string) => {
        const data = accountOf(owner, mint, TOKEN_2022_PROGRAM_ID)
        return [data.readBigUInt64LE(64), data[108]]
      }

      const dry = await cli.svc([...act('mint'), '--dry-run'])
      expect([dry.exitCode, dry.stderr]).toEqual([0, expect.stringMatching(/supply +0 → 351\n/)])
      const first = await ok(act('mint'))
      expect(statuses(first)).toEqual(['proposed', 'proposed', 'proposed'])
      const [one, two, three] = firstIds(first) as [string, string, string]
      await carryOut(one)
      await carryOut(three)
      await ok(['proposals', 'reject', two, '-k', ben.file])
      written(grants.with(0, `${wallets[0]},5`))
      await cli.refused(act('mint'), `${wallets[0]} had 1000000 raw units minted by the proposal ${one}`)
      written(grants)
      await cli.refused([...act('mint'), '--journal', join(cli.home, 'o.json')], 'was minted before, by the journal')
      const { mint: other } = await ok(['tokens', 'create', ...token, '-k', ada.file])
      await cli.refused(act('mint').with(2, other), `was started with the token ${mint}, not ${other}`)
      const second = await ok(act('mint'))
      expect(statuses(second)).toEqual(['executed', 'executed', 'proposed'])
      await carryOut(firstIds(second)[2]!)
      expect(statuses(await ok(act('mint')))).toEqual(['executed', 'executed', 'executed'])
      for (const [i, wallet] of wallets.entries()) expect(stateOf(wallet)).toEqual([BigInt(i + 1) * 1_000_000n, 1])

      for (const [verb, state] of [
        ['freeze', 2],
        ['thaw', 1],
      ] as const) {
        const proposed = await ok(withoutPrograms(verb))
        // One transaction freezes more wallets than another one can execute for a multisig.
        expect(proposed.rows.map(({ name }: { name: string }) => name.slice(-11))).toEqual([
          'and 12 more',
          'and 12 more',
        ])
        expect([verb, statuses(await ok(withoutPrograms(verb)))]).toEqual([verb, ['waits', 'waits']])
        for (const id of firstIds(proposed)) await carryOut(id)
        expect([verb, statuses(await ok(withoutPrograms(verb)))]).toEqual([verb, ['executed', 'executed']])
        for (const wallet of wallets) expect([verb, stateOf(wallet)[1]]).toEqual([verb, state])
        if (verb === 'thaw') continue
        // What was undone since is proposed again, alone.
        await carryOut((await ok(['tokens', 'thaw', mint, wallets[0]!, ...by()])).proposal)
        const anew = (await ok(withoutPrograms(verb))).rows.filter(
          ({ status }: { status: string }) => status === 'proposed',
        )
        expect(anew.map(({ name }: { name: string }) => name)).toEqual([wallets[0]])
        await carryOut(anew[0].proposals[0])
        expect(stateOf(wallets[0]!)[1]).toBe(2)
        // A wallet may be taken off a list that is done.
        written(grants.slice(1))
        expect(statuses(await ok(withoutPrograms(verb)))).not.toContain('proposed')
        written(grants)
      }

      const burned = await ok(withoutPrograms('burn'))
      for (const id of firstIds(burned)) await carryOut(id)
      for (const wallet of wallets) expect(stateOf(wallet)).toEqual([0n, 1])
      expect((await ok(['tokens', 'get', mint])).raw.supply).toBe('0')
    },
  )

  itInSoak(
    'of mints is divided so that it can be executed, although strangers sent SOL to missing token accounts',
    async () => {
      const texts = ['--name', 'Gift', '--symbol', 'GFT', '--uri', 'https://example.com/g.json', '--supply', '0']
      const { mint } = await ok(['tokens', 'create', ...texts, '-k', ada.file])
      await ok(['tokens', 'set-authority', mint, 'mint', vault.address, '--allow-programs', '-k', ada.file])
      const wallets = Array.from({ length: 10 }, () => base58.encode(randomBytes(32)))
      for (const owner of wallets) chain.airdrop(ataOf(owner, mint), 900_000n)
      const list = cli.file('gifts.csv', `${wallets.map((wallet) => `${wallet},1`).join('\n')}\n`)
      const give = ['tokens', 'mint', mint, '--from', list, '--allow-programs', ...by()]
      const proposed = await ok(give)
      expect(proposed.rows.length).toBeGreaterThan(1)
      for (const id of firstIds(proposed)) await carryOut(id)
      expect((await ok(['tokens', 'get', mint])).raw.supply).toBe('10000000')
    },
  )

  it('that lacks a row which waits is refused, so that nothing is proposed beside it', async () => {
    const journal = `${join(cli.home, 'nfts.csv')}.proposals.json`
    expect(readFileSync(journal, 'utf8')).toContain('svc-list-proposals')
    writeFileSync(join(cli.home, 'token.png'), png())
    const rows = ['name,symbol,image,buy', 'One,ONE,token.png,', 'Two,TWO,token.png,0.5']
    const list = cli.file('launches.csv', `${rows.join('\n')}\n`)
    const launch = ['pools', 'create', '--from', list, ...by()]
    const proposed = await ok(launch)
    expect(statuses(proposed)).toEqual(['proposed', 'proposed'])
    cli.file('launches.csv', `${rows.slice(0, 2).join('\n')}\n`)
    await cli.refused(launch, 'the list has no such row')
    cli.file('launches.csv', `${rows.join('\n')}\n`)
    for (const { proposals } of proposed.rows) for (const id of proposals) await carryOut(id)
    expect(statuses(await ok(launch))).toEqual(['executed', 'executed'])
    const pools = await ok(['pools', 'list'])
    expect(pools.map(({ symbol, creator }: Record<string, string>) => [symbol, creator]).toSorted()).toEqual([
      ['ONE', vault.address],
      ['TWO', vault.address],
    ])
  })
})
