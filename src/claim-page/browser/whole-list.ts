/** Recomputes a whole list: its SHA-256, its sum, the root of its tree, and the index over the lists of all trees. */
import { sha256 } from '@noble/hashes/sha2.js'
import { hexOf } from '../../solana/bytes.ts'
import { digestOf, readU64 } from './bytes.ts'
import type { ClaimSubject, PageAirdrop } from './site-files.ts'

/** Why a list differs from the published one. */
type ListFault = 'listHashDiffers' | 'listRootDiffers' | 'listSumDiffers' | 'indexDiffers'

const NODE_BYTES = 32
const ENTRY_BYTES = 12

/** The root of the tree of rows of 40 or 48 bytes. */
function rootOfRows(rows: Uint8Array, rowBytes: number): Uint8Array {
  let count = rows.length / rowBytes
  const nodes = new Uint8Array(NODE_BYTES * count)
  // WebCrypto takes ten times as long for each of the many hashes.
  const [leaf, inner, pair] = [new Uint8Array(48), new Uint8Array(33), new Uint8Array(65)]
  pair[0] = 1
  for (let i = 0; i < count; i++) {
    leaf.set(rows.subarray(i * rowBytes, (i + 1) * rowBytes))
    inner.set(sha256(leaf), 1)
    nodes.set(sha256(inner), i * NODE_BYTES)
  }
  for (; count > 1; count = (count + 1) >> 1) {
    for (let i = 0; i < count; i += 2) {
      const left = i * NODE_BYTES
      const right = i + 1 < count ? left + NODE_BYTES : left
      let difference = 0
      for (let k = 0; k < NODE_BYTES && difference === 0; k++) {
        difference = (nodes[left + k] as number) - (nodes[right + k] as number)
      }
      const [low, high] = difference <= 0 ? [left, right] : [right, left]
      pair.set(nodes.subarray(low, low + NODE_BYTES), 1)
      pair.set(nodes.subarray(high, high + NODE_BYTES), 33)
      nodes.set(sha256(pair), (i >> 1) * NODE_BYTES)
    }
  }
  return nodes.slice(0, NODE_BYTES)
}

/** The fault of a tree's rows, or null. */
export async function listFault(rows: Uint8Array, airdrop: PageAirdrop): Promise<ListFault | null> {
  const { rowBytes, leafCount, listHash, root, total } = airdrop
  if (rows.length !== rowBytes * leafCount || hexOf(await digestOf(rows)) !== listHash) return 'listHashDiffers'
  let sum = 0n
  for (let at = 0; at < rows.length; at += rowBytes) {
    sum += readU64(rows, at + 32) + (rowBytes === 48 ? readU64(rows, at + 40) : 0n)
  }
  if (sum !== total) return 'listSumDiffers'
  return hexOf(rootOfRows(rows, rowBytes)) === root ? null : 'listRootDiffers'
}

/** The entry of every wallet in the index: eight bytes of the hash, then the number of its row. */
export function indexEntries(rows: Uint8Array, { rowBytes, firstRow }: PageAirdrop, bits: number): IndexPart {
  const count = rows.length / rowBytes
  const part = { entries: new Uint8Array(ENTRY_BYTES * count), buckets: new Uint32Array(count) }
  const view = new DataView(part.entries.buffer)
  for (let i = 0; i < count; i++) {
    const hash = sha256(rows.subarray(i * rowBytes, i * rowBytes + 32))
    const first = new DataView(hash.buffer, hash.byteOffset).getUint32(0)
    part.buckets[i] = bits === 0 ? 0 : first >>> (32 - bits)
    part.entries.set(hash.subarray(4, 12), i * ENTRY_BYTES)
    view.setUint32(i * ENTRY_BYTES + 8, firstRow + i, true)
  }
  return part
}

export interface IndexPart {
  entries: Uint8Array
  buckets: Uint32Array
}

/** The root of the index with these entries, in hex. */
export async function indexRoot(parts: readonly IndexPart[], { index }: ClaimSubject): Promise<string> {
  const buckets: Uint8Array[][] = Array.from({ length: 2 ** index.bits }, () => [])
  for (const { entries, buckets: numbers } of parts) {
    numbers.forEach((bucket, i) => {
      buckets[bucket]?.push(entries.subarray(i * ENTRY_BYTES, (i + 1) * ENTRY_BYTES))
    })
  }
  let nodes: Uint8Array[] = []
  for (const bucket of buckets) nodes.push(await digestOf(Uint8Array.of(0), ...bucket.sort(byBytes)))
  while (nodes.length > 1) {
    const above: Uint8Array[] = []
    for (let i = 0; i < nodes.length; i += 2) {
      above.push(await digestOf(Uint8Array.of(1), nodes[i] as Uint8Array, nodes[i + 1] as Uint8Array))
    }
    nodes = above
  }
  return hexOf(nodes[0] as Uint8Array)
}

function byBytes(a: Uint8Array, b: Uint8Array): number {
  for (let i = 0; i < ENTRY_BYTES; i++) {
    if (a[i] !== b[i]) return (a[i] as number) - (b[i] as number)
  }
  return 0
}
