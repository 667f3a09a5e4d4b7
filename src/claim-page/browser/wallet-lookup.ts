/** Finds a wallet's rows among those of all trees of the page in two requests, and proves what it finds. */
import { bytesOfHex, hexOf, joinBytes } from '../../solana/bytes.ts'
import { digestOf, equalBytes, readU32, readU64 } from './bytes.ts'
import type { ProvenLeaf } from './claim-instructions.ts'
import { PageFault } from './page-fault.ts'
import { type ClaimSubject, type PageAirdrop, readSiteFile } from './site-files.ts'

/** A row of the list that was proven to be in its tree. */
export interface FoundRow extends ProvenLeaf {
  airdrop: PageAirdrop
  leaf: number
}

/** Reads a file of the site of at most that many bytes. */
type ReadFile = (path: string, most: number) => Promise<Uint8Array>

const ENTRY_BYTES = 12
const NODE_BYTES = 32
const BLOCK_ROWS = 64
const BLOCK_LEVELS = 6
const MOST_BUCKET_BYTES = 65_536
const MOST_BLOCK_BYTES = 8_192
/** Most rows of one wallet that are looked up. */
const MOST_FOUND = 64

/**
 * Returns the wallet's rows in order; no rows mean that it is not listed. Throws PageFault for a file that is not
 * genuine.
 */
export async function lookUpWallet(
  subject: ClaimSubject,
  wallet: Uint8Array,
  read: ReadFile = readSiteFile,
): Promise<FoundRow[]> {
  const numbers = await rowsInIndex(subject, wallet, read)
  return Promise.all(numbers.map((number) => rowOf(subject, number, wallet, read)))
}

/** The numbers of the wallet's rows, by the bucket of the index that its hash names. */
async function rowsInIndex({ index }: ClaimSubject, wallet: Uint8Array, read: ReadFile): Promise<number[]> {
  const hash = await digestOf(wallet)
  const bucket = index.bits === 0 ? 0 : ((hash[0] ?? 0) * 2 ** 24 + readBigEndian24(hash, 1)) >>> (32 - index.bits)
  const path = `index/${bucket}.bin`
  const damaged = () => new PageFault('listTampered', { file: path })
  const bytes = await read(path, MOST_BUCKET_BYTES)
  const size = bytes.length - NODE_BYTES * index.bits
  if (size < 0 || size % ENTRY_BYTES !== 0) throw damaged()
  const entries = bytes.subarray(0, size)
  let node = await digestOf(Uint8Array.of(0), entries)
  for (let level = 0, place = bucket; level < index.bits; level++, place >>= 1) {
    const sibling = bytes.subarray(size + NODE_BYTES * level, size + NODE_BYTES * (level + 1))
    const pair = place % 2 === 0 ? [node, sibling] : [sibling, node]
    node = await digestOf(Uint8Array.of(1), ...pair)
  }
  if (hexOf(node) !== index.root) throw damaged()
  const numbers: number[] = []
  for (let at = 0; at < size; at += ENTRY_BYTES) {
    if (!equalBytes(entries.subarray(at, at + 8), hash.subarray(4, 12))) continue
    const row = readU32(entries, at + 8)
    if (row >= index.count || numbers.length === MOST_FOUND) throw damaged()
    numbers.push(row)
  }
  return numbers.sort((a, b) => a - b)
}

const readBigEndian24 = (bytes: Uint8Array, at: number) =>
  (bytes[at] ?? 0) * 65_536 + (bytes[at + 1] ?? 0) * 256 + (bytes[at + 2] ?? 0)

/** Levels above the leaves of a tree. */
const levelsOf = (leaves: number): number => (leaves <= 1 ? 0 : 32 - Math.clz32(leaves - 1))

async function rowOf({ airdrops }: ClaimSubject, row: number, wallet: Uint8Array, read: ReadFile): Promise<FoundRow> {
  const airdrop = airdrops.findLast(({ firstRow }) => firstRow <= row)
  if (airdrop === undefined) throw new PageFault('listTampered', { file: 'airdrops.json' })
  const { rowBytes, leafCount } = airdrop
  const leaf = row - airdrop.firstRow
  const block = Math.floor(leaf / BLOCK_ROWS)
  const path = `${airdrop.id}/rows/${block}.bin`
  const bytes = await read(path, MOST_BLOCK_BYTES)
  const rows = Math.min(BLOCK_ROWS, leafCount - block * BLOCK_ROWS)
  const levels = levelsOf(leafCount)
  const above = Math.max(0, levels - BLOCK_LEVELS)
  const tampered = () => new PageFault('listTampered', { file: path })
  if (bytes.length !== rows * rowBytes + above * NODE_BYTES) throw tampered()

  const start = (leaf % BLOCK_ROWS) * rowBytes
  if (!equalBytes(bytes.subarray(start, start + 32), wallet)) throw tampered()
  let nodes = await Promise.all(
    Array.from({ length: rows }, (_, n) => leafHash(bytes.subarray(n * rowBytes, (n + 1) * rowBytes))),
  )
  const proof: Uint8Array[] = []
  let place = leaf % BLOCK_ROWS
  for (let level = 0; level < Math.min(BLOCK_LEVELS, levels); level++, place >>= 1) {
    const below = nodes
    proof.push(below[place ^ 1] ?? (below[place] as Uint8Array<ArrayBuffer>))
    nodes = await Promise.all(
      Array.from({ length: (below.length + 1) >> 1 }, (_, n) => parentOf(below[2 * n], below[2 * n + 1])),
    )
  }
  let node = nodes[place]
  for (let level = 0; level < above; level++) {
    const at = rows * rowBytes + level * NODE_BYTES
    const sibling = bytes.slice(at, at + NODE_BYTES)
    proof.push(sibling)
    node = await parentOf(node, sibling)
  }
  if (node === undefined || !equalBytes(node, bytesOfHex(airdrop.root))) throw tampered()
  const locked = rowBytes === 48 ? readU64(bytes, start + 40) : 0n
  return { airdrop, leaf, amount: readU64(bytes, start + 32), locked, proof }
}

/** SHA-256 over a zero byte and the hash of wallet, amount and locked amount, as the program computes it. */
const leafHash = async (row: Uint8Array) =>
  digestOf(Uint8Array.of(0), await digestOf(joinBytes([row, new Uint8Array(48 - row.length)])))

/** The parent of two nodes, the smaller one first; the last node of an odd level is paired with itself. */
export async function parentOf(left: Uint8Array | undefined, right = left): Promise<Uint8Array<ArrayBuffer>> {
  if (left === undefined || right === undefined) throw new RangeError('no such node')
  const at = left.findIndex((byte, place) => byte !== right[place])
  const isSorted = at === -1 || (left[at] ?? 0) < (right[at] ?? 0)
  return digestOf(Uint8Array.of(1), ...(isSorted ? [left, right] : [right, left]))
}
