/** Allowlists of raises: reading them, their tree against a naive one, and proofs from pieces. */
import { base58 } from '@scure/base'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type AllowlistPiece,
  allowanceAt,
  allowlistOf,
  allowlistSummary,
  allowlistTree,
  entryKey,
  firstLost,
  piecesOf,
  proofIn,
  repeatedWarnings,
} from '../../src/merkle/allowlist.ts'
import { buildAllowlist } from '../../src/merkle/built-tree.ts'
import { ALLOWLIST_FORM } from '../../src/merkle/column-plan.ts'
import { type CsvOptions, readCsv } from '../../src/merkle/csv.ts'
import { issueLine, LeafLayoutError, MerkleInputError } from '../../src/merkle/errors.ts'
import { createTreePool } from '../../src/merkle/pool.ts'
import { hashFromHex, toHex } from '../../src/merkle/tree.ts'
import { itInSoak, runs } from '../support/runs.ts'
import { sha256, u64, walletOf } from './reference.ts'

const [A, B, C] = [walletOf(1), walletOf(2), walletOf(3)]
const MAX_U64 = 2n ** 64n - 1n

interface Entry {
  wallet: string
  round: number
  cap: bigint
}

const read = (text: string, options: CsvOptions = {}) =>
  readCsv(Buffer.from(text), { name: 'list.csv', form: ALLOWLIST_FORM, ...options })

const listOf = (text: string, options: CsvOptions = {}) => allowlistOf(read(text, options))

const entriesOf = (text: string, options: CsvOptions = {}) => {
  const list = listOf(text, options)
  return Array.from({ length: list.count }, (_, i) => {
    const { wallet, round, cap } = allowanceAt(list, i)
    return `${wallet} ${round} ${cap}`
  }).sort()
}

function faults(act: () => unknown): string[] {
  try {
    act()
  } catch (error) {
    if (error instanceof MerkleInputError) return error.issues.map(issueLine)
    throw error
  }
  throw new Error('the list was read')
}

const bodyOf = (entries: unknown) => Buffer.from(JSON.stringify({ entries }))
const entryOf = ({ wallet, round, cap }: Entry) => ({ wallet, cap: String(cap), round })
const csvOf = (entries: readonly Entry[]) =>
  `wallet,cap,round\n${entries.map(({ wallet, round, cap }) => `${wallet},${cap},${round}\n`).join('')}`

/** The tree of the program, written from its source alone; keys are wallet and round. */
function naiveTree(entries: readonly Entry[]): { root: string; proofs: Map<string, string[]> } {
  const packed = entries.map(({ wallet, round, cap }) => ({
    key: `${wallet} ${round}`,
    bytes: Buffer.concat([base58.decode(wallet), Buffer.of(round - 1), u64(cap)]),
  }))
  packed.sort((a, b) => Buffer.compare(a.bytes, b.bytes))
  let level = packed.map(({ bytes }) => sha256(Buffer.of(0), sha256(bytes)))
  const proofs = new Map(packed.map(({ key }) => [key, [] as string[]]))
  for (let depth = 0; level.length > 1; depth++) {
    const below = level
    for (const [i, { key }] of packed.entries()) {
      const at = i >> depth
      proofs.get(key)?.push((below[at ^ 1] ?? below[at]!).toString('hex'))
    }
    level = []
    for (let i = 0; i < below.length; i += 2) {
      const pair = [below[i]!, below[i + 1] ?? below[i]!].sort(Buffer.compare)
      level.push(sha256(Buffer.of(1), ...pair))
    }
  }
  return { root: level[0]!.toString('hex'), proofs }
}

const entriesFor = (count: number): Entry[] =>
  Array.from({ length: count }, (_, i) => ({
    wallet: walletOf(i >> 1),
    round: 1 + (i & 1) + 2 * ((i >> 1) & 1),
    cap: (BigInt(i) * 0x9e3779b97f4a7c15n) % 2n ** 64n || 1n,
  }))

/** The proof of an entry from the piece that a store would find: the last one that does not begin after it. */
function proofOf(pieces: readonly AllowlistPiece[], root: string, { wallet, round }: Omit<Entry, 'cap'>) {
  const key = entryKey(base58.decode(wallet), round)
  const piece = pieces.filter(({ first }) => first <= key).at(-1)
  return piece && proofIn(piece, key, hashFromHex(root)!)
}

describe('the CSV of an allowlist', () => {
  it.each([
    ['without a header', `${A},5\n${B},6\n`],
    ['with a header', `wallet,cap\n${A},5\n${B},6\n`],
    ['with the names of airdrop lists', `address,amount\n${A},5\n${B},6\n`],
    ['with the names of other tools', `wallet,deposit_cap\n${A},5\n${B},6\n`],
    ['with a round', `wallet,cap,round\n${A},5,1\n${B},6,1\n`],
    ['with columns turned', `Round;Cap;Wallet\n1;5;${A}\n1;6;${B}\n`],
    ['with a note', `wallet,cap,note\n${A},5,first\n${B},6,\n`],
  ])('is read %s', (_, text) => {
    expect(entriesOf(text)).toEqual([`${A} 1 5`, `${B} 1 6`].sort())
  })

  it('counts rounds from 1 to 5, and caps in whole tokens with decimals', () => {
    const text = `wallet,cap,round\n${A},1.5,1\n${A},2,5\n${B},18446744073.709551615,2\n`
    expect(entriesOf(text, { decimals: 9 })).toEqual(
      [`${A} 1 1500000000`, `${A} 5 2000000000`, `${B} 2 ${MAX_U64}`].sort(),
    )
  })

  it('takes the columns that flags name', () => {
    const text = `who,most,round,score\n${A},5,2,9\n`
    const columns = { wallet: 'who', amount: 'most', ignore: ['score'] }
    expect(entriesOf(text, { columns })).toEqual([`${A} 2 5`])
  })

  it.each([
    [
      'a wallet twice in one round',
      `wallet,cap,round\n${A},5,1\n${A},6,2\n${A},7,2\n`,
      `list.csv:4:1: wallet ${A} is listed twice in round 2 (remove a row), first at 3:1`,
    ],
    [
      'a wallet twice without rounds',
      `${A},5\n${A},5\n`,
      `list.csv:2:1: wallet ${A} is listed twice in round 1 (remove a row), first at 1:1`,
    ],
    ['round 0', `wallet,cap,round\n${A},5,0\n`, 'list.csv:2:48: round "0" is not a round: rounds count from 1 to 5'],
    ['round 6', `wallet,cap,round\n${A},5,6\n`, 'list.csv:2:48: round "6" is not a round: rounds count from 1 to 5'],
    [
      'an empty round',
      `wallet,cap,round\n${A},5,\n`,
      'list.csv:2:48: round "" is not a round: rounds count from 1 to 5',
    ],
    [
      'a round without a header',
      `${A},5,1\n`,
      'list.csv:1:46: "5,1" reads as a decimal comma; write 5.1, or begin the file with a header, as in wallet,cap,round',
    ],
    ['no cap', `wallet,cap\n${A},\n`, 'list.csv:2:46: the amount is empty'],
    ['a negative cap', `wallet,cap\n${A},-5\n`, 'list.csv:2:46: amount "-5": an amount has no sign'],
    [
      'an unknown column of numbers',
      `wallet,cap,registry\n${A},5,0\n`,
      'list.csv:2:48: "registry" is not a known name, and holds numbers ("0"), which could decide who is paid, what or when: leave it out with --ignore-column registry, or rename it',
    ],
    [
      'two caps',
      `wallet,cap,amount\n${A},5,6\n`,
      'list.csv:1:12: cap and amount could both be the amount: say which with --amount-column',
    ],
    ['a receipt', `wallet,cap,status\n${A},5,paid\n`, expect.stringContaining('this is a receipt')],
    ['nothing', '', 'list.csv:1:1: no rows; a row is wallet,cap'],
    [
      'one column',
      `${A}\n`,
      'list.csv:1:1: only one column; a row is wallet,cap separated by a comma, a semicolon or a tab',
    ],
    ['a web page', '<!doctype html>', expect.stringContaining('the file is a web page')],
  ])('is refused with %s', (_, text, line) => {
    expect(faults(() => read(text))[0]).toEqual(line)
  })

  it('is refused with a wallet in wrong case, in another round too', () => {
    const swapped = (text: string) =>
      [...text]
        .map((letter) => (letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()))
        .join('')
    const other = Array.from({ length: 5_000 }, (_, i) => walletOf(i)).find((wallet) => {
      try {
        return base58.decode(swapped(wallet)).length === 32
      } catch {
        return false
      }
    })
    if (other === undefined) throw new Error('no wallet has a twin')
    const lines = faults(() => read(`wallet,cap,round\n${other},5,1\n${swapped(other)},5,2\n`))
    expect(lines[0]).toMatch(/differs only in upper and lower case/)
  })

  it('keeps names of rounds and caps unknown in the list of an airdrop', () => {
    const lines = faults(() => readCsv(Buffer.from(`wallet,amount,round\n${A},5,1\n`), { name: 'list.csv' }))
    expect(lines[0]).toContain('"round" is not a known name')
    expect(readCsv(Buffer.from(`wallet,amount,round\n${A},5,seed\n`)).list.count).toBe(1)
  })
})

describe('the body of an allowlist', () => {
  it('has the root of the CSV, in any order of its rows', () => {
    const entries = entriesFor(300)
    const { root } = naiveTree(entries)
    expect(buildAllowlist(bodyOf(entries.map(entryOf))).root).toBe(root)
    expect(buildAllowlist(bodyOf(entries.toReversed().map(entryOf))).root).toBe(root)
    expect(toHex(allowlistTree(listOf(csvOf(entries))).root)).toBe(root)
  })

  it('takes round 1 if it names none, and escaped names', () => {
    const plain = buildAllowlist(bodyOf([{ wallet: A, cap: '5', round: 1 }])).root
    expect(buildAllowlist(bodyOf([{ wallet: A, cap: '5' }])).root).toBe(plain)
    expect(buildAllowlist(Buffer.from(`{"entries":[{"wallet":"${A}","\\u0063ap":"5","roun\\u0064":1}]}`)).root).toBe(
      plain,
    )
  })

  it.each([
    ['round 0', [{ wallet: A, cap: '5', round: 0 }], 'entries.0.round: "0" is not a round: rounds count from 1 to 5'],
    ['round 6', [{ wallet: A, cap: '5', round: 6 }], 'entries.0.round: "6" is not a round: rounds count from 1 to 5'],
    [
      'a round in words',
      [{ wallet: A, cap: '5', round: '1' }],
      String.raw`entries.0.round: "\"1\"" is not a round: rounds count from 1 to 5`,
    ],
    ['a cap as a number', [{ wallet: A, cap: 5 }], 'entries.0.cap: must be a digit string of base units'],
    ['no cap', [{ wallet: A }], 'entries.0.cap: is required'],
    [
      'an amount',
      [{ wallet: A, amount: '5' }],
      'entries.0.amount: is not a field of an entry, which has wallet, cap and round',
    ],
    [
      'a wallet twice',
      [
        { wallet: A, cap: '5', round: 2 },
        { wallet: A, cap: '6', round: 2 },
      ],
      `entries.1.wallet: ${A} is listed twice in round 2, first at entries.0; remove one`,
    ],
    ['no entries', [], 'entries: must hold 1 to 50000 entries, has 0'],
    ['no object', [5], 'entries.0: must be an object { wallet, cap, round? }'],
  ])('is refused with %s', (_, entries, line) => {
    expect(faults(() => buildAllowlist(bodyOf(entries)))).toContain(line)
  })

  it('is refused with a field of another request', () => {
    expect(faults(() => buildAllowlist(Buffer.from(`{"entries":[{"wallet":"${A}","cap":"5"}],"decimals":6}`)))).toEqual(
      ['decimals: is not a field of this request'],
    )
  })

  it('is built by the worker thread of trees', async () => {
    const pool = createTreePool()
    const entries = entriesFor(700)
    try {
      const built = await pool.buildAllowlist(bodyOf(entries.map(entryOf)))
      expect(built).toMatchObject({ count: 700, root: naiveTree(entries).root })
      expect(proofOf(built.pieces, built.root, entries[699]!)?.cap).toBe(entries[699]!.cap)
      await expect(pool.buildAllowlist(bodyOf([]))).rejects.toThrow('must hold 1 to 50000 entries')
    } finally {
      await pool.close()
    }
  })
})

describe('the tree of an allowlist', () => {
  it('has the naive root and proofs at every size', { tags: 'sampled' }, () => {
    for (let size = 1; size <= runs(40, 600); size++) {
      const entries = entriesFor(size)
      const { root, proofs } = naiveTree(entries)
      const tree = allowlistTree(listOf(csvOf(entries)))
      expect(toHex(tree.root)).toBe(root)
      const pieces = [...piecesOf(tree)]
      for (const entry of [entries[0]!, entries[size >> 1]!, entries[size - 1]!]) {
        const found = proofOf(pieces, root, entry)
        expect(found).toMatchObject(entry)
        expect(found?.proof.map(toHex)).toEqual(proofs.get(`${entry.wallet} ${entry.round}`))
      }
    }
  })

  it('has the naive root and proofs of any list', () => {
    const anyEntry = fc.record({
      wallet: fc.nat(20).map(walletOf),
      round: fc.integer({ min: 1, max: 5 }),
      cap: fc.bigInt({ min: 0n, max: MAX_U64 }),
    })
    const anyList = fc.uniqueArray(anyEntry, { minLength: 1, selector: ({ wallet, round }) => `${wallet} ${round}` })
    fc.assert(
      fc.property(anyList, (entries) => {
        const { root, proofs } = naiveTree(entries)
        const tree = allowlistTree(listOf(csvOf(entries)))
        expect(toHex(tree.root)).toBe(root)
        for (const entry of entries) {
          const found = proofOf([...piecesOf(tree)], root, entry)
          expect(found).toMatchObject(entry)
          expect(found?.proof.map(toHex)).toEqual(proofs.get(`${entry.wallet} ${entry.round}`))
        }
      }),
    )
  })

  itInSoak('has proofs of 16 hashes in a list of 50,000, each from one piece', () => {
    const entries = entriesFor(50_000)
    const { root, proofs } = naiveTree(entries)
    const tree = allowlistTree(listOf(csvOf(entries)))
    expect(toHex(tree.root)).toBe(root)
    const pieces = [...piecesOf(tree)]
    expect(pieces).toHaveLength(196)
    for (const i of [0, 1, 255, 256, 24_999, 49_998, 49_999]) {
      const entry = entries[i]!
      const found = proofOf(pieces, root, entry)
      expect(found?.proof).toHaveLength(16)
      expect(found?.proof.map(toHex)).toEqual(proofs.get(`${entry.wallet} ${entry.round}`))
    }
    expect(proofOf(pieces, root, { wallet: entries[0]!.wallet, round: 5 })).toBeUndefined()
    expect(proofOf(pieces, root, { wallet: walletOf(-1), round: 1 })).toBeUndefined()
  })

  it('never proves from a piece that was altered, or that is of another root', () => {
    const entries = entriesFor(600)
    const tree = allowlistTree(listOf(csvOf(entries)))
    const root = toHex(tree.root)
    const [piece] = piecesOf(tree)
    if (piece === undefined) throw new Error('there is a piece')
    const { wallet, round } = allowanceAt(tree.list, 3)
    const key = entryKey(base58.decode(wallet), round)
    const flipped = (bytes: Uint8Array, at: number) => bytes.map((byte, i) => (i === at ? byte ^ 1 : byte))
    const alter = (altered: Partial<AllowlistPiece>) => () => proofIn({ ...piece, ...altered }, key, hashFromHex(root)!)
    expect(alter({})()).toMatchObject({ wallet, round })
    expect(alter({ entries: flipped(piece.entries, 40) })).toThrow(LeafLayoutError)
    expect(alter({ path: flipped(piece.path, 0) })).toThrow(LeafLayoutError)
    expect(alter({ entries: piece.entries.subarray(0, 1_000) })).toThrow(LeafLayoutError)
    expect(alter({ path: piece.path.subarray(1) })).toThrow(LeafLayoutError)
    expect(() => proofIn(piece, key, sha256(Buffer.of(1)))).toThrow(LeafLayoutError)
  })
})

describe('the summary of an allowlist', () => {
  it('says caps and wallets of each round, and which wallets are in several', () => {
    const text = `wallet,cap,round\n${A},5,1\n${A},7,3\n${A},1,4\n${B},9,3\n${C},2,3\n`
    const summary = allowlistSummary(listOf(text))
    expect(summary.rounds).toMatchObject([
      { round: 1, wallets: 1, total: 5n },
      { round: 3, wallets: 3, total: 18n, least: { wallet: C, cap: 2n }, most: { wallet: B, cap: 9n } },
      { round: 4, wallets: 1, total: 1n },
    ])
    expect(repeatedWarnings(summary)).toEqual([`1 wallet is in more than one round, where its caps add up: ${A}`])
    expect(repeatedWarnings(allowlistSummary(listOf(`${A},5\n${B},5\n`)))).toEqual([])
  })

  it('says which addresses are not wallets', () => {
    const system = '11111111111111111111111111111111'
    const { warnings } = buildAllowlist(bodyOf([{ wallet: system, cap: '5' }]))
    expect(warnings[0]).toMatch(/^1 of 1 addresses are not wallets, so nobody could buy with them: entries\.0 1111/)
  })
})

describe('a longer allowlist', () => {
  const bytesOf = (text: string) => listOf(`wallet,cap,round\n${text}`).bytes

  it('keeps every wallet of the earlier one, with at least its cap', () => {
    const before = bytesOf(`${A},5,1\n${B},6,2\n`)
    expect(firstLost(before, before)).toBeUndefined()
    expect(firstLost(before, bytesOf(`${C},1,1\n${A},5,1\n${A},1,2\n${B},7,2\n`))).toBeUndefined()
    expect(firstLost(before, bytesOf(`${A},5,1\n${B},5,2\n`))).toEqual({ wallet: B, round: 2, cap: 6n })
    expect(firstLost(before, bytesOf(`${A},5,1\n${B},6,1\n`))).toEqual({ wallet: B, round: 2, cap: 6n })
    expect(firstLost(before, bytesOf(`${B},6,2\n`))).toEqual({ wallet: A, round: 1, cap: 5n })
  })
})
