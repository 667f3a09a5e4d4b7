/** Trees in the files of other tools: written byte for byte, read back, put in order, and refused where they do not hold together. */
import { base58 } from '@scure/base'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readCsv } from '../../src/merkle/csv.ts'
import { type EntryList, entryAt, listFromEntries } from '../../src/merkle/entry-list.ts'
import { MerkleInputError } from '../../src/merkle/errors.ts'
import { buildTree, toHex } from '../../src/merkle/tree.ts'
import { jitoTreeChunks } from '../../src/merkle/tree-files/jito-writer.ts'
import { readTreeFile } from '../../src/merkle/tree-files/read-tree-file.ts'
import { streamflowCsvChunks } from '../../src/merkle/tree-files/streamflow.ts'
import { checkTreeFile } from '../../src/merkle/tree-files/tree-file.ts'
import { runs } from '../support/runs.ts'
import { anyKey, naiveLevels, naiveProof, naiveRoot, recipientsOf } from './reference.ts'

const CATEGORIES = [
  'total_unlocked_staker',
  'total_locked_staker',
  'total_unlocked_searcher',
  'total_locked_searcher',
  'total_unlocked_validator',
  'total_locked_validator',
]

interface Node {
  wallet: string
  /** Unlocked and locked of each of three categories. */
  amounts: bigint[]
}

const anyNodes = (maxLength: number): fc.Arbitrary<Node[]> =>
  fc
    .uniqueArray(
      fc.tuple(anyKey, fc.array(fc.oneof(fc.constant(0n), fc.bigInt(0n, 2n ** 57n)), { minLength: 6, maxLength: 6 })),
      { minLength: 1, maxLength, selector: ([key]) => String(key) },
    )
    .map((rows) => rows.map(([key, amounts]) => ({ wallet: base58.encode(key), amounts })))

const sum = (amounts: readonly bigint[]) => amounts.reduce((total, amount) => total + amount, 0n)
const leavesOf = (nodes: readonly Node[]) =>
  nodes.map(({ wallet, amounts }) => ({
    wallet,
    amount: sum(amounts.filter((_, i) => i % 2 === 0)),
    locked: sum(amounts.filter((_, i) => i % 2 === 1)),
  }))
const bytesOf = (hex: string) => [...Buffer.from(hex, 'hex')]

/** The file as its serialiser writes it, made of plain objects; amounts are marked, as JSON of JavaScript rounds them. */
function jitoText(nodes: readonly Node[], layout: 'categories' | 'plain' = 'categories', indent = 2): string {
  const leaves = leavesOf(nodes)
  const levels = naiveLevels(leaves)
  const marked = (amount: bigint) => `@${amount}@`
  const tree = {
    merkle_root: bytesOf(naiveRoot(leaves)),
    max_num_nodes: nodes.length,
    max_total_claim: marked(sum(leaves.map(({ amount, locked }) => amount + locked))),
    tree_nodes: nodes.map(({ wallet, amounts }, n) => {
      const claimant = [...base58.decode(wallet)]
      const proof = naiveProof(levels, n).map(bytesOf)
      const { amount, locked } = leaves[n]!
      if (layout === 'plain') return { claimant, amount_unlocked: marked(amount), amount_locked: marked(locked), proof }
      return { claimant, proof, ...Object.fromEntries(CATEGORIES.map((name, i) => [name, marked(amounts[i]!)])) }
    }),
  }
  return JSON.stringify(tree, undefined, indent).replace(/"@(\d+)@"/g, '$1')
}

const read = (text: string) => readTreeFile(Buffer.from(text))
const entriesOf = (list: EntryList) => Array.from({ length: list.count }, (_, i) => entryAt(list, i))
const nodesOf = (count: number): Node[] =>
  recipientsOf(count).map(({ wallet }, n) => ({ wallet, amounts: [BigInt(n), 2n ** 60n, 1n, BigInt(n * 7), 0n, 3n] }))

function refusal(text: string): string {
  try {
    read(text)
  } catch (error) {
    if (error instanceof MerkleInputError) return error.message
    throw error
  }
  throw new Error('the file was taken')
}

const faultsOf = (text: string) =>
  checkTreeFile(read(text)).faults.map(({ position, message }) => `${position}: ${message}`)

describe("a tree in the file of Jito's distributor", () => {
  it.each(['categories', 'plain'] as const)('is read and written byte for byte, with %s', (layout) => {
    fc.assert(
      fc.property(anyNodes(12), (nodes) => {
        const text = jitoText(nodes, layout)
        const file = read(text)
        expect(file).toMatchObject({ format: 'jito', count: BigInt(nodes.length), jito: { layout } })
        expect(entriesOf(file.list)).toEqual(leavesOf(nodes))
        const { tree, faults } = checkTreeFile(file)
        expect(faults).toEqual([])
        expect([...jitoTreeChunks(tree, file.jito)].join('')).toBe(text)
      }),
    )
  })

  it('has the amounts of a list under staker, over several pieces of the text', () => {
    const nodes = recipientsOf(230).map(({ wallet }, n) => ({
      wallet,
      amounts: [BigInt(n), 2n ** 55n + BigInt(n), 0n, 0n, 0n, 0n],
    }))
    const tree = buildTree(listFromEntries(leavesOf(nodes)))
    expect([...jitoTreeChunks(tree)].join('')).toBe(jitoText(nodes))
  })

  it('is read with its fields in any order and any white space', () => {
    const nodes = nodesOf(5)
    const compact = jitoText(nodes, 'categories', 0)
    expect(faultsOf(compact)).toEqual([])
    const { tree_nodes, ...rest } = JSON.parse(
      jitoText(nodesOf(3).map((node) => ({ ...node, amounts: [1n, 2n, 3n, 4n, 5n, 6n] }))),
    )
    const turned = tree_nodes.map(({ claimant, proof, ...amounts }: object & Record<string, unknown>) => ({
      ...amounts,
      proof,
      claimant,
    }))
    expect(faultsOf(JSON.stringify({ tree_nodes: turned, ...rest }))).toEqual([])
  })

  it('has amounts past 2^53 exactly', () => {
    const [node] = nodesOf(1)
    const file = read(jitoText([{ ...node!, amounts: [2n ** 63n - 1n, 2n ** 62n + 1n, 0n, 0n, 0n, 1n] }]))
    expect(entriesOf(file.list)).toEqual([{ wallet: node!.wallet, amount: 2n ** 63n - 1n, locked: 2n ** 62n + 2n }])
  })

  it('is recognised as changed by any changed number', { tags: 'sampled' }, () => {
    const nodes = nodesOf(6)
    const text = jitoText(nodes)
    const numbers = [...text.matchAll(/\d+/g)]
    fc.assert(
      fc.property(fc.nat(numbers.length - 1), fc.nat(255), (pick, value) => {
        const { 0: before, index } = numbers[pick]!
        const after = String(value)
        const changed = text.slice(0, index) + after + text.slice(index + before.length)
        let isTold = false
        try {
          isTold = checkTreeFile(read(changed)).faultCount > 0
        } catch (error) {
          expect(error).toBeInstanceOf(MerkleInputError)
          isTold = true
        }
        // Amounts moved between two categories are those of another file, but this one changes a sum.
        expect(isTold).toBe(before !== after)
      }),
      { numRuns: runs(60, 300) },
    )
  })

  it('is refused with the node whose amount, claimant or proof was changed, or the changed root', () => {
    const small = nodesOf(9).map(({ wallet, amounts }) => ({
      wallet,
      amounts: amounts.map((amount) => amount % 2n ** 20n),
    }))
    const tree = () => JSON.parse(jitoText(small))
    expect(faultsOf(JSON.stringify(tree()))).toEqual([])

    const moreAmount = tree()
    moreAmount.tree_nodes[4].total_locked_validator += 1
    moreAmount.max_total_claim += 1
    const lines = faultsOf(JSON.stringify(moreAmount))
    expect(lines).toHaveLength(2)
    expect(lines[0]).toMatch(/^merkle_root: [0-9a-f]{64} is not the root of the nodes in this order, [0-9a-f]{64}$/)
    expect(lines[1]).toMatch(
      new RegExp(`^tree_nodes\\.4: the proof does not lead from ${small[4]!.wallet} with 5 and 32 locked`),
    )

    const otherProof = tree()
    otherProof.tree_nodes[7].proof[1][31] ^= 1
    expect(faultsOf(JSON.stringify(otherProof))).toEqual([
      expect.stringMatching(/^tree_nodes\.7: the proof does not lead/),
    ])

    const otherRoot = tree()
    otherRoot.merkle_root[0] ^= 1
    expect(faultsOf(JSON.stringify(otherRoot))).toEqual([expect.stringMatching(/^merkle_root: /)])

    const otherOrder = tree()
    otherOrder.tree_nodes.push(otherOrder.tree_nodes.shift())
    expect(faultsOf(JSON.stringify(otherOrder))).toEqual([expect.stringMatching(/^merkle_root: .*in this order/)])

    const fewer = tree()
    fewer.max_num_nodes = 8
    fewer.max_total_claim = 7
    expect(faultsOf(JSON.stringify(fewer))).toEqual([
      'max_num_nodes: is 8, the file has 9 nodes',
      expect.stringMatching(/^max_total_claim: is 7, its nodes add up to \d+$/),
    ])
  })

  it('is refused in another form, naming the field', () => {
    const text = (change: (tree: ReturnType<typeof JSON.parse>) => void) => {
      const tree = JSON.parse(jitoText([{ wallet: nodesOf(1)[0]!.wallet, amounts: [1n, 2n, 3n, 4n, 5n, 6n] }]))
      change(tree)
      return JSON.stringify(tree)
    }
    const cases: [string, RegExp][] = [
      [text((tree) => delete tree.max_num_nodes), /^max_num_nodes: is missing/],
      [text((tree) => delete tree.merkle_root), /^merkle_root: is missing/],
      [text((tree) => (tree.merkle_root = 'abc')), /^merkle_root: must be an array of 32 numbers/],
      [text((tree) => tree.merkle_root.push(1)), /^merkle_root: must be an array of 32 numbers/],
      [text((tree) => (tree.merkle_root[3] = 256)), /^merkle_root: must be an array of 32 numbers/],
      [text((tree) => (tree.tree_nodes = [])), /^tree_nodes: is empty/],
      [text((tree) => (tree.version = 1)), /^version: is not a field of a tree/],
      [text((tree) => (tree.tree_nodes[0] = 7)), /^tree_nodes\.0: must be an object/],
      [text((tree) => (tree.tree_nodes[0].claimant = 'x')), /^tree_nodes\.0\.claimant: must be an array/],
      [text((tree) => (tree.tree_nodes[0].proof = null)), /^tree_nodes\.0\.proof: must be an array of hashes/],
      [text((tree) => (tree.tree_nodes[0].proof = [[1]])), /^tree_nodes\.0\.proof\.0: must be an array of 32/],
      [text((tree) => (tree.tree_nodes[0].proof = Array(33).fill(tree.merkle_root))), /has more than 32 hashes/],
      [
        text((tree) => delete tree.tree_nodes[0].total_locked_staker),
        /^tree_nodes\.0\.total_locked_staker: is missing/,
      ],
      [text((tree) => (tree.tree_nodes[0].total_locked_staker = -1)), /must be a whole number of raw units/],
      [text((tree) => (tree.tree_nodes[0].total_locked_staker = 1.5)), /must be a whole number of raw units/],
      [text((tree) => (tree.tree_nodes[0].amount_locked = 1)), /^tree_nodes\.0/],
      [text((tree) => (tree.tree_nodes[0]['\u001b[2J'] = 1)), /tree_nodes\.0\.\\u001b\[2J: is not a field of a node/],
      [
        text((tree) => tree.tree_nodes.push(tree.tree_nodes[0])),
        /^tree_nodes\.1\.claimant: .* is already at tree_nodes\.0/,
      ],
      [
        text(() => {}).replace('"max_num_nodes":1', '"max_num_nodes":1,"max_num_nodes":1'),
        /^max_num_nodes: is there twice/,
      ],
      [
        text(() => {}).replace('"total_locked_staker":2', '"total_locked_staker":18446744073709551615'),
        /more than u64 holds/,
      ],
      [text(() => {}).slice(0, -1), /malformed JSON/],
      ['{"tree":1}', /is not a tree: expected the file of `svc merkle build --out`/],
    ]
    for (const [wrong, what] of cases) expect(refusal(wrong)).toMatch(what)
  })

  it('is not written if its sum exceeds u64', () => {
    const half = recipientsOf(2).map(({ wallet }) => ({ wallet, amount: 2n ** 63n }))
    expect(() => [...jitoTreeChunks(buildTree(listFromEntries(half)))]).toThrow(/more than a distributor's u64 holds/)
  })
})

describe("a tree from Streamflow's API", () => {
  const claimantsOf = (nodes: readonly Node[]) => {
    const leaves = leavesOf(nodes)
    const levels = naiveLevels(leaves)
    return leaves.map(({ wallet, amount, locked }, n) => ({
      chain: 'SOLANA',
      distributorAddress: wallet,
      address: wallet,
      amountUnlocked: String(amount),
      amountLocked: String(locked),
      amountClaimed: '0',
      proof: naiveProof(levels, n).map(bytesOf),
    }))
  }

  it('is put into the order of its proofs, from any order of the claimants', () => {
    fc.assert(
      fc.property(anyNodes(40), fc.infiniteStream(fc.nat()), fc.boolean(), (nodes, random, isPage) => {
        const claimants = claimantsOf(nodes)
        const turned = claimants.map((claimant) => ({ claimant, at: random.next().value! })).sort((a, b) => a.at - b.at)
        const items = turned.map(({ claimant }) => claimant)
        const file = read(JSON.stringify(isPage ? { limit: 100, offset: 0, items } : items))
        const { tree, faults } = checkTreeFile(file)
        expect(faults).toEqual([])
        expect(toHex(tree.root)).toBe(naiveRoot(leavesOf(nodes)))
        const sorted = (rows: { wallet: string }[]) => rows.sort((a, b) => (a.wallet < b.wallet ? -1 : 1))
        expect(sorted(entriesOf(file.list))).toEqual(sorted(leavesOf(nodes)))
      }),
    )
  })

  it('keeps the order of the claimants if that order has the tree', () => {
    const nodes = nodesOf(11)
    expect(entriesOf(read(JSON.stringify(claimantsOf(nodes))).list)).toEqual(leavesOf(nodes))
  })

  it('is refused with the claimant whose amount was changed', () => {
    const claimants = claimantsOf(nodesOf(9))
    claimants[5]!.amountLocked += '0'
    const lines = faultsOf(JSON.stringify(claimants))
    expect(lines).toHaveLength(2)
    expect(lines[1]).toMatch(/^claimants\.5: the proof does not lead/)
  })

  it('names no root if a claimant has no proof', () => {
    const [first, ...rest] = claimantsOf(nodesOf(4))
    const { proof, ...bare } = first!
    expect(proof).toHaveLength(2)
    const file = read(JSON.stringify([bare, ...rest]))
    expect(file.root).toBeUndefined()
    expect(toHex(checkTreeFile(file).tree.root)).toBe(naiveRoot(leavesOf(nodesOf(4))))
  })

  it('is refused in another form, naming the claimant', () => {
    const one = (more: object) => JSON.stringify({ items: [{ ...claimantsOf(nodesOf(1))[0], ...more }] })
    expect(refusal(one({ amountUnlocked: 5 }))).toMatch(/^items\.0\.amountUnlocked: must be a string of raw units/)
    expect(refusal(one({ amountLocked: undefined }))).toMatch(/^items\.0\.amountLocked: must be a string of raw units/)
    expect(refusal(one({ address: 'x' }))).toMatch(/^items\.0\.address: /)
    expect(refusal(one({ proof: [[1, 2]] }))).toMatch(/^items\.0\.proof\.0: must be an array of 32 numbers/)
    expect(refusal('[]')).toMatch(/is empty/)
    expect(refusal('[null]')).toMatch(/^0: must be an object/)
  })

  it('comes from a CSV that this product reads as the same list', () => {
    fc.assert(
      fc.property(anyNodes(20), (nodes) => {
        const list = listFromEntries(leavesOf(nodes))
        const text = [...streamflowCsvChunks(list)].join('')
        expect(text).toMatch(/^pubkey,amount_unlocked,amount_locked,category\n(\w+,\d+,\d+,Staker\n)+$/)
        const again = readCsv(Buffer.from(text)).list
        expect(entriesOf(again)).toEqual(leavesOf(nodes))
        expect([...streamflowCsvChunks(again)].join('')).toBe(text)
      }),
    )
  })
})
