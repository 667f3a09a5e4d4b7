/** `svc merkle` with locked amounts: built, stored, proven, verified and compared. */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { naiveLevels, naiveProof, naiveRoot, signersOf } from '../merkle/reference.ts'
import { commandLine, MINT } from './command-line.ts'

const cli = commandLine()
const { svc } = cli
const rows = signersOf(7).map(({ wallet }, n) => ({
  wallet,
  amount: BigInt(n || 9),
  locked: BigInt(n * n) * 500_000n,
}))
const file = cli.file(
  'vesting.csv',
  `wallet,amount,locked\n${rows.map(({ wallet, amount, locked }) => `${wallet},${amount},${locked}\n`).join('')}`,
)
const root = naiveRoot(rows)
const warned = async (warning: string, ...words: string[]) => {
  const { stdout, stderr, exitCode } = await svc([...words, '--json'])
  expect({ stderr, exitCode }).toEqual({ stderr: warning, exitCode: 0 })
  return JSON.parse(stdout)
}
const json = (...words: string[]) => warned('', ...words)

describe('svc merkle with locked amounts', () => {
  it('builds the naive root and writes a file that is read as the same list', async () => {
    const out = join(dirname(file), 'vesting.json')
    const built = await json('merkle', 'build', file, '--mint', MINT, '--out', out)
    expect(built).toMatchObject({ root, total: '45500030', total_locked: '45500000' })
    const written = JSON.parse(readFileSync(out, 'utf8'))
    expect(written.claims[2]).toEqual({
      index: 2,
      wallet: rows[2]!.wallet,
      amount: '2',
      amount_locked: '2000000',
      proof: naiveProof(naiveLevels(rows), 2),
    })
    expect((await json('merkle', 'build', out, '--mint', MINT)).list_sha256).toBe(built.list_sha256)
    expect((await svc(['merkle', 'diff', out, file, '--exit-code'])).exitCode).toBe(0)
    const shown = await svc(['merkle', 'build', file, '--mint', MINT, '--decimals', '6'])
    expect(shown.stdout).toMatch(/TOTAL LOCKED +45500000$/m)
  })

  it('proves a wallet with both amounts, and refuses the proof if one is changed', async () => {
    const { wallet, amount, locked } = rows[4]!
    const proof = await json('merkle', 'proof', file, '--mint', MINT, '--wallet', wallet)
    expect(proof).toMatchObject({ wallet, amount: '4', amount_locked: '8000000', root })
    expect((await svc(['merkle', 'verify', '--proof', '-'], { input: JSON.stringify(proof) })).exitCode).toBe(0)
    const flags = ['--wallet', wallet, '--siblings', proof.proof.join(','), '--root', root]
    const verify = (...more: string[]) => svc(['merkle', 'verify', ...flags, ...more])
    const yes = await verify('--amount', String(amount), '--amount-locked', String(locked))
    expect([yes.exitCode, yes.stdout]).toEqual([0, expect.stringContaining('may claim 4 and 8000000 locked')])
    expect((await verify('--amount', String(amount))).exitCode).toBe(1)
    expect((await verify('--amount', String(locked), '--amount-locked', String(amount))).exitCode).toBe(1)
    const wrong = await verify('--amount', '4', '--amount-locked', '8.0')
    expect([wrong.exitCode, wrong.stderr]).toEqual([2, expect.stringContaining('the locked amount must be raw units')])
  })

  it('stores the tree with its locked amounts, and reads back the same list', async () => {
    const warning =
      'warning: the token is wrapped SOL: each wallet gets wrapped SOL in a token account, which it must unwrap, not SOL\n'
    const stored = await warned(warning, 'merkle', 'build', file, '--mint', MINT, '--raw', '--persist')
    expect(stored).toMatchObject({ root, persisted: true, total_locked: '45500000' })
    const { id } = stored
    expect((await json('merkle', 'entries', id))[3]).toEqual({
      wallet: rows[3]!.wallet,
      amount: '3',
      amount_locked: '4500000',
    })
    expect((await svc(['merkle', 'verify', file, '--id', id])).exitCode).toBe(0)
    expect((await svc(['merkle', 'diff', id, file, '--exit-code'])).exitCode).toBe(0)
    const moved = cli.file('moved.csv', readFileSync(file, 'utf8').replace(',3,4500000', ',4,4499999'))
    const verified = await svc(['merkle', 'verify', moved, '--id', id])
    expect([verified.exitCode, verified.stdout]).toEqual([
      1,
      expect.stringContaining('has 4 + 4499999, in the stored list 3 + 4500000'),
    ])
    const diff = await svc(['merkle', 'diff', id, moved, '--json'])
    expect(JSON.parse(diff.stdout).changed).toEqual([
      { wallet: rows[3]!.wallet, before: '3', after: '4', before_locked: '4500000', after_locked: '4499999' },
    ])
  })

  it('says with which decimals a list with locked amounts has the root', async () => {
    const whole = cli.file(
      'whole.csv',
      `wallet,amount,locked\n${rows.map(({ wallet, locked }) => `${wallet},0,${locked / 500_000n}\n`).join('')}`,
    )
    const scaled = rows.map(({ wallet, locked }) => ({ wallet, amount: 0n, locked: (locked / 500_000n) * 10n ** 9n }))
    const { stdout, exitCode, stderr } = await svc(['merkle', 'verify', whole, '--root', naiveRoot(scaled)])
    expect([exitCode, `${stdout}${stderr}`]).toEqual([
      1,
      expect.stringContaining('When read with --decimals 9, it has that root'),
    ])
  })
})
