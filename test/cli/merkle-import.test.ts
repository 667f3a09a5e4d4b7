/** `svc merkle import`, `verify --tree` and `build --format`: trees from other tools and for them. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { base58 } from '@scure/base'
import { describe, expect, it } from 'vitest'
import { naiveLevels, naiveProof, naiveRoot, signersOf } from '../merkle/reference.ts'
import { commandLine, MINT } from './command-line.ts'

const cli = commandLine()
const { svc } = cli
const rows = signersOf(7).map(({ wallet }, n) => ({ wallet, amount: BigInt(n + 1), locked: BigInt(n) * 1000n }))
const levels = naiveLevels(rows)
const root = naiveRoot(rows)
const bytesOf = (hex: string) => [...Buffer.from(hex, 'hex')]
const jitoTree = () => ({
  merkle_root: bytesOf(root),
  max_num_nodes: 7,
  max_total_claim: 28 + 21_000,
  tree_nodes: rows.map(({ wallet, amount, locked }, n) => ({
    claimant: [...base58.decode(wallet)],
    proof: naiveProof(levels, n).map(bytesOf),
    total_unlocked_staker: 0,
    total_locked_staker: Number(locked),
    total_unlocked_searcher: Number(amount),
    total_locked_searcher: 0,
    total_unlocked_validator: 0,
    total_locked_validator: 0,
  })),
})
const text = JSON.stringify(jitoTree(), undefined, 2)
const file = cli.file('merkle_tree.json', text)
const beside = (name: string) => join(dirname(file), name)
const changed = (name: string, change: (tree: ReturnType<typeof jitoTree>) => void) => {
  const tree = jitoTree()
  change(tree)
  return cli.file(name, JSON.stringify(tree))
}
const json = async (...words: string[]) => {
  const { stdout, stderr, exitCode } = await svc([...words, '--json'])
  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 })
  return JSON.parse(stdout)
}

describe('A tree of another tool', () => {
  it('is stored with its own root, read, proven and compared', async () => {
    const stored = await json('merkle', 'import', file, '--mint', MINT, '--airdrop-count', '3')
    expect(stored).toMatchObject({
      root,
      airdrop_count: 3,
      leaf_count: 7,
      total: '21028',
      total_locked: '21000',
      persisted: true,
    })
    const { wallet } = rows[4]!
    const proof = await json('merkle', 'proof', '--id', stored.id, '--wallet', wallet)
    expect(proof).toMatchObject({ amount: '5', amount_locked: '4000', proof: naiveProof(levels, 4) })
    expect((await svc(['merkle', 'diff', stored.id, file, '--exit-code'])).exitCode).toBe(0)
    expect((await svc(['merkle', 'verify', '--tree', file, '--id', stored.id])).exitCode).toBe(0)
    expect((await svc(['merkle', 'verify', file, '--root', root])).exitCode).toBe(0)
  })

  it('is exported as a CSV with the same root, and as the original file', async () => {
    const csv = beside('list.csv')
    expect(await json('merkle', 'import', file, '--csv', csv)).toMatchObject({
      format: 'jito',
      root,
      leaf_count: 7,
      csv,
    })
    expect(readFileSync(csv, 'utf8')).toBe(
      `wallet,amount,locked\n${rows.map(({ wallet, amount, locked }) => `${wallet},${amount},${locked}\n`).join('')}`,
    )
    expect(await json('merkle', 'build', csv, '--mint', MINT)).toMatchObject({ root })
    const again = beside('again.json')
    await json('merkle', 'build', file, '--mint', MINT, '--out', again, '--format', 'jito')
    expect(readFileSync(again, 'utf8')).toBe(text)
    const fromCsv = beside('from-csv.json')
    await json('merkle', 'build', csv, '--mint', MINT, '--out', fromCsv, '--format', 'jito')
    expect(JSON.parse(readFileSync(fromCsv, 'utf8')).tree_nodes[6]).toMatchObject({
      total_unlocked_staker: 7,
      total_locked_staker: 6000,
      total_unlocked_searcher: 0,
    })
    expect((await svc(['merkle', 'verify', '--tree', fromCsv, '--root', root])).exitCode).toBe(0)
  })

  it('is verified, and refused with the name of a node that does not belong to it', async () => {
    const yes = await svc(['merkle', 'verify', '--tree', file])
    expect([yes.exitCode, yes.stdout]).toEqual([0, expect.stringContaining(`(jito, 7 leaves) has the root ${root}`)])
    const other = await svc(['merkle', 'verify', '--tree', file, '--root', '1'.repeat(64)])
    expect([other.exitCode, other.stdout]).toEqual([1, expect.stringContaining(`has the root ${root}, expected 1111`)])

    const swapped = changed('swapped.json', ({ tree_nodes }) => {
      tree_nodes[2]!.total_unlocked_searcher = 4
      tree_nodes[3]!.total_unlocked_searcher = 3
    })
    const no = await svc(['merkle', 'verify', '--tree', swapped, '--json'])
    expect(no.exitCode).toBe(1)
    expect(JSON.parse(no.stdout)).toMatchObject({
      valid: false,
      format: 'jito',
      faults: [{ position: 'merkle_root' }, { position: 'tree_nodes.2' }, { position: 'tree_nodes.3' }],
      fault_count: 3,
    })
    for (const words of [
      ['import', swapped, '--mint', MINT, '--airdrop-count', '9'],
      ['import', swapped, '--csv', beside('never.csv')],
      ['build', swapped, '--mint', MINT],
    ]) {
      const { exitCode, stderr } = await svc(['merkle', ...words])
      expect(exitCode).toBe(2)
      expect(stderr).toMatch(/swapped\.json: tree_nodes\.2: the proof does not lead from \w+ with 4 and 2000 locked/)
    }
    expect(existsSync(beside('never.csv'))).toBe(false)
  })

  it('of Streamflow is stored in the order that gives the root of its proofs', async () => {
    const claimants = rows
      .map(({ wallet, amount, locked }, n) => ({
        address: wallet,
        amountUnlocked: String(amount),
        amountLocked: String(locked),
        proof: naiveProof(levels, n).map(bytesOf),
      }))
      .reverse()
    const whole = cli.file('claimants.json', JSON.stringify(claimants))
    expect(await json('merkle', 'import', whole, '--mint', MINT, '--airdrop-count', '4', '--root', root)).toMatchObject(
      { root },
    )
    const bare = cli.file(
      'bare.json',
      JSON.stringify(claimants.map(({ proof, ...claimant }) => ({ ...claimant, n: proof.length })).reverse()),
    )
    await cli.refused(
      ['merkle', 'import', bare, '--csv', beside('never.csv')],
      'give the root of the distributor with --root',
    )
    expect(await json('merkle', 'import', bare, '--csv', beside('bare.csv'), '--root', root)).toMatchObject({
      root,
      format: 'streamflow',
    })
    await cli.refused(
      ['merkle', 'import', bare, '--csv', beside('never.csv'), '--root', '2'.repeat(64)],
      `has the root ${root}, expected 2222`,
    )
    const out = beside('streamflow.csv')
    await json('merkle', 'build', file, '--mint', MINT, '--out', out, '--format', 'streamflow')
    expect(readFileSync(out, 'utf8')).toContain(`${rows[3]!.wallet},4,3000,Staker\n`)
    expect(await json('merkle', 'build', out, '--mint', MINT)).toMatchObject({ root })
  })

  it('is refused with flags that exclude each other', async () => {
    const cases: [string[], string][] = [
      [['import', file], 'missing --mint or --csv'],
      [['import', file, '--mint', MINT, '--csv', 'x.csv'], '--mint cannot be used with --csv'],
      [['import', file, '--mint', MINT, '--root', 'abc'], '--root must be 32 bytes in hex'],
      [['build', file, '--mint', MINT, '--format', 'jito'], '--format needs --out'],
      [['build', file, '--mint', MINT, '--format', 'csv', '--out', 'x'], '--format'],
      [['verify', file, '--tree', file], '<file> cannot be used with --tree'],
      [['verify', file, '--proof', file], '--proof cannot be used with <file>'],
      [['verify', '--id', 'x'], 'missing <file> or --tree or --proof'],
      [['import', cli.file('no-tree.json', '{"tree":1}'), '--mint', MINT], 'is not a tree: expected'],
      [['import', cli.file('cut.json', text.slice(0, 900)), '--mint', MINT], 'malformed JSON at line'],
    ]
    for (const [words, what] of cases) {
      await cli.refused(['merkle', ...words], what)
    }
  })
})
