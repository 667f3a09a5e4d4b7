/** Trees and proofs against a naive implementation and against merkletreejs. */
import fc from 'fast-check'
import { MerkleTree as MerkleTreeJs } from 'merkletreejs'
import { describe, expect, it } from 'vitest'
import { keyFromBase58 } from '../../src/merkle/base58.ts'
import { findWallet, listFromEntries, listHash, totalAmount } from '../../src/merkle/entry-list.ts'
import { buildTree, hashFromHex, proofAt, toHex, verifyProof } from '../../src/merkle/tree.ts'
import {
  anyRecipients,
  naiveLeaf,
  naiveLevels,
  naiveProof,
  naiveRoot,
  naiveVerify,
  recipientsOf,
  sha256,
  u64,
} from './reference.ts'

describe('a merkle tree', () => {
  it('has the root and the proofs of the naive tree at every size from 1 to 300', () => {
    const all = recipientsOf(300)
    for (let size = 1; size <= 300; size++) {
      const recipients = all.slice(0, size)
      const levels = naiveLevels(recipients)
      const tree = buildTree(listFromEntries(recipients))
      expect(toHex(tree.root)).toBe(levels.at(-1)![0]!.toString('hex'))
      for (const index of new Set([0, size >> 1, size - 1])) {
        expect(proofAt(tree, index).map(toHex)).toEqual(naiveProof(levels, index))
      }
    }
  })

  it('has the naive root for any wallets and amounts', () => {
    fc.assert(
      fc.property(anyRecipients(40), (recipients) => {
        expect(toHex(buildTree(listFromEntries(recipients)).root)).toBe(naiveRoot(recipients))
      }),
    )
  })

  it('has the naive root and proofs at 50,000 leaves', () => {
    const recipients = recipientsOf(50_000)
    const levels = naiveLevels(recipients)
    const tree = buildTree(listFromEntries(recipients))
    expect(toHex(tree.root)).toBe(levels.at(-1)![0]!.toString('hex'))
    for (const index of [0, 1, 255, 256, 24_999, 49_998, 49_999]) {
      const proof = proofAt(tree, index).map(toHex)
      expect(proof).toHaveLength(16)
      expect(proof).toEqual(naiveProof(levels, index))
    }
  })

  it('has the root merkletreejs finds with sorted pairs and duplicated odd nodes', () => {
    const prefixed = (data: Buffer) => sha256(Buffer.from([1]), data)
    for (const size of [2, 3, 4, 5, 6, 7, 9, 12, 31, 33, 100, 257, 1000]) {
      const recipients = recipientsOf(size)
      const other = new MerkleTreeJs(recipients.map(naiveLeaf), prefixed, { sortPairs: true, duplicateOdd: true })
      const tree = buildTree(listFromEntries(recipients))
      expect(toHex(tree.root)).toBe(other.getHexRoot().slice(2))
      const siblings = other.getProof(naiveLeaf(recipients[0]!), 0).map(({ data }) => data.toString('hex'))
      expect(proofAt(tree, 0).map(toHex)).toEqual(siblings)
    }
  })

  it('is the same each time, whatever was built in between', () => {
    const list = listFromEntries(recipientsOf(77))
    const first = toHex(buildTree(list).root)
    buildTree(listFromEntries(recipientsOf(300)))
    expect(toHex(buildTree(list).root)).toBe(first)
    // Fixed: another machine, version or run must find the same.
    expect(first).toBe('7500398825e71a528b38cdd808634da4fe08a5e332d0a72f3d79645d681da5b0')
  })

  it('depends on the order of the list', () => {
    const recipients = recipientsOf(3)
    const turned = [recipients[2]!, recipients[1]!, recipients[0]!]
    expect(toHex(buildTree(listFromEntries(turned)).root)).not.toBe(naiveRoot(recipients))
  })

  it('refuses to be empty and to prove a leaf it has not', () => {
    expect(() => buildTree({ count: 0, bytes: new Uint8Array() })).toThrow('at least one leaf')
    const tree = buildTree(listFromEntries(recipientsOf(5)))
    for (const index of [-1, 5, 1.5, Number.NaN]) expect(() => proofAt(tree, index)).toThrow('is not in a tree of 5')
  })

  it('tells how far it is, at most every 16,384 rows and once at the end', () => {
    const calls: [number, number, string][] = []
    const list = listFromEntries(recipientsOf(40_000))
    buildTree(list, { onProgress: (done, total, stage) => calls.push([done, total, stage]) })
    expect(calls).toEqual([
      [16_384, 40_000, 'hash'],
      [32_768, 40_000, 'hash'],
      [40_000, 40_000, 'hash'],
    ])
  })
})

describe('a proof', () => {
  it('verifies for every leaf, here and in the naive implementation', () => {
    for (const size of [1, 2, 3, 7, 256, 257, 300]) {
      const recipients = recipientsOf(size)
      const tree = buildTree(listFromEntries(recipients))
      recipients.forEach((recipient, index) => {
        const proof = proofAt(tree, index)
        expect(verifyProof(keyFromBase58(recipient.wallet)!, recipient.amount, proof, tree.root)).toBe(true)
        expect(naiveVerify(recipient, proof.map(toHex), toHex(tree.root))).toBe(true)
      })
    }
  })

  it('fails when any one byte of wallet, amount, proof or root is another', () => {
    const recipients = recipientsOf(100)
    const tree = buildTree(listFromEntries(recipients))
    const claim = fc.record({
      index: fc.nat(99),
      place: fc.nat(32 + 8 + 7 * 32 + 32 - 1),
      flip: fc.integer({ min: 1, max: 255 }),
    })
    fc.assert(
      fc.property(claim, ({ index, place, flip }) => {
        const { wallet, amount } = recipients[index]!
        const bytes = Buffer.concat([keyFromBase58(wallet)!, u64(amount), ...proofAt(tree, index), tree.root])
        bytes[place]! ^= flip
        const proof = Array.from({ length: 7 }, (_, d) => bytes.subarray(40 + 32 * d, 72 + 32 * d))
        const altered = verifyProof(bytes.subarray(0, 32), bytes.readBigUInt64LE(32), proof, bytes.subarray(-32))
        expect(altered).toBe(false)
      }),
    )
  })

  it('fails when it is cut, lengthened, of another leaf, or made of something else than hashes', () => {
    const recipients = recipientsOf(50)
    const tree = buildTree(listFromEntries(recipients))
    const wallet = keyFromBase58(recipients[9]!.wallet)!
    const { amount } = recipients[9]!
    const proof = proofAt(tree, 9)
    expect(verifyProof(wallet, amount, proof, tree.root)).toBe(true)
    expect(verifyProof(wallet, amount, proof.slice(0, -1), tree.root)).toBe(false)
    expect(verifyProof(wallet, amount, [...proof, tree.root], tree.root)).toBe(false)
    expect(verifyProof(wallet, amount, proofAt(tree, 10), tree.root)).toBe(false)
    expect(verifyProof(wallet, amount, [...proof.slice(0, -1), new Uint8Array(31)], tree.root)).toBe(false)
    expect(verifyProof(wallet.subarray(1), amount, proof, tree.root)).toBe(false)
    expect(verifyProof(wallet, -1n, proof, tree.root)).toBe(false)
    expect(verifyProof(wallet, amount + 2n ** 64n, proof, tree.root)).toBe(false)
  })
})

describe('a list', () => {
  it('knows its total, its hash and where a wallet stands', () => {
    fc.assert(
      fc.property(anyRecipients(30), (recipients) => {
        const list = listFromEntries(recipients)
        expect(totalAmount(list)).toBe(recipients.reduce((sum, { amount }) => sum + amount, 0n))
        const canonical = recipients.flatMap(({ wallet, amount }) => [keyFromBase58(wallet)!, u64(amount)])
        expect(listHash(list)).toBe(sha256(...canonical).toString('hex'))
        recipients.forEach(({ wallet }, index) => {
          expect(findWallet(list, keyFromBase58(wallet)!)).toBe(index)
        })
        expect(findWallet(list, sha256(Buffer.from('nobody')))).toBe(-1)
      }),
    )
  })

  it('totals more than u64 exactly', () => {
    const recipients = recipientsOf(1000).map(({ wallet }) => ({ wallet, amount: 2n ** 64n - 1n }))
    expect(totalAmount(listFromEntries(recipients))).toBe(1000n * (2n ** 64n - 1n))
  })

  it('refuses a bad or repeated wallet and an amount beyond u64 by its place', () => {
    const [a, b] = recipientsOf(2)
    expect(() => listFromEntries([a!, { ...b!, wallet: 'nope' }])).toThrow('entries.1.wallet')
    expect(() => listFromEntries([a!, b!, a!])).toThrow(/entries\.2\.wallet.*already at entries\.0/)
    expect(() => listFromEntries([{ ...a!, amount: 2n ** 64n }])).toThrow('not a u64')
  })
})

describe('a hash in hex', () => {
  it('is read with and without 0x, and nothing else is', () => {
    const hex = 'ab'.repeat(32)
    expect(toHex(hashFromHex(hex)!)).toBe(hex)
    expect(toHex(hashFromHex(`0x${hex.toUpperCase()}`)!)).toBe(hex)
    for (const text of ['', '0x', hex.slice(1), `${hex}0`, `g${hex.slice(1)}`, ` ${hex}`]) {
      expect(hashFromHex(text)).toBeUndefined()
    }
  })
})
