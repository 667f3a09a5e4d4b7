/** `svc merkle` on real files: roots of a naive implementation, faults by line and column, proofs, comparisons, storing. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { PublicKey } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { naiveLevels, naiveProof, naiveRoot, type Recipient, recipientsOf, walletOf } from '../merkle/reference.ts'
import { runs } from '../support/runs.ts'
import { commandLine, MINT } from './command-line.ts'

const cli = commandLine()
const { svc, spawned } = cli
const csvOf = (recipients: readonly Recipient[]) =>
  recipients.map(({ wallet, amount }) => `${wallet},${amount}\n`).join('')
const five = recipientsOf(20)
  .filter(({ wallet }) => PublicKey.isOnCurve(wallet))
  .slice(1, 6)
const fiveFile = cli.file('five.csv', csvOf(five))

describe('svc merkle build', () => {
  it('reads amounts from a column of another name only if a flag says so, and says from which', async () => {
    const list = cli.file('rank.csv', 'wallet,rank\n9B5XszUGdMaxCZ7uSQhPzdks5ZQSmWxrmzCSvtJ6Ns6g,1\n')
    const build = (...flags: string[]) =>
      cli.svc(['merkle', 'build', list, '--mint', MINT, '-o', 'plain', '--columns', 'leaf_count', ...flags])
    expect((await build('--quiet')).exitCode).toBe(2)
    const { stdout, stderr } = await build('--amount-column', 'rank')
    expect([stdout, stderr]).toEqual(['leaf_count\t1\n', expect.stringContaining('the amount from "rank"')])
  })

  it('prints the record of the tree without network or database', async () => {
    const { exitCode, stdout, stderr } = await svc([
      ...['merkle', 'build', fiveFile, '--mint', MINT, '--airdrop-count', '7', '--json'],
    ])
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    const root = naiveRoot(five)
    expect(JSON.parse(stdout)).toMatchObject({
      mint: MINT,
      airdrop_count: 7,
      root,
      root_hex: `0x${root}`,
      leaf_count: 5,
      total: String(five.reduce((sum, { amount }) => sum + amount, 0n)),
      persisted: false,
    })
    expect(existsSync(cli.dataDir)).toBe(false)
  })

  it('says least, median, most and total, in raw units unless --decimals is given', async () => {
    const amounts = [1_000, 250, 4_000_000]
    const list = cli.file('spread.csv', amounts.map((amount, i) => `${five[i]!.wallet},${amount}\n`).join(''))
    const raw = await svc(['merkle', 'build', list, '--mint', MINT])
    expect(raw.stderr).toBe('3 wallets, 250–4,000,000 raw units (median 1,000), 4,001,250 raw units in all\n')
    expect(raw.stdout).toMatch(/^TOTAL +4001250 raw units$/m)
    const whole = await svc(['merkle', 'build', list, '--mint', MINT, '--decimals', '6'])
    expect(whole.stderr).toBe('3 wallets, 250–4,000,000 tokens (median 1,000), 4,001,250 tokens in all\n')
  })

  it('warns of wallets that nobody can sign for, on stderr and in its answer', async () => {
    const atas = join(import.meta.dirname, '../merkle/cases/atas-of-mint.csv')
    const { exitCode, stdout, stderr } = await svc(['merkle', 'build', atas, '--mint', MINT, '--json'])
    expect(exitCode).toBe(0)
    const [warning] = JSON.parse(stdout).warnings
    expect(warning).toMatch(/^3 of 3 addresses are not wallets, .*entries\.0 CKzgczFE.* \(off_curve\)/)
    expect(stderr).toBe(`warning: ${warning}\n`)
    const mixed = join(import.meta.dirname, '../merkle/cases/incl-mint.csv')
    const { warnings } = JSON.parse((await svc(['merkle', 'build', mixed, '--mint', MINT, '--json'])).stdout)
    expect(warnings[0]).toMatch(/^3 of 5 addresses .*1nc1nerator\w+ \(program_owned\)/)
  })

  it('reads a named pipe once, to its end', async () => {
    const pipe = join(dirname(fiveFile), 'five.pipe')
    execFileSync('mkfifo', [pipe])
    const [{ exitCode, stdout }] = await Promise.all([
      spawned(['merkle', 'build', pipe, '--mint', MINT, '--json']),
      writeFile(pipe, csvOf(five)),
    ])
    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout).root).toBe(naiveRoot(five))
  })

  it('names up to a hundred faults by file, line and column, and exits 2', async () => {
    const rows = [
      'wallet,amount',
      `${walletOf(1)},5`,
      `${walletOf(2)},-5`,
      `${walletOf(1)},5`,
      ...Array.from({ length: 120 }, () => 'nonsense,x'),
    ]
    const file = cli.file('bad.csv', rows.join('\n'))
    const { exitCode, stdout, stderr } = await svc(['merkle', 'build', file, '--mint', MINT])
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    const lines = stderr.trimEnd().split('\n')
    expect(lines).toHaveLength(101)
    expect(lines[0]).toMatch(new RegExp(`^${file}:3:${walletOf(2).length + 2}: .*sign`))
    for (const line of lines.slice(0, 100)) expect(line.startsWith(`${file}:`)).toBe(true)
    expect(lines[100]).toMatch(/^… and \d+ more$/)
    const json = await svc(['merkle', 'build', file, '--mint', MINT, '--json'])
    const { error } = JSON.parse(json.stderr)
    expect(error).toMatchObject({ code: 'bad_request', message: lines[0] })
    expect(error.details.issues).toHaveLength(100)
    expect(error.details.issue_count).toBe(100 + Number(/\d+/.exec(lines[100]!)![0]))
  })

  it('names a repeated wallet, and adds its amounts with --duplicates sum', async () => {
    const file = cli.file('twice.csv', `${walletOf(1)},1.5\n${walletOf(2)},2\n${walletOf(1)},1\n`)
    await cli.refused(['merkle', 'build', file, '--mint', MINT, '--decimals', '6'], `${file}:3:1: `)
    const summed = await svc([
      ...['merkle', 'build', file, '--mint', MINT, '--decimals', '6', '--duplicates', 'sum', '--json'],
    ])
    expect(summed.stderr).toContain('1 row of a wallet that has an earlier row')
    const recipients = [1, 2].map((n) => ({ wallet: walletOf(n), amount: n === 1 ? 2_500_000n : 2_000_000n }))
    expect(JSON.parse(summed.stdout).root).toBe(naiveRoot(recipients))
  })

  it('--out writes the whole tree with every proof', async () => {
    const out = join(cli.home, 'five.json')
    await svc(['merkle', 'build', fiveFile, '--mint', MINT, '--out', out])
    const tree = JSON.parse(readFileSync(out, 'utf8'))
    const levels = naiveLevels(five)
    expect(tree).toMatchObject({ format: 'svc-merkle-tree/1', mint: MINT, root: naiveRoot(five), leaf_count: 5 })
    expect(tree.claims).toEqual(
      five.map(({ wallet, amount }, index) => ({
        index,
        wallet,
        amount: String(amount),
        proof: naiveProof(levels, index),
      })),
    )
    await cli.refused(
      ['merkle', 'build', fiveFile, '--mint', MINT, '--out', join(cli.home, 'no', 'where.json')],
      'where.json cannot be written',
      1,
    )
  })

  it.each([
    [['nowhere.csv', '--mint', MINT], 'nowhere.csv cannot be read: there is no such file'],
    [['.', '--mint', MINT], '. cannot be read: it is a folder'],
    [[fiveFile], 'missing --mint'],
    [[fiveFile, '--mint', 'abc'], '--mint: '],
    [[fiveFile, '--mint', MINT, '--decimals', '19'], '--decimals must be a whole number from 0 to 18'],
    [[fiveFile, '--mint', MINT, '--airdrop-count', '65536'], '--airdrop-count must be a whole number from 0 to 65535'],
    [[fiveFile, '--mint', MINT, '--replace'], '--replace needs --persist'],
  ])('refuses %j', async (args, message) => {
    await cli.refused(['merkle', 'build', ...args], message)
  })
})

describe('svc merkle verify and proof', () => {
  it('say yes with 0 and no with 1 for a list', async () => {
    const yes = await svc(['merkle', 'verify', fiveFile, '--root', `0x${naiveRoot(five)}`])
    expect(yes).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^Yes/) })
    const no = await svc(['merkle', 'verify', fiveFile, '--root', '0'.repeat(64), '--json'])
    expect(no.exitCode).toBe(1)
    expect(JSON.parse(no.stdout)).toEqual({
      valid: false,
      root: naiveRoot(five),
      expected: '0'.repeat(64),
      leaf_count: 5,
      list_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      reading: null,
    })
  })

  it('say no to a long list, and say if it has that root in raw units', { tags: 'sampled' }, async () => {
    // From 2,000 rows on only one other reading is tried.
    const rows = Array.from({ length: runs(2_500, 30_000) }, (_, i) => `${walletOf(i)},${i + 1}\n`)
    const file = cli.file('long.csv', rows.join(''))
    const { root } = JSON.parse((await svc(['merkle', 'build', file, '--mint', MINT, '--json'])).stdout)
    const verified = async (...args: string[]) => svc(['merkle', 'verify', file, ...args])
    expect((await verified('--root', root)).exitCode).toBe(0)
    expect((await verified('--root', '0'.repeat(64))).exitCode).toBe(1)
    const scaled = await verified('--root', root, '--decimals', '6')
    expect(scaled.exitCode).toBe(1)
    expect(scaled.stderr).toContain('When read without --decimals, it has that root')
  })

  it('prove a wallet, and verify that proof alone', async () => {
    const { wallet, amount } = five[4]!
    const proven = await svc(['merkle', 'proof', fiveFile, '--mint', MINT, '--wallet', wallet, '--json'])
    const proof = {
      wallet,
      mint: MINT,
      amount: String(amount),
      amount_locked: '0',
      root: naiveRoot(five),
      proof: naiveProof(naiveLevels(five), 4),
    }
    expect(JSON.parse(proven.stdout)).toEqual(proof)
    expect((await svc(['merkle', 'verify', '--proof', '-'], { input: proven.stdout })).exitCode).toBe(0)
    const flags = ['--wallet', wallet, '--siblings', proof.proof.join(','), '--root', proof.root]
    expect((await svc(['merkle', 'verify', ...flags, '--amount', proof.amount])).exitCode).toBe(0)
    expect((await svc(['merkle', 'verify', ...flags, '--amount', '1'])).exitCode).toBe(1)
    const other = cli.file('proof.json', JSON.stringify({ data: { ...proof, root: '1'.repeat(64) } }))
    expect((await svc(['merkle', 'verify', '--proof', other])).exitCode).toBe(1)
    expect((await svc(['merkle', 'verify', '--proof', other, '--root', proof.root])).exitCode).toBe(0)
  })

  it('exit 3 for a wallet that is not in the list', async () => {
    await cli.refused(
      ['merkle', 'proof', fiveFile, '--mint', MINT, '--wallet', walletOf(99)],
      'is not among the 5 wallets',
      3,
    )
  })
})

describe('svc merkle diff', () => {
  const [a, b, c, d] = [1, 2, 3, 4].map(walletOf) as [string, string, string, string]
  const before = cli.file('before.csv', `${a},1\n${b},2\n${c},3\n`)
  const after = cli.file('after.csv', `${a},1\n${c},5\n${d},4\n`)
  const expected = {
    same: false,
    added: [{ wallet: d, amount: '4' }],
    removed: [{ wallet: b, amount: '2' }],
    changed: [{ wallet: c, before: '3', after: '5' }],
    unchanged: 1,
    reordered: false,
  }

  it('names wallets added, removed and changed', async () => {
    const json = await svc(['merkle', 'diff', before, after, '--json'])
    expect(json.exitCode).toBe(0)
    expect(JSON.parse(json.stdout)).toMatchObject(expected)
    const plain = await svc(['merkle', 'diff', before, after, '-o', 'plain', '--exit-code'])
    expect(plain.exitCode).toBe(1)
    expect(plain.stdout).toBe(`+\t${d}\t\t4\n-\t${b}\t2\t\n~\t${c}\t3\t5\n`)
    expect(plain.stderr).toContain('1 added, 1 removed, 1 changed, 1 unchanged; total 6 → 10')
  })

  it('exits 0 with --exit-code for the same list, and 1 for another order of it', async () => {
    expect((await svc(['merkle', 'diff', before, before, '--exit-code'])).exitCode).toBe(0)
    const turned = cli.file('turned.csv', `${c},3\n${b},2\n${a},1\n`)
    const { exitCode, stderr } = await svc(['merkle', 'diff', before, turned, '--exit-code'])
    expect(exitCode).toBe(1)
    expect(stderr).toContain('another order')
  })

  it('reads the file that build --out wrote', async () => {
    const out = join(cli.home, 'before.json')
    await svc(['merkle', 'build', before, '--mint', MINT, '--out', out])
    expect(JSON.parse((await svc(['merkle', 'diff', out, after, '--json'])).stdout)).toMatchObject(expected)
  })

  it('compares with a stored tree on either side', async () => {
    const { id } = JSON.parse(
      (await svc(['merkle', 'build', before, '--mint', MINT, '--airdrop-count', '40', '--raw', '--persist', '--json']))
        .stdout,
    )
    const later = JSON.parse((await svc(['merkle', 'diff', id, after, '--json'])).stdout)
    expect(later).toMatchObject(expected)
    const earlier = JSON.parse((await svc(['merkle', 'diff', after, id, '--json'])).stdout)
    expect(earlier).toMatchObject({
      added: expected.removed,
      removed: expected.added,
      changed: [{ wallet: c, before: '5', after: '3' }],
      unchanged: 1,
    })
    expect((await svc(['merkle', 'diff', id, before, '--exit-code'])).exitCode).toBe(0)
    expect(JSON.parse((await svc(['merkle', 'diff', id, id, '--json'])).stdout)).toMatchObject({ same: true })
  })
})

describe('svc merkle with --persist', () => {
  it('stores the tree, lists it, and serves its proofs', async () => {
    const built = await svc(['merkle', 'build', fiveFile, '--mint', MINT, '--raw', '--persist', '--json'])
    expect(built.exitCode, built.stderr).toBe(0)
    const { columns, ignored_columns, comment_rows, paid_rows, ...tree } = JSON.parse(built.stdout)
    expect(tree).toMatchObject({ root: naiveRoot(five), leaf_count: 5, persisted: true })
    expect([ignored_columns, comment_rows, paid_rows]).toEqual([[], 0, 0])
    expect(Object.keys(columns)).toEqual(['wallet', 'amount'])
    expect(JSON.parse((await svc(['merkle', 'get', tree.id, '--json'])).stdout)).toEqual(tree)
    expect(JSON.parse((await svc(['merkle', 'list', '--mint', MINT, '--json'])).stdout)).toContainEqual(tree)
    const { wallet } = five[2]!
    const proven = await svc(['merkle', 'proof', '--id', tree.id, '--wallet', wallet, '--json'])
    expect(JSON.parse(proven.stdout).proof).toEqual(naiveProof(naiveLevels(five), 2))
    expect((await svc(['merkle', 'build', fiveFile, '--mint', MINT, '--raw', '--persist'])).exitCode).toBe(0)
    const other = cli.file('other.csv', csvOf(recipientsOf(4)))
    expect((await svc(['merkle', 'build', other, '--mint', MINT, '--raw', '--persist'])).exitCode).toBe(2)
    expect((await svc(['merkle', 'build', other, '--mint', MINT, '--raw', '--persist', '--replace'])).exitCode).toBe(0)
  })

  it('takes the id of a stored tree that begins with a dash', async () => {
    // The mint whose first byte is 0xf8 gives such an id.
    const id = `-${'A'.repeat(45)}`
    await cli.refused(['merkle', 'get', id], id, 3)
  })
})
