/** Trees and proofs against a naive implementation and against merkletreejs. */
import fc from 'fast-check'
import { MerkleTree as MerkleTreeJs } from 'merkletreejs'
import { describe, expect, it } from 'vitest'
import { keyFromBase58 } from '../../src/merkle/base58.ts'
import { findWallet, listFromEntries, listHash, totalAmount } from '../../src/merkle/entry-list.ts'
import { buildTree, hashFromHex, proofAt, toHex, verifyProof } from '../../src/merkle/tree.ts'
import { inSoak, runs } from '../support/runs.ts'
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
  it('has the root and the proofs of the naive tree at every size', { tags: 'sampled' }, () => {
    const most = runs(35, 300)
    const all = recipientsOf(most)
    for (let size = 1; size <= most; size++) {
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

  it('has the naive root and proofs when it is large', { tags: 'sampled' }, () => {
    const size = runs(2_000, 50_000)
    const recipients = recipientsOf(size)
    const levels = naiveLevels(recipients)
    const tree = buildTree(listFromEntries(recipients))
    expect(toHex(tree.root)).toBe(levels.at(-1)![0]!.toString('hex'))
    for (const index of [0, 1, 255, 256, size / 2 - 1, size - 2, size - 1]) {
      const proof = proofAt(tree, index).map(toHex)
      expect(proof).toHaveLength(Math.ceil(Math.log2(size)))
      expect(proof).toEqual(naiveProof(levels, index))
    }
  })

  it('has the root of merkletreejs with sorted pairs and duplicated odd nodes', () => {
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

  it('cannot be empty, and has no proof for a leaf outside it', () => {
    expect(() => buildTree({ count: 0, bytes: new Uint8Array() })).toThrow('at least one leaf')
    const tree = buildTree(listFromEntries(recipientsOf(5)))
    for (const index of [-1, 5, 1.5, Number.NaN]) expect(() => proofAt(tree, index)).toThrow('is not in a tree of 5')
  })

  it('reports its progress, at most every 16,384 rows and once at the end', () => {
    const calls: [number, number, string][] = []
    const list = listFromEntries(recipientsOf(32_770))
    buildTree(list, { onProgress: (done, total, stage) => calls.push([done, total, stage]) })
    expect(calls).toEqual([
      [16_384, 32_770, 'hash'],
      [32_768, 32_770, 'hash'],
      [32_770, 32_770, 'hash'],
    ])
  })
})

describe('a proof', () => {
  it('verifies for every leaf, here and in the naive implementation', { tags: 'sampled' }, () => {
    for (const size of [1, 2, 3, 7, runs(33, 256), ...(inSoak ? [257, 300] : [])]) {
      const recipients = recipientsOf(size)
      const tree = buildTree(listFromEntries(recipients))
      recipients.forEach((recipient, index) => {
        const proof = proofAt(tree, index)
        expect(verifyProof(keyFromBase58(recipient.wallet)!, recipient.amount, proof, tree.root)).toBe(true)
        expect(naiveVerify(recipient, proof.map(toHex), toHex(tree.root))).toBe(true)
      })
    }
  })

  it('fails if any byte of wallet, amount, proof or root is different', () => {
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

  it('fails if it is cut, lengthened, of another leaf, or not made of hashes', () => {
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
  it('has a total, a hash and the place of each wallet', () => {
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

  it('has an exact total above u64', () => {
    const recipients = recipientsOf(1000).map(({ wallet }) => ({ wallet, amount: 2n ** 64n - 1n }))
    expect(totalAmount(listFromEntries(recipients))).toBe(1000n * (2n ** 64n - 1n))
  })

  it('refuses a bad or repeated wallet and an amount above u64 with the place', () => {
    const [a, b] = recipientsOf(2)
    expect(() => listFromEntries([a!, { ...b!, wallet: 'nope' }])).toThrow('entries.1.wallet')
    expect(() => listFromEntries([a!, b!, a!])).toThrow(/entries\.2\.wallet.*already at entries\.0/)
    expect(() => listFromEntries([{ ...a!, amount: 2n ** 64n }])).toThrow('not a u64')
  })
})

describe('a hash in hex', () => {
  it('is read with and without 0x, and nothing else is accepted', () => {
    const hex = 'ab'.repeat(32)
    expect(toHex(hashFromHex(hex)!)).toBe(hex)
    expect(toHex(hashFromHex(`0x${hex.toUpperCase()}`)!)).toBe(hex)
    for (const text of ['', '0x', hex.slice(1), `${hex}0`, `g${hex.slice(1)}`, ` ${hex}`]) {
      expect(hashFromHex(text)).toBeUndefined()
    }
  })
})
