/** Lists with locked amounts: roots, proofs, hashes, files, requests and the stored form; and that lists without are as ever. */
import { hash } from 'node:crypto'
import { base58 } from '@scure/base'
import fc from 'fast-check'
import { MerkleTree as MerkleTreeJs } from 'merkletreejs'
import { describe, expect, it } from 'vitest'
import { readTreeRequest } from '../../src/merkle/built-tree.ts'
import { readCsv } from '../../src/merkle/csv.ts'
import { bytesSource } from '../../src/merkle/csv-source.ts'
import {
  entryAt,
  listFromBytes,
  listFromEntries,
  listHash,
  shardList,
  totalAmount,
  totalLocked,
  walletAt,
} from '../../src/merkle/entry-list.ts'
import { LeafLayoutError, MerkleInputError } from '../../src/merkle/errors.ts'
import { readRecipientCsv, recipientRoot, recipientTree } from '../../src/merkle/recipient-tree.ts'
import { scaledList } from '../../src/merkle/scaled-list.ts'
import { blobsOf, encodeTree, lookUpProof, openHead, readStoredList } from '../../src/merkle/stored-tree.ts'
import { buildTree, type MerkleTree, proofAt, toHex, verifyProof } from '../../src/merkle/tree.ts'
import { inSoak, runs } from '../support/runs.ts'
import {
  anyAmounts,
  anyKey,
  naiveLeaf,
  naiveRoot,
  type Recipient,
  recipientsOf,
  sha256,
  u64,
  walletOf,
} from './reference.ts'

const MAX = 2n ** 64n - 1n
const [A, B] = [walletOf(1), walletOf(2)]

type Amounts = Required<Recipient>

const anyVesting = (maxLength: number) =>
  fc
    .uniqueArray(fc.tuple(anyKey, anyAmounts), { minLength: 1, maxLength, selector: ([key]) => String(key) })
    .map((rows) => rows.map(([key, amounts]) => ({ wallet: base58.encode(key), ...amounts })))

/** Every third wallet has a locked amount, every seventh nothing else. */
const vestingOf = (count: number): Amounts[] =>
  recipientsOf(count).map(({ wallet }, i) => ({
    wallet,
    amount: i % 7 === 0 ? 0n : BigInt(i),
    locked: i % 3 === 0 ? 2n ** 40n + BigInt(i) : 0n,
  }))

const sum = (amounts: readonly bigint[]) => amounts.reduce((total, amount) => total + amount, 0n)
const csvOf = (rows: readonly Amounts[]) =>
  `wallet,amount,locked\n${rows.map(({ wallet, amount, locked }) => `${wallet},${amount},${locked}\n`).join('')}`
const entriesOf = (list: Parameters<typeof entryAt>[0]) =>
  Array.from({ length: list.count }, (_, i) => entryAt(list, i))

describe('a list without locked amounts', () => {
  // Written down before lists had locked amounts.
  it.each([
    [
      1,
      'd785f30eee5c84b00d49477c4e316b4721a3d2c599dba8d733f47a4127340a11',
      '4c94618408a9135a151d9154c4e3204c7ac52061b9a6afaf684dda13520c3aa1',
      '3a916e2938b03bbc9d8cdeaa56c7418eaea3c8d4a615564fff09fb453b2d11cc',
    ],
    [
      2,
      'ae91d53bd80fecf901f963057a52a4def9533dfd78263609ba5079305308311a',
      'cc7256b0835dcda9e2be2329e228b8db382a7696f10b487a464428071c6ecf5c',
      '0ed6738ad9ed30f02f74cc095560c87c68e4861fc97c1cc68c1d04b874833b8e',
    ],
    [
      5,
      'eb8159519e95585ef61f0df0bde1211d21395b1beaec9dd90fef50d3b7f0e853',
      '574b12702cff69c82ded3aea8d657d2e926249da0664699f2b8f7ac12efa1549',
      'dfe6c02a272a562bd8d18df0599d37891a9d54ff99dde06c74814851363aa18f',
    ],
    [
      257,
      'e952e1ce3d49cc21e967eb367ab35ebbd2fd2487d2d410a713a6d2c1d7a1b07f',
      '9b6fd6e5ef8d628ce9f62ebc9462675cc40b8c4f531b13b0b83e20dd23a620b1',
      'c3471203b6f742db76da03fd8abd02fedffe469008a68be62c0eddc9a5086372',
    ],
    [
      1000,
      'd12cb28f6f3c6f802382337905030c63a0bb6510a429554a7f8dfa0539906522',
      'ff7a32fe7bd0ac0ad76f0adace8ee2dc13c4eebaa47ba1ee8aa056428af64c54',
      '3760c0116f8c1c0b920035d5e6fdee0a393c1fbbdfe31d3b4a9c04722cf1c5e4',
    ],
  ])('of %d wallets has the old root, hash and stored form, even with a column of zeros', (size, root, sha, form) => {
    const recipients = recipientsOf(size)
    const rows = recipients.map((recipient) => ({ ...recipient, locked: 0n }))
    const bare = listFromEntries(recipients)
    for (const list of [
      bare,
      listFromEntries(rows),
      listFromBytes(bare.bytes, new Uint8Array(8 * size)),
      readRecipientCsv(bytesSource(Buffer.from(csvOf(rows)))).list,
      readCsv(Buffer.from(csvOf(rows))).list,
      readTreeRequest(
        Buffer.from(
          JSON.stringify({
            entries: rows.map((row) => ({ wallet: row.wallet, amount: `${row.amount}`, amount_locked: 0 })),
          }),
        ),
      ).list,
    ]) {
      expect(list.locked).toBeUndefined()
      expect([toHex(recipientTree(list).root), listHash(list), totalLocked(list)]).toEqual([root, sha, 0n])
      const { head, leaves, index, ...others } = encodeTree(buildTree(list))
      expect(others).toEqual({})
      expect(hash('sha256', Buffer.concat([head, leaves, index]), 'hex')).toBe(form)
    }
  })
})

describe('a list with locked amounts', () => {
  it('has the naive root, and proofs that are valid for exactly its amounts', () => {
    fc.assert(
      fc.property(anyVesting(40), fc.nat(), anyAmounts, (rows, pick, others) => {
        const list = listFromEntries(rows)
        const tree = buildTree(list)
        expect(toHex(tree.root)).toBe(naiveRoot(rows))
        expect(toHex(recipientRoot(list))).toBe(naiveRoot(rows))
        const index = pick % rows.length
        const { amount, locked } = rows[index]!
        const wallet = walletAt(list, index)
        const proof = proofAt(tree, index)
        expect(verifyProof(wallet, amount, proof, tree.root, locked)).toBe(true)
        const isSame = others.amount === amount && others.locked === locked
        expect(verifyProof(wallet, others.amount, proof, tree.root, others.locked)).toBe(isSame)
        expect(verifyProof(wallet, locked, proof, tree.root, amount)).toBe(amount === locked)
        expect(verifyProof(wallet, amount + locked, proof, tree.root)).toBe(locked === 0n)
        expect(verifyProof(wallet, amount, proof, tree.root, locked ^ 1n)).toBe(false)
        for (const wrong of [-1n, locked + 2n ** 64n]) {
          expect(verifyProof(wallet, amount, proof, tree.root, wrong)).toBe(false)
        }
      }),
    )
  })

  it('has the root that merkletreejs finds, at sizes around those of the engine and of a chunk', () => {
    const prefixed = (data: Buffer) => sha256(Buffer.from([1]), data)
    for (const size of [2, 3, 33, 255, 256, 257, 1000]) {
      const rows = vestingOf(size)
      const other = new MerkleTreeJs(rows.map(naiveLeaf), prefixed, { sortPairs: true, duplicateOdd: true })
      expect(toHex(recipientTree(listFromEntries(rows)).root)).toBe(other.getHexRoot().slice(2))
    }
  })

  it('adds up and is hashed with both amounts of each wallet', () => {
    fc.assert(
      fc.property(anyVesting(20), (rows) => {
        const list = listFromEntries(rows)
        expect(entriesOf(list)).toEqual(rows)
        expect(totalLocked(list)).toBe(sum(rows.map(({ locked }) => locked)))
        expect(totalAmount(list)).toBe(sum(rows.map(({ amount, locked }) => amount + locked)))
        const hasLocked = rows.some(({ locked }) => locked !== 0n)
        const canonical = rows.map(({ wallet, amount, locked }) =>
          Buffer.concat([base58.decode(wallet), u64(amount), ...(hasLocked ? [u64(locked)] : [])]),
        )
        expect(listHash(list)).toBe(sha256(...canonical).toString('hex'))
      }),
    )
    const long = vestingOf(2500)
    const canonical = long.map(({ wallet, amount, locked }) => [base58.decode(wallet), u64(amount), u64(locked)])
    expect(listHash(listFromEntries(long))).toBe(sha256(...canonical.flat()).toString('hex'))
  })

  it('cut into shards keeps both amounts of every wallet, and has no column if a shard has none', () => {
    const rows = vestingOf(103).map((row, i) => (i < 25 ? { ...row, locked: 0n } : row))
    const shards = shardList(listFromEntries(rows), 25)
    expect(shards.map(({ locked }) => locked?.length)).toEqual([undefined, 200, 200, 200, 24])
    expect(shards.flatMap(entriesOf)).toEqual(rows)
    shards.forEach((shard, i) => {
      expect(toHex(recipientRoot(shard))).toBe(naiveRoot(rows.slice(25 * i, 25 * i + 25)))
    })
  })

  it('has both amounts scaled, or is null if one does not fit', () => {
    const list = listFromEntries([
      { wallet: A, amount: 12n, locked: 340n },
      { wallet: B, amount: 0n, locked: 1000n },
    ])
    expect(entriesOf(scaledList(list, 3)!)).toEqual([
      { wallet: A, amount: 12_000n, locked: 340_000n },
      { wallet: B, amount: 0n, locked: 1_000_000n },
    ])
    expect(scaledList(list, -1)).toBeNull()
    const half = MAX / 10n / 2n + 1n
    expect(scaledList(listFromEntries([{ wallet: A, amount: half, locked: half }]), 1)).toBeNull()
  })

  it('has no wallet whose amounts together exceed u64', () => {
    expect(entryAt(listFromEntries([{ wallet: A, amount: MAX - 1n, locked: 1n }]), 0).locked).toBe(1n)
    expect(() => listFromEntries([{ wallet: A, amount: MAX, locked: 1n }])).toThrow('not a u64')
    expect(() => listFromEntries([{ wallet: A, amount: 0n, locked: -1n }])).toThrow('not a u64')
    expect(() => listFromBytes(new Uint8Array(80), new Uint8Array(8))).toThrow(RangeError)
  })
})

function linesOf(read: () => unknown): string[] {
  try {
    read()
  } catch (error) {
    if (error instanceof MerkleInputError) return error.issues.map(({ position, message }) => `${position}: ${message}`)
    throw error
  }
  throw new Error('the list was taken')
}

describe('a CSV with locked amounts', () => {
  const read = (text: string, options: Parameters<typeof readCsv>[1] = {}) =>
    readRecipientCsv(bytesSource(Buffer.from(text)), { name: 'list.csv', ...options })

  it.each(['locked', 'amount_locked', 'locked_amount', 'Amount Locked'])(
    'may have the column name %s, anywhere',
    (name) => {
      expect(entriesOf(read(`note,${name},amount,wallet\nx,7,5,${A}\ny,,6,${B}\n`).list)).toEqual([
        { wallet: A, amount: 5n, locked: 7n },
        { wallet: B, amount: 6n, locked: 0n },
      ])
    },
  )

  it("is read in Jito's and Streamflow's four columns, with a header or without", () => {
    const rows = `${A},5,7,Staker\n${B},6,0.0,Searcher\n`
    const wanted = [
      { wallet: A, amount: 5n, locked: 7n },
      { wallet: B, amount: 6n, locked: 0n },
    ]
    expect(entriesOf(read(`pubkey,amount_unlocked,amount_locked,category\n${rows}`).list)).toEqual(wanted)
    expect(entriesOf(read(rows).list)).toEqual(wanted)
  })

  it('scales them by the decimals, as amounts are', () => {
    const { list, zeroAmounts } = read(`wallet,amount,locked\n${A},1.5,0.000001\n${B},0,2\n`, { decimals: 6 })
    expect(entriesOf(list)).toEqual([
      { wallet: A, amount: 1_500_000n, locked: 1n },
      { wallet: B, amount: 0n, locked: 2_000_000n },
    ])
    // Who has a locked amount alone has something to claim.
    expect(zeroAmounts).toBe(0)
    expect(read(`wallet,amount,locked\n${A},0,0\n${B},0,1\n`).zeroAmounts).toBe(1)
  })

  it('gives the list that was written, long ones too', () => {
    fc.assert(
      fc.property(anyVesting(30), (rows) => {
        expect(entriesOf(read(csvOf(rows)).list)).toEqual(rows)
      }),
    )
    const long = vestingOf(3000)
    const { list } = read(csvOf(long))
    expect(entriesOf(list)).toEqual(long)
    expect(toHex(recipientRoot(list))).toBe(naiveRoot(long))
  })

  it('sums both amounts of a repeated wallet, at its first place', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(6), fc.bigInt(0n, 2n ** 60n), fc.bigInt(0n, 2n ** 60n)), {
          minLength: 1,
          maxLength: 6,
        }),
        (rows) => {
          const summed = new Map<string, Amounts>()
          for (const [number, amount, locked] of rows) {
            const wallet = walletOf(number)
            const before = summed.get(wallet) ?? { wallet, amount: 0n, locked: 0n }
            summed.set(wallet, { wallet, amount: before.amount + amount, locked: before.locked + locked })
          }
          const text = csvOf(rows.map(([number, amount, locked]) => ({ wallet: walletOf(number), amount, locked })))
          const { list, merged } = read(text, { duplicates: 'sum' })
          expect(entriesOf(list)).toEqual([...summed.values()])
          expect(merged).toBe(rows.length - summed.size)
        },
      ),
    )
  })

  it('is refused with line and column if an amount is wrong, or both together exceed u64', () => {
    const head = 'wallet,amount,locked\n'
    const at = A.length + 4
    const cases: [string, RegExp, number?][] = [
      [`${head}${A},5,x\n`, /locked amount "x" is not an amount; write digits only/],
      [`${head}${A},5,-7\n`, /locked amount "-7": an amount has no sign/],
      [`${head}${A},5,0.5\n`, /locked amount "0\.5" is not in base units; give the token's decimals/],
      [`${head}${A},5,0.55\n`, /locked amount "0\.55" has 2 fractional digits, the token has 1/, 1],
      [
        `${head}${A},5,18446744073709551616\n`,
        /locked amount "18446744073709551616" is more than a token account holds/,
      ],
      [
        `${head}${A},5,18446744073709551615\n`,
        /amount and locked amount add up to 18446744073709551620, more than u64 holds/,
      ],
    ]
    for (const [text, what, decimals] of cases) {
      const [line] = linesOf(() => read(text, { decimals }))
      expect(line).toMatch(what)
      expect(line).toMatch(new RegExp(`^list\\.csv:2:${at}: `))
    }
    const half = 2n ** 63n
    const twice = csvOf([
      { wallet: A, amount: 0n, locked: half },
      { wallet: A, amount: half, locked: 0n },
    ])
    expect(linesOf(() => read(twice, { duplicates: 'sum' }))).toEqual([
      'list.csv:3:1: the amounts of this wallet add up to 18446744073709551616, more than u64 holds; it is first at 2:1',
    ])
  })
})

describe('a request with locked amounts', () => {
  const read = (body: object) => readTreeRequest(Buffer.from(JSON.stringify(body)))

  it('has them as digit strings of raw units, or as numbers of whole tokens', () => {
    const entries = [
      { amount_locked: 0.5, wallet: A, amount: '1' },
      { wallet: B, amount: 2, amount_locked: '7' },
      { wallet: walletOf(3), amount: 2 },
      { wallet: B, amount: '0', amount_locked: '1' },
    ]
    const { list, merged } = read({ entries, decimals: 6, duplicates: 'sum' })
    expect([merged, entriesOf(list)]).toEqual([
      1,
      [
        { wallet: A, amount: 1n, locked: 500_000n },
        { wallet: B, amount: 2_000_000n, locked: 8n },
        { wallet: walletOf(3), amount: 2_000_000n, locked: 0n },
      ],
    ])
  })

  it('gives the entries that were sent, with and without locked amounts', () => {
    fc.assert(
      fc.property(anyVesting(30), (rows) => {
        const entries = rows.map(({ wallet, amount, locked }) => ({
          wallet,
          amount: String(amount),
          ...(locked === 0n ? {} : { amount_locked: String(locked) }),
        }))
        expect(entriesOf(read({ entries }).list)).toEqual(rows)
      }),
    )
  })

  it('is refused if one is wrong, naming the entry and the field', () => {
    const entry = (amount_locked: unknown) => ({ entries: [{ wallet: A, amount: '5', amount_locked }] })
    const cases: [unknown, RegExp][] = [
      ['1.5', /"1\.5" is not a digit string/],
      [-1, /"-1" is negative/],
      [1.5, /"1\.5" is not an integer; send decimals/],
      [null, /must be a digit string of base units, or a number/],
      ['18446744073709551616', /is more than a token account holds/],
      ['18446744073709551615', /exceeds, with the amount, what a token account holds \(u64, 18446744073709551615/],
    ]
    for (const [value, what] of cases) {
      const lines = linesOf(() => read(entry(value)))
      expect(lines).toEqual([expect.stringMatching(what)])
      expect(lines[0]).toMatch(/^entries\.0\.amount_locked: /)
    }
    const twice = `{"entries":[{"wallet":"${A}","amount":1,"amount_locked":1,"amount_locked":1}]}`
    expect(linesOf(() => readTreeRequest(Buffer.from(twice)))).toEqual(['entries.0.amount_locked: is sent twice'])
  })
})

function stored(tree: MerkleTree) {
  const blobs = new Map<string, Uint8Array>()
  for (const { kind, n, bytes } of blobsOf(encodeTree(tree))) blobs.set(`${kind} ${n}`, new Uint8Array(bytes))
  return { blobs, read: (kind: string, n: number) => blobs.get(`${kind} ${n}`) }
}

describe('a stored tree with locked amounts', () => {
  it('gives both amounts and the proof of every wallet, and the whole list', { tags: 'sampled' }, async () => {
    for (const size of inSoak ? [1, 2, 255, 256, 257, 700] : [1, 2, 257]) {
      const rows = vestingOf(size)
      const tree = recipientTree(listFromEntries(rows))
      const { read, blobs } = stored(tree)
      expect([...blobs.keys()].filter((key) => key.startsWith('locked'))).toHaveLength(Math.ceil(size / 256))
      const head = openHead(read('head', 0)!, tree.root)
      for (let index = 0; index < size; index += runs(16, 5)) {
        const wallet = walletAt(tree.list, index)
        const found = (await lookUpProof(head, wallet, read))!
        expect(found).toMatchObject({ index, amount: rows[index]!.amount, locked: rows[index]!.locked })
        expect(verifyProof(wallet, found.amount, found.proof, tree.root, found.locked)).toBe(true)
      }
      const list = await readStoredList(head, read)
      expect(entriesOf(list)).toEqual(rows)
      expect(listHash(list)).toBe(listHash(tree.list))
    }
  })

  it('is recognised as damaged by any changed byte, and by a missing or additional part', {
    tags: 'sampled',
  }, async () => {
    const rows = vestingOf(600)
    const tree = buildTree(listFromEntries(rows))
    const target = walletAt(tree.list, 444)
    const look = (read: ReturnType<typeof stored>['read']) =>
      (async () => lookUpProof(openHead(read('head', 0)!, tree.root), target, read))()
    const damage = fc.record({
      kind: fc.constantFrom('head 0', 'locked 0', 'locked 1', 'locked 2', 'leaves 1'),
      at: fc.nat(20_000),
      flip: fc.integer({ min: 1, max: 255 }),
    })
    await fc.assert(
      fc.asyncProperty(damage, async ({ kind, at, flip }) => {
        const { blobs, read } = stored(tree)
        const blob = blobs.get(kind)!
        blob[at % blob.length]! ^= flip
        if (['head 0', 'locked 1', 'leaves 1'].includes(kind)) await expect(look(read)).rejects.toThrow(LeafLayoutError)
        else expect(await look(read)).toMatchObject({ index: 444, locked: rows[444]!.locked })
        const whole = (async () => readStoredList(openHead(read('head', 0)!), read))()
        await expect(whole).rejects.toThrow(LeafLayoutError)
      }),
      { numRuns: runs(10, 200) },
    )
    const bare = stored(buildTree(listFromEntries(rows.map((row) => ({ ...row, locked: 0n })))))
    const cases: [string, (blobs: Map<string, Uint8Array>) => void][] = [
      ['missing', (blobs) => blobs.delete('locked 1')],
      ['cut', (blobs) => blobs.set('locked 1', blobs.get('locked 1')!.subarray(8))],
      ['empty', (blobs) => blobs.set('locked 1', new Uint8Array())],
      ['of another chunk', (blobs) => blobs.set('locked 1', blobs.get('locked 0')!)],
      ['under a head without', (blobs) => blobs.set('head 0', bare.blobs.get('head 0')!)],
    ]
    for (const [what, harm] of cases) {
      const { blobs, read } = stored(tree)
      harm(blobs)
      await expect(look(read), what).rejects.toThrow(LeafLayoutError)
    }
  })
})
