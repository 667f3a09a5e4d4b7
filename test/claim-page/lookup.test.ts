/** Every wallet of any list is found in two files and proven, no other is, and no changed byte goes unseen. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ClaimSubject, subjectOf } from '../../src/claim-page/browser/site-files.ts'
import { lookUpWallet } from '../../src/claim-page/browser/wallet-lookup.ts'
import { indexEntries, indexRoot, listFault } from '../../src/claim-page/browser/whole-list.ts'
import { keyFromBase58 } from '../../src/merkle/base58.ts'
import { entryAt, listFromEntries } from '../../src/merkle/entry-list.ts'
import { buildTree, proofAt } from '../../src/merkle/tree.ts'
import { siteFiles } from '../support/claim-site.ts'
import { inSoak, runs } from '../support/runs.ts'
import { wallet as someWallet } from '../support/trees.ts'

const CLUSTER = { genesis_hash: someWallet(1), name: null, chain: 'solana:localnet' }

/** A site over trees of these sizes; wallets of later trees overlap those of earlier ones. */
function siteOf(sizes: readonly number[], isLocked = false) {
  const trees = sizes.map((size, t) => ({
    id: `tree-${t}`,
    mint: someWallet(2),
    distributor: someWallet(3 + t),
    list: listFromEntries(
      Array.from({ length: size }, (_, n) => ({
        wallet: someWallet(10 + n + t * 7),
        amount: BigInt(n) * 1_000_003n,
        locked: isLocked && n % 3 === 0 ? BigInt(n + 1) : 0n,
      })),
    ),
  }))
  const files = siteFiles(trees, CLUSTER)
  const subject: ClaimSubject = subjectOf(JSON.parse(files.get('airdrops.json')!.toString()), 'airdrops.json')
  const reads: string[] = []
  const read = async (path: string, most: number) => {
    reads.push(path)
    const bytes = files.get(path)
    if (bytes === undefined || bytes.length > most) throw new Error(`no ${path}`)
    return new Uint8Array(bytes)
  }
  return { trees, files, subject, read, reads }
}

describe('a lookup on the claim page', () => {
  it('finds each wallet with its amounts and proof, in one index file and one rows file per tree', {
    tags: 'sampled',
  }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 3 }),
        fc.boolean(),
        fc.nat(),
        async (sizes, isLocked, pick) => {
          const { trees, subject, read, reads } = siteOf(sizes, isLocked)
          const { list } = trees[pick % trees.length]!
          const { wallet } = entryAt(list, pick % list.count)
          const found = await lookUpWallet(subject, keyFromBase58(wallet)!, read)
          const expected = trees.flatMap(({ id, list: each }) =>
            Array.from({ length: each.count }, (_, leaf) => ({ id, leaf, each }))
              .filter(({ leaf }) => entryAt(each, leaf).wallet === wallet)
              .map(({ leaf }) => {
                const { amount, locked } = entryAt(each, leaf)
                return { id, leaf, amount, locked, proof: proofAt(buildTree(each), leaf) }
              }),
          )
          const seen = found.map(({ airdrop, leaf, amount, locked, proof }) => ({
            id: airdrop.id,
            leaf,
            amount,
            locked,
            proof: proof.map((each) => new Uint8Array(each)),
          }))
          expect(seen).toEqual(expected)
          expect(reads.length).toBe(1 + expected.length)
        },
      ),
      { numRuns: runs(3, 25) },
    )
  })

  it('finds no unlisted wallet, and proves it by the same index', async () => {
    const { subject, read, reads } = siteOf([600, 300])
    for (let n = 5_000; n < 5_040; n++)
      expect(await lookUpWallet(subject, keyFromBase58(someWallet(n))!, read)).toEqual([])
    expect(reads.every((path) => path.startsWith('index/'))).toBe(true)
  })

  it('refuses a file with a changed, missing or added byte', { tags: 'sampled' }, async () => {
    const { subject, read, trees } = siteOf([500, 200])
    const key = keyFromBase58(entryAt(trees[0]!.list, 250).wallet)!
    await fc.assert(
      fc.asyncProperty(
        fc.boolean(),
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        fc.constantFrom('flip', 'cut', 'add'),
        async (isIndex, at, bits, kind) => {
          const changed = async (path: string, most: number) => {
            const bytes = await read(path, most)
            if (path.startsWith('index/') !== isIndex) return bytes
            if (kind === 'cut') return bytes.subarray(0, bytes.length - 1 - (at % bytes.length))
            if (kind === 'add') return Uint8Array.of(...bytes, bits)
            bytes[at % bytes.length]! ^= bits
            return bytes
          }
          await expect(lookUpWallet(subject, key, changed)).rejects.toMatchObject({ key: 'listTampered' })
        },
      ),
      { numRuns: runs(16, 80) },
    )
  })
})

describe('the check of the whole list', () => {
  it('passes for every site, and fails for a changed byte, a changed sum, and an index of other wallets', {
    tags: 'sampled',
  }, async () => {
    for (const sizes of inSoak ? [[1], [2, 1], [700], [300, 257, 40]] : [[1], [70, 65]]) {
      for (const isLocked of [false, true]) {
        const { files, subject } = siteOf(sizes, isLocked)
        const parts = []
        for (const airdrop of subject.airdrops) {
          const rows = new Uint8Array(files.get(`${airdrop.id}/list.bin`)!)
          expect(await listFault(rows, airdrop)).toBeNull()
          expect(await listFault(rows, { ...airdrop, root: '00'.repeat(32) })).toBe('listRootDiffers')
          expect(await listFault(rows, { ...airdrop, total: airdrop.total + 1n })).toBe('listSumDiffers')
          parts.push(indexEntries(rows, airdrop, subject.index.bits))
          const flipped = rows.slice()
          flipped[rows.length - 1]! ^= 1
          expect(await listFault(flipped, airdrop)).toBe('listHashDiffers')
        }
        expect(await indexRoot(parts, subject)).toBe(subject.index.root)
        parts[0]!.entries[3]! ^= 1
        expect(await indexRoot(parts, subject)).not.toBe(subject.index.root)
      }
    }
  })
})
