/** The stored form of a tree: proofs from it, and what happens when a byte of it rots. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { keyFromBase58 } from '../../src/merkle/base58.ts'
import { listFromBytes, listFromEntries, walletAt } from '../../src/merkle/entry-list.ts'
import { LeafLayoutError } from '../../src/merkle/errors.ts'
import {
  blobsOf,
  encodeTree,
  lookUpProof,
  openChunk,
  openHead,
  proofFromChunk,
  readStoredList,
} from '../../src/merkle/stored-tree.ts'
import { buildTree, type MerkleTree, proofAt, toHex, verifyProof } from '../../src/merkle/tree.ts'
import { runs } from '../support/runs.ts'
import { recipientsOf, sha256, walletOf } from './reference.ts'

function stored(tree: MerkleTree) {
  const blobs = new Map<string, Uint8Array>()
  // Copies at an odd offset, as a database driver may hand them out.
  for (const { kind, n, bytes } of blobsOf(encodeTree(tree))) {
    const copy = Buffer.alloc(bytes.length + 1).subarray(1)
    copy.set(bytes)
    blobs.set(`${kind} ${n}`, copy)
  }
  return { blobs, read: (kind: string, n: number) => blobs.get(`${kind} ${n}`) }
}

const treeOf = (size: number) => buildTree(listFromEntries(recipientsOf(size)))

describe('a stored tree', () => {
  it('gives amount and proof of every wallet, and the whole list', { tags: 'sampled' }, async () => {
    for (const size of [1, 2, 3, 255, 256, 257, 511, 513, 1000]) {
      const tree = treeOf(size)
      const { read } = stored(tree)
      const head = openHead(read('head', 0)!, tree.root)
      expect([head.count, toHex(head.root)]).toEqual([size, toHex(tree.root)])
      for (let index = 0; index < size; index += size < 4 ? 1 : runs(29, size > 300 ? 13 : 1)) {
        const wallet = walletAt(tree.list, index)
        const found = await lookUpProof(head, wallet, read)
        expect(found?.index).toBe(index)
        expect(found?.proof.map(toHex)).toEqual(proofAt(tree, index).map(toHex))
        expect(verifyProof(wallet, found!.amount, found!.proof, tree.root)).toBe(true)
      }
      expect(Buffer.compare((await readStoredList(head, read)).bytes, tree.list.bytes)).toBe(0)
    }
  })

  it('finds no wallet that is not in it', async () => {
    const tree = treeOf(700)
    const { read } = stored(tree)
    const head = openHead(read('head', 0)!)
    for (const wallet of [new Uint8Array(32), new Uint8Array(32).fill(255), sha256(Buffer.from('x'))]) {
      expect(await lookUpProof(head, wallet, read)).toBeUndefined()
    }
  })

  it('finds wallets that differ only in their last byte', async () => {
    const bytes = new Uint8Array(600 * 40)
    for (let i = 0; i < 600; i++) {
      bytes.fill(7, i * 40, i * 40 + 32)
      bytes[i * 40 + 30] = (i * 7) >> 8
      bytes[i * 40 + 31] = i * 7
    }
    const tree = buildTree(listFromBytes(bytes))
    const { read } = stored(tree)
    const head = openHead(read('head', 0)!)
    for (let i = 0; i < 600; i += 7) expect((await lookUpProof(head, walletAt(tree.list, i), read))?.index).toBe(i)
  })

  it('opens a chunk once for many proofs, and no leaf outside it', () => {
    const tree = treeOf(300)
    const { read } = stored(tree)
    const head = openHead(read('head', 0)!)
    const chunk = openChunk(head, 1, read('leaves', 1)!)
    for (let index = 256; index < 300; index++) {
      expect(proofFromChunk(head, chunk, index).proof.map(toHex)).toEqual(proofAt(tree, index).map(toHex))
    }
    for (const index of [255, 300, -1, 256.5]) expect(() => proofFromChunk(head, chunk, index)).toThrow(RangeError)
    expect(() => openChunk(head, 2, read('leaves', 1)!)).toThrow(RangeError)
  })
})

describe('a damaged stored tree', () => {
  const tree = treeOf(600)
  const target = walletAt(tree.list, 444)

  it('is recognised by any changed byte: no wrong proof, no lost wallet', { tags: 'sampled' }, async () => {
    const kinds = ['head 0', ...[0, 1, 2].flatMap((n) => [`leaves ${n}`, `index ${n}`])]
    const damage = fc.record({
      kind: fc.constantFrom(...kinds),
      at: fc.nat(20_000),
      flip: fc.integer({ min: 1, max: 255 }),
    })
    await fc.assert(
      fc.asyncProperty(damage, async ({ kind, at, flip }) => {
        const { blobs, read } = stored(tree)
        const blob = blobs.get(kind)!
        blob[at % blob.length]! ^= flip
        try {
          const found = await lookUpProof(openHead(read('head', 0)!, tree.root), target, read)
          // Not touched by the damage: then the answer is right.
          expect(kind).not.toBe('head 0')
          expect(found?.index).toBe(444)
          expect(verifyProof(target, found!.amount, found!.proof, tree.root)).toBe(true)
        } catch (error) {
          expect(error).toBeInstanceOf(LeafLayoutError)
        }
        // Reading the whole list touches every leaf.
        if (kind.startsWith('leaves')) {
          await expect(readStoredList(openHead(read('head', 0)!), read)).rejects.toThrow(LeafLayoutError)
        }
      }),
      { numRuns: runs(15, 300) },
    )
  })

  it('is recognised if a blob is cut, missing, swapped or of another tree', async () => {
    const other = stored(buildTree(listFromEntries(recipientsOf(1200).slice(600))))
    const cases: [string, (blobs: Map<string, Uint8Array>) => void][] = [
      ['head 0 cut', (blobs) => blobs.set('head 0', blobs.get('head 0')!.subarray(0, -1))],
      ['head 0 empty', (blobs) => blobs.set('head 0', new Uint8Array())],
      ['head 0 other', (blobs) => blobs.set('head 0', other.blobs.get('head 0')!)],
      ['leaves cut', (blobs) => blobs.set('leaves 1', blobs.get('leaves 1')!.subarray(40))],
      ['leaves missing', (blobs) => blobs.delete('leaves 1')],
      ['leaves swapped', (blobs) => blobs.set('leaves 1', blobs.get('leaves 0')!)],
      ['index missing', (blobs) => [0, 1, 2].forEach((n) => void blobs.delete(`index ${n}`))],
      ['index swapped', (blobs) => [0, 1, 2].forEach((n) => void blobs.set(`index ${n}`, other.blobs.get('index 0')!))],
    ]
    for (const [what, harm] of cases) {
      const { blobs, read } = stored(tree)
      harm(blobs)
      const looked = (async () => lookUpProof(openHead(read('head', 0)!, tree.root), target, read))()
      await expect(looked, what).rejects.toThrow(LeafLayoutError)
      await expect(looked, what).rejects.toThrow(/^stored leaf layout mismatch: /)
    }
  })

  it('is recognised if its root is not the expected one', () => {
    const { read } = stored(tree)
    expect(() => openHead(read('head', 0)!, keyFromBase58(walletOf(1))!)).toThrow(/the stored root is .* expected/)
  })
})
