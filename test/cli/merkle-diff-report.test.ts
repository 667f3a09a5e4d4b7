/** What `svc merkle diff` writes for a review: every difference once, the largest first, and nothing that makes markup of its own. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareLists } from '../../commands/merkle/diff.ts'
import { differencesOf } from '../../commands/merkle/diff-report.ts'
import { listFromEntries } from '../../src/merkle/entry-list.ts'
import { walletOf } from '../merkle/reference.ts'
import { commandLine } from './command-line.ts'

const cli = commandLine()
const csvOf = (rows: readonly (readonly [wallet: string, amount: string, locked?: string])[]) =>
  `wallet,amount,locked\n${rows.map(([wallet, amount, locked = '0']) => `${wallet},${amount},${locked}\n`).join('')}`

async function diff(a: string, b: string, ...flags: string[]) {
  const [markdown, csv] = [join(cli.home, 'diff.md'), join(cli.home, 'diff.csv')]
  const { exitCode, stderr } = await cli.svc(['merkle', 'diff', a, b, ...flags, '--markdown', markdown, '--csv', csv])
  expect([exitCode, stderr]).toEqual([0, expect.any(String)])
  return { markdown: readFileSync(markdown, 'utf8'), csv: readFileSync(csv, 'utf8') }
}

describe('svc merkle diff', () => {
  it('--report puts the largest change first, in tokens, with locked amounts and both totals', async () => {
    const [a, b, c, d, e] = [0, 1, 2, 3, 4].map(walletOf) as [string, string, string, string, string]
    const before = cli.file(
      'before.csv',
      csvOf([
        [a, '1'],
        [b, '2', '10'],
        [c, '3'],
        [e, '7'],
      ]),
    )
    const after = cli.file(
      'after.csv',
      csvOf([
        [a, '1.5'],
        [b, '2', '4.25'],
        [d, '3.25'],
        [e, '7'],
      ]),
    )
    const { markdown, csv } = await diff(before, after, '--decimals', '6')
    expect(csv.split('\r\n')).toEqual([
      'difference,wallet,before,before_locked,after,after_locked,change',
      `changed,${b},2,10,2,4.25,-5.75`,
      `added,${d},,,3.25,0,3.25`,
      `removed,${c},3,0,,,-3`,
      `changed,${a},1,0,1.5,0,0.5`,
      '',
    ])
    expect(markdown).toContain('| Wallets | 4 | 4 | 0 |')
    expect(markdown).toContain('| Total, tokens | 23 | 18 | -5 |')
    expect(markdown).toContain('| of it locked | 10 | 4.25 | -5.75 |')
    expect(markdown).toContain('1 added, 1 removed, 2 changed, 1 unchanged.')
    expect(markdown).toContain(`| changed | \`${b}\` | 2 + 10 | 2 + 4.25 | -5.75 |`)
    expect(markdown.indexOf(b)).toBeLessThan(markdown.indexOf(d))
  })

  it('--report has at most 100 rows in Markdown, and all rows in CSV', async () => {
    const rows = Array.from({ length: 150 }, (_, i) => [walletOf(i), String(i + 1)] as const)
    const one = cli.file('one.csv', csvOf(rows.slice(0, 1)))
    const { markdown, csv } = await diff(one, cli.file('many.csv', csvOf(rows)))
    expect(markdown.match(/^\| added \|/gm)).toHaveLength(100)
    expect(markdown).toContain('… and 49 more')
    expect(markdown).toContain('Total, raw units')
    expect(csv.split('\r\n')).toHaveLength(151)
    const same = await diff(one, one)
    expect(same.markdown).toContain('0 added, 0 removed, 0 changed, 1 unchanged.')
    expect(same.markdown).not.toContain('Wallet |')
  })

  it('--report escapes the name of a list', async () => {
    const hostile = cli.file('@team|<img src=x>`www.example.com`[a](b).csv', csvOf([[walletOf(0), '1']]))
    const { markdown } = await diff(hostile, hostile)
    expect(markdown).not.toMatch(/@|<|\[|www\.|]\(/)
    expect(markdown.split('\n')[2]!.match(/\|/g)).toHaveLength(5)
  })

  it('writes no report over its answer, and none if a list cannot be read', async () => {
    const list = cli.file('list.csv', csvOf([[walletOf(0), '1']]))
    for (const flag of ['--markdown', '--csv']) {
      await cli.refused(['merkle', 'diff', list, list, flag, '-'], 'name files')
    }
    const [wrong, file] = [cli.file('wrong.csv', 'nobody,1\n'), join(cli.home, 'none.md')]
    expect((await cli.svc(['merkle', 'diff', list, wrong, '--markdown', file])).exitCode).toBe(2)
    expect(existsSync(file)).toBe(false)
  })

  it('lists every differing wallet once, and the changes add up to that of the totals', () => {
    const amount = fc.bigInt(0n, 2n ** 40n)
    const entries = fc.uniqueArray(fc.record({ n: fc.nat(40), amount, locked: amount }), {
      selector: ({ n }) => n,
      minLength: 1,
      maxLength: 30,
    })
    const listOf = (rows: { n: number; amount: bigint; locked: bigint }[]) =>
      listFromEntries(rows.map(({ n, ...parts }) => ({ wallet: walletOf(n), ...parts })))
    fc.assert(
      fc.property(entries, entries, (one, other) => {
        const found = differencesOf(compareLists(listOf(one), listOf(other)))
        const sum = (rows: typeof one) => rows.reduce((all, { amount, locked }) => all + amount + locked, 0n)
        expect(found.reduce((all, { change }) => all + change, 0n)).toBe(sum(other) - sum(one))
        expect(new Set(found.map(({ wallet }) => wallet)).size).toBe(found.length)
        const sizes = found.map(({ change }) => (change < 0n ? -change : change))
        expect(sizes).toEqual([...sizes].sort((a, b) => (a > b ? -1 : a < b ? 1 : 0)))
      }),
      { numRuns: 60 },
    )
  })
})
