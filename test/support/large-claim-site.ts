/** The files that a visitor of a large claim page asks for, as large as they get. */
import { encodeBlock } from '../../src/claim-page/site/site-subject.ts'
import { buildBuckets, encodeBucket } from '../../src/claim-page/site/wallet-buckets.ts'
import { listFromBytes } from '../../src/merkle/entry-list.ts'
import { buildTree, proofAt } from '../../src/merkle/tree.ts'
import { sha256, u64 } from '../merkle/reference.ts'

function listOf50k(from: number) {
  const rows = Array.from({ length: 50_000 }, (_, i) => Buffer.concat([sha256(u64(BigInt(from + i))), u64(1n)]))
  return listFromBytes(Buffer.concat(rows))
}

/** Of so many trees of 50,000 wallets: the files of the index, and whether any of them and a block stay below 8 kB together. */
export function largestRequests(trees: number): { files: number; isSmall: boolean } {
  const first = listOf50k(0)
  const block = encodeBlock(first, 0, proofAt(buildTree(first), 0), true).length
  const index = buildBuckets(Array.from({ length: trees }, (_, i) => (i === 0 ? first : listOf50k(i * 50_000))))
  const buckets = Array.from({ length: 2 ** index.bits }, (_, i) => encodeBucket(index, i).length)
  return { files: buckets.length, isSmall: Math.max(...buckets) + block < 8_000 }
}
