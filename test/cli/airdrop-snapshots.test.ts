/** `svc airdrops snapshot`: lists from holders with their reports, by every rule, and every mistake named. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { base58 } from '@scure/base'
import { beforeAll, describe, expect, it } from 'vitest'
import { openLocalChain } from '../../src/localnet/index.ts'
import { addressOf } from '../../src/solana/addresses.ts'
import { DAMM_V2_POOL_AUTHORITY, PROGRAMS } from '../../src/solana/programs.ts'
import { keyOf, namedOwners, putAssets, putHolders, putOwned } from '../support/holders.ts'
import { commandLine } from './command-line.ts'

const cli = commandLine()
const [mint, collection, state] = [keyOf('held'), keyOf('collected'), keyOf('a program’s state')]
const WALLETS = namedOwners('list wallet', 4).sort((one, other) => Buffer.compare(one, other)) as [
  ...[Uint8Array, Uint8Array, Uint8Array, Uint8Array],
]
const [A, B, C, D] = WALLETS.map(addressOf) as [string, string, string, string]
const [PDA, ESCROW] = namedOwners('list vault', 2, false) as [Uint8Array, Uint8Array]

beforeAll(async () => {
  const chain = await openLocalChain({ dataDir: cli.dataDir, programsDir: '/nonexistent' })
  putOwned(chain, ESCROW, PROGRAMS.lock.id)
  putOwned(chain, base58.decode(state), keyOf('a program'))
  const amounts = [100_000_000n, 50_000_000n, 1_500_000n, 10n]
  await putHolders(chain, {
    mint,
    holders: [
      ...WALLETS.map((owner, n) => ({ owner, amount: amounts[n]!, frozen: n === 1 })),
      { owner: base58.decode(DAMM_V2_POOL_AUTHORITY), amount: 7_000_000n },
      { owner: ESCROW, amount: 5_000_000n },
      { owner: PDA, amount: 3_000_000n },
    ],
  })
  await putAssets(chain, { collection, owners: [WALLETS[0], WALLETS[0], WALLETS[2], PDA] })
  chain.close()
})

const read = (name: string) => readFileSync(join(cli.home, name), 'utf8')
async function listed(name: string, args: string[], of = mint) {
  const { exitCode, stdout, stderr } = await cli.svc(['airdrops', 'snapshot', of, ...args, '--out', name, '--json'])
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  return { data: JSON.parse(stdout), csv: read(name) }
}
async function refused(args: string[], of = mint) {
  const { exitCode, stderr, stdout } = await cli.svc(['airdrops', 'snapshot', of, '--out', 'never.csv', ...args])
  expect(stdout).toBe('')
  return `${exitCode} ${stderr}`
}

describe('svc airdrops snapshot', () => {
  it('divides a total among wallets, and tells who was left out and why', async () => {
    const { data, csv } = await listed('pro-rata.csv', ['--total', '1000', '--decimals', '9', '--min', '1.5'])
    expect(csv).toBe(`wallet,amount\n${A},660066006601\n${B},330033003300\n${C},9900990099\n`)
    expect(data).toMatchObject({
      ...{ file: 'pro-rata.csv', report: 'pro-rata.report.json', frozen_recipients: 1 },
      list: { recipients: 3, total: '1000000000000' },
      left_out: {
        count: 4,
        by_reason: [
          { why: 'below_min', count: 1, balance: '10' },
          { why: 'damm_v2_vault', count: 1, balance: '7000000' },
          { why: 'lock_escrow', count: 1, balance: '5000000' },
          { why: 'pda', count: 1, balance: '3000000' },
        ],
      },
    })
    const report = JSON.parse(read('pro-rata.report.json'))
    expect(report.snapshot).toMatchObject({ mint, supply: '166500010', slot: expect.any(Number), decimals: 6 })
    expect(report.rule).toEqual({ total: '1000', decimals: 9, min: '1.5' })
    expect(report.holders_left_out).toEqual([
      {
        wallet: DAMM_V2_POOL_AUTHORITY,
        balance: '7000000',
        kind: 'damm_v2_vault',
        program: null,
        frozen: false,
        why: 'kind',
      },
      {
        wallet: addressOf(ESCROW),
        balance: '5000000',
        kind: 'lock_escrow',
        program: PROGRAMS.lock.id,
        frozen: false,
        why: 'kind',
      },
      { wallet: addressOf(PDA), balance: '3000000', kind: 'pda', program: null, frozen: false, why: 'kind' },
      { wallet: D, balance: '10', kind: 'wallet', program: null, frozen: false, why: 'below_min' },
    ])
    const markdown = read('pro-rata.report.md')
    expect(markdown).toContain('## Left out: 4, who hold 15.00001')
    expect(markdown).toContain(`| \`${addressOf(ESCROW)}\` | 5 | escrow of a lock | \`${PROGRAMS.lock.id}\` |`)
    expect(markdown).toContain(`| SHA-256 of the list | \`${report.list.sha256}\` |`)
  })

  it('makes another list of the same holders from a stored snapshot', async () => {
    const { data } = await listed('first.csv', ['--total', '90', '--raw'])
    const { id, slot } = data.snapshot
    const tiers = cli.file('tiers.csv', 'from,to,amount\n1,100,2.5\n100,,10\n')
    const again = await listed('second.csv', ['--tiers', tiers, '--decimals', '6'], id)
    expect(again.csv).toBe(`wallet,amount\n${A},10000000\n${B},2500000\n${C},2500000\n`)
    expect(again.data.snapshot).toMatchObject({ id, slot })
    const formula = cli.file('formula.txt', '# twice the balance, at most 150\nmin(balance * 2, 150)\n')
    const third = await listed('third.csv', ['--formula', formula, '--decimals', '0'], id)
    expect(third.csv).toBe(`wallet,amount\n${A},150\n${B},100\n${C},3\n`)
    const weights = cli.file('weights.txt', 'sqrt(balance)')
    const fourth = await listed('fourth.csv', ['--total', '10', '--formula', weights, '--raw'], id)
    expect(fourth.data.list.total).toBe('10')
  })

  it('excludes named owners, and includes a named one that is not a wallet', async () => {
    const exclude = cli.file('team.csv', `wallet,who\n${A},us\n${keyOf('nobody')},gone\n`)
    const include = cli.file('multisigs.txt', `${addressOf(PDA)} # treasury\n`)
    const { data, csv } = await listed('named.csv', [
      '--equal',
      '5',
      '--raw',
      '--exclude',
      exclude,
      '--include',
      include,
      '--min',
      '100',
    ])
    const expected = [B, C, addressOf(PDA)].sort((one, other) =>
      Buffer.compare(base58.decode(one), base58.decode(other)),
    )
    expect(csv).toBe(`wallet,amount\n${expected.map((wallet) => `${wallet},5\n`).join('')}`)
    expect(data.without_balance).toEqual({ exclude: 1, include: 0 })
  })

  it('counts the assets of a collection', async () => {
    const { csv, data } = await listed(
      'assets.csv',
      ['--formula', cli.file('per-asset.txt', 'balance * 3'), '--raw'],
      collection,
    )
    expect(csv).toBe(`wallet,amount\n${A},6\n${C},3\n`)
    expect(data.snapshot).toMatchObject({ collection, supply: '4', mint: null })
  })

  it('writes the same bytes each time, from which svc merkle builds a tree', async () => {
    const [one, two] = [
      await listed('one.csv', ['--total', '1001', '--raw']),
      await listed('two.csv', ['--total', '1001', '--raw']),
    ]
    expect(two.csv).toBe(one.csv)
    expect(two.data.list).toEqual(one.data.list)
    const built = await cli.svc(['merkle', 'build', 'one.csv', '--mint', mint, '--json'])
    expect(JSON.parse(built.stdout)).toMatchObject({ total: '1001', leaf_count: one.data.list.recipients })
  })

  it('shows a summary, and replaces a file only with --replace', async () => {
    const args = ['airdrops', 'snapshot', mint, '--equal', '1', '--raw', '--out', 'kept.csv']
    const shown = await cli.svc(args)
    expect(shown.stdout).toMatch(
      /HOLDERS\s+7\nRECIPIENTS\s+4 wallets, 1 raw units each, 4 raw units in all\nLEFT OUT\s+3, who hold 15\n/,
    )
    expect((await cli.svc(args)).stderr).toMatch(/kept.csv already exists .*\n.*--replace/)
    expect((await cli.svc([...args, '--replace'])).exitCode).toBe(0)
  })

  it('refuses contradicting flags before anything is read', async () => {
    const bad = cli.file('bad.txt', 'balance +\n')
    const badList = cli.file('bad.csv', `${A}\nnobody\n`)
    expect(await refused(['--equal', '1'])).toMatch(/^2 .*whole tokens or raw units.*\n.*--decimals N.*--raw/)
    const raw = (args: string[], of = mint) => refused([...args, '--raw'], of)
    expect(await raw(['--equal', '1', '--decimals', '6'])).toMatch(/^2 .*--decimals cannot be used with --raw/)
    expect(await refused([])).toMatch(/^2 .*missing --total or --equal or --tiers or --formula/)
    expect(await refused(['--total', '1', '--equal', '1'])).toMatch(/^2 .*--total cannot be used with --equal/)
    expect(await raw(['--total', '1.5'])).toMatch(/^2 .*--total: 1.5 must be a whole number of raw units\n.*--decimals/)
    expect(await raw(['--total', '0'])).toMatch(/^2 .*--total must be above 0/)
    expect(await raw(['--equal', '-1'])).toMatch(/^2 /)
    expect(await raw(['--formula', bad])).toMatch(
      /bad.txt:1:10: the end of the line is not expected here: a number or a name is/,
    )
    expect(await raw(['--equal', '1', '--exclude', badList])).toMatch(/bad.csv:2:1: /)
    expect(await raw(['--equal', '1', '--exclude', 'missing.txt'])).toMatch(
      /missing.txt cannot be read: there is no such file/,
    )
    expect(await raw(['--equal', '1', '--exclude', cli.file('latin.txt', Uint8Array.of(0xff, 0xfe))])).toMatch(
      /is not a text in UTF-8/,
    )
    expect(await refused(['--equal', '1', '--out', '-'])).toMatch(/^2 .*--out must name a file/)
    expect(await raw(['--equal', '1'], state)).toMatch(/^2 .*is neither a mint nor a collection .* of the program/)
    expect(await raw(['--equal', '1'], keyOf('nothing'))).toMatch(/^3 .*there is no account at/)
    expect(await raw(['--equal', '1'], `hsn_${'0'.repeat(24)}`)).toMatch(/^3 /)
    expect(await raw(['--equal', '1', '--min', '99999999999'])).toMatch(/^2 .*no holder is left/)
    const division = cli.file('division.txt', '1 / (balance - 10)')
    expect(await raw(['--formula', division])).toMatch(new RegExp(`division.txt:1:3: division by zero \\(for ${D}\\)`))
  })
})
