/**
 * Stored form of a tree: leaves, locked amounts and a sorted wallet index in chunks of 256, and a head that verifies
 * them.
 */
import { hash } from 'node:crypto'
import {
  amountAt,
  type EntryList,
  LOCKED_BYTES,
  listFromBytes,
  lockedAt,
  RECORD_BYTES,
  walletAt,
} from './entry-list.ts'
import { LeafLayoutError } from './errors.ts'
import {
  bufferOf,
  hashLeaf,
  hashLevels,
  levelCounts,
  type MerkleTree,
  NODE_BYTES,
  siblings,
  type TreeLevels,
  toHex,
  treeOver,
} from './tree.ts'

/** Number of leaves per chunk, and the number of tree levels above them within the chunk. */
export const CHUNK_LEAVES = 256
const CHUNK_LEVELS = 8
/** Size of a directory row in the head: first wallet of an index chunk ‖ first 8 bytes of the chunk's SHA-256. */
const DIRECTORY_BYTES = 40
/** First bytes of a head: without and with locked amounts. */
const TREE_MAGIC = 'MTR1'
const LOCKED_MAGIC = 'MTR2'
const HEADER_BYTES = 8

type BlobKind = 'head' | 'leaves' | 'locked' | 'index'

/**
 * A row in the store; the only `head` has n = 0, the other kinds have n from 0 to ceil(leaves / 256) - 1. A tree
 * without
 * locked amounts has no `locked`.
 */
interface StoredBlob {
  kind: BlobKind
  n: number
  bytes: Buffer
}

/** The parts, each in its own buffer, for transfer between threads. */
export interface EncodedTree {
  head: Uint8Array
  leaves: Uint8Array
  index: Uint8Array
  /** Locked amounts of 8 bytes each; absent if all are 0. */
  locked?: Uint8Array
}

/** A decoded head: the tree levels above the chunks, and the directory of the index. */
export interface TreeHead {
  readonly count: number
  readonly chunks: number
  /** Whether the leaves have locked amounts, in separate chunks. */
  readonly hasLocked: boolean
  readonly levels: TreeLevels
  /** Merkle root of 32 bytes. */
  readonly root: Uint8Array
  readonly directory: Buffer
}

/** A verified leaf chunk with its hashes (24 KiB); it is suitable for caching. */
export interface LeafChunk {
  readonly n: number
  readonly list: EntryList
  readonly levels: TreeLevels
}

interface StoredProof {
  index: number
  /** Amount that can be claimed at once, in base units. */
  amount: bigint
  /** Locked amount in base units. */
  locked: bigint
  /** Sibling hashes from leaf to root. */
  proof: Uint8Array[]
}

/** Encodes a tree for the store. */
export function encodeTree(tree: MerkleTree): EncodedTree {
  const { list, nodes, offsets } = tree
  const index = encodeIndex(list)
  const chunks = Math.ceil(list.count / CHUNK_LEAVES)
  const upper = nodes.subarray(offsets[Math.min(CHUNK_LEVELS, offsets.length - 1)] ?? 0)
  const head = Buffer.alloc(HEADER_BYTES + upper.length + chunks * DIRECTORY_BYTES + NODE_BYTES)
  head.write(list.locked === undefined ? TREE_MAGIC : LOCKED_MAGIC, 'latin1')
  head.writeUInt32LE(list.count, 4)
  head.set(upper, HEADER_BYTES)
  let at = HEADER_BYTES + upper.length
  for (let n = 0; n < chunks; n++, at += DIRECTORY_BYTES) {
    const chunk = chunkOf(index, n, INDEX_BYTES)
    head.set(chunk.subarray(0, NODE_BYTES), at)
    head.set(hash('sha256', chunk, 'buffer').subarray(0, 8), at + NODE_BYTES)
  }
  head.set(hash('sha256', head.subarray(0, at), 'buffer'), at)
  // A copy, because the list's buffer has room for as many leaves as the text could have had.
  const leaves = new Uint8Array(list.bytes.subarray(0, list.count * RECORD_BYTES))
  const locked = list.locked && new Uint8Array(list.locked.subarray(0, list.count * LOCKED_BYTES))
  return { head, leaves, index, ...(locked === undefined ? {} : { locked }) }
}

/** Yields the rows to store as views of the encoded buffers. */
export function* blobsOf(tree: EncodedTree): Generator<StoredBlob> {
  yield { kind: 'head', n: 0, bytes: bufferOf(tree.head) }
  for (let n = 0; n * CHUNK_LEAVES * RECORD_BYTES < tree.leaves.length; n++) {
    yield { kind: 'leaves', n, bytes: bufferOf(chunkOf(tree.leaves, n, RECORD_BYTES)) }
    if (tree.locked !== undefined) yield { kind: 'locked', n, bytes: bufferOf(chunkOf(tree.locked, n, LOCKED_BYTES)) }
    yield { kind: 'index', n, bytes: bufferOf(chunkOf(tree.index, n, INDEX_BYTES)) }
  }
}

/** Decodes a head. Throws LeafLayoutError when it is truncated, altered, or not of the tree with this root. */
export function openHead(bytes: Uint8Array, root?: Uint8Array): TreeHead {
  const head = bufferOf(bytes)
  const magic = head.toString('latin1', 0, 4)
  if (head.length < HEADER_BYTES || (magic !== TREE_MAGIC && magic !== LOCKED_MAGIC))
    throw new LeafLayoutError('the head is not that of a tree')
  const count = head.readUInt32LE(4)
  const chunks = Math.ceil(count / CHUNK_LEAVES)
  const counts = levelCounts(chunks)
  const nodesEnd = HEADER_BYTES + NODE_BYTES * counts.reduce((sum, level) => sum + level, 0)
  const end = nodesEnd + chunks * DIRECTORY_BYTES
  if (count === 0 || head.length !== end + NODE_BYTES) throw new LeafLayoutError(`the head has ${head.length} bytes`)
  if (!hash('sha256', head.subarray(0, end), 'buffer').equals(head.subarray(end))) {
    throw new LeafLayoutError('the head does not match its checksum')
  }
  const stored = head.subarray(HEADER_BYTES, nodesEnd)
  const nodes = Buffer.from(stored)
  const levels = { nodes, counts, offsets: hashLevels(nodes, counts) }
  if (!nodes.equals(stored)) throw new LeafLayoutError('the head does not hash to its root')
  const own = nodes.subarray(nodes.length - NODE_BYTES)
  if (root !== undefined && !own.equals(root)) {
    throw new LeafLayoutError(`the stored root is ${toHex(own)}, expected ${toHex(root)}`)
  }
  const hasLocked = magic === LOCKED_MAGIC
  return { count, chunks, hasLocked, levels, root: own, directory: head.subarray(nodesEnd, end) }
}

/** Returns the number of the leaf chunk that contains a leaf. */
export function leafChunkOf(index: number): number {
  return Math.floor(index / CHUNK_LEAVES)
}

/** Returns the number of the only index chunk that can contain a wallet (32 bytes), or -1. */
function indexChunkOf(head: TreeHead, wallet: Uint8Array): number {
  return lastNotAfter(head.directory, DIRECTORY_BYTES, head.chunks, wallet)
}

/** Returns the leaf index of a wallet in index chunk `n`, or -1. Throws LeafLayoutError for an altered chunk. */
function findInIndex(head: TreeHead, n: number, bytes: Uint8Array, wallet: Uint8Array): number {
  const rows = leavesIn(head, n)
  const row = n * DIRECTORY_BYTES + NODE_BYTES
  const checksum = hash('sha256', bytes, 'buffer').subarray(0, 8)
  if (bytes.length !== rows * INDEX_BYTES || !checksum.equals(head.directory.subarray(row, row + 8))) {
    throw new LeafLayoutError(`index chunk ${n} does not match its checksum`)
  }
  const chunk = bufferOf(bytes)
  const place = lastNotAfter(chunk, INDEX_BYTES, rows, wallet)
  if (place < 0 || !chunk.subarray(place * INDEX_BYTES, place * INDEX_BYTES + 32).equals(wallet)) return -1
  return chunk.readUInt32LE(place * INDEX_BYTES + 32)
}

/**
 * Decodes leaf chunk `n`, with `locked` if the head says so, and rehashes its leaves (about 0.5 ms). Throws
 * LeafLayoutError when they do not lead to the root, so that a wrong proof is never returned.
 */
export function openChunk(head: TreeHead, n: number, bytes: Uint8Array, locked?: Uint8Array): LeafChunk {
  const leaves = leavesIn(head, n)
  if (bytes.length !== leaves * RECORD_BYTES) throw new LeafLayoutError(`leaf chunk ${n} has ${bytes.length} bytes`)
  const lockedBytes = locked?.length ?? 0
  if (lockedBytes !== (head.hasLocked ? leaves * LOCKED_BYTES : 0))
    throw new LeafLayoutError(`locked chunk ${n} has ${lockedBytes} bytes`)
  const list = listFromBytes(bytes, locked)
  const hashed = (i: number, out: Buffer, at: number) => hashLeaf(list, i, out, at)
  const levels = treeOver(leaves, hashed, undefined, head.chunks > 1 ? CHUNK_LEVELS : undefined)
  const expected = head.levels.nodes.subarray(n * NODE_BYTES, (n + 1) * NODE_BYTES)
  if (!expected.equals(levels.root)) {
    throw new LeafLayoutError(`leaf chunk ${n} does not hash to its node`)
  }
  return { n, list, levels }
}

/** Returns the proof of leaf `index`. Throws RangeError when this chunk does not contain it. */
export function proofFromChunk(head: TreeHead, chunk: LeafChunk, index: number): StoredProof {
  const place = index - chunk.n * CHUNK_LEAVES
  if (!Number.isInteger(index) || place < 0 || place >= chunk.list.count) {
    throw new RangeError(`leaf ${index} is not in chunk ${chunk.n}`)
  }
  const lower = siblings(chunk.levels, place)
  const upper = siblings(head.levels, chunk.n)
  const { list } = chunk
  return { index, amount: amountAt(list, place), locked: lockedAt(list, place), proof: [...lower, ...upper] }
}

/** Reads a stored blob; undefined when the row is missing. */
export type ReadBlob = (kind: BlobKind, n: number) => Promise<Uint8Array | undefined> | Uint8Array | undefined

/**
 * Returns amounts and proof of a wallet (32 bytes), or undefined when the tree does not contain it; it reads two blobs,
 * or three with locked amounts. Throws LeafLayoutError when a blob is missing or altered, or when index and leaves
 * disagree.
 */
export async function lookUpProof(
  head: TreeHead,
  wallet: Uint8Array,
  read: ReadBlob,
): Promise<StoredProof | undefined> {
  const indexChunk = indexChunkOf(head, wallet)
  if (indexChunk < 0) return undefined
  const index = findInIndex(head, indexChunk, await requireBlob(read, 'index', indexChunk), wallet)
  if (index < 0) return undefined
  const n = leafChunkOf(index)
  if (n >= head.chunks) throw new LeafLayoutError(`the index names leaf ${index} of ${head.count}`)
  const chunk = await readChunk(head, n, read)
  if (Buffer.compare(walletAt(chunk.list, index - n * CHUNK_LEAVES), wallet) !== 0) {
    throw new LeafLayoutError(`leaf ${index} is not the wallet that the index names`)
  }
  return proofFromChunk(head, chunk, index)
}

/** Reads and verifies leaf chunk `n`. Throws LeafLayoutError when a blob is missing or altered. */
export async function readChunk(head: TreeHead, n: number, read: ReadBlob): Promise<LeafChunk> {
  const leaves = await requireBlob(read, 'leaves', n)
  return openChunk(head, n, leaves, head.hasLocked ? await requireBlob(read, 'locked', n) : undefined)
}

/**
 * Returns the whole list of a stored tree after verifying every chunk; `afterChunk` can let other work run.
 */
export async function readStoredList(
  head: TreeHead,
  read: ReadBlob,
  afterChunk?: (n: number) => Promise<unknown> | undefined,
): Promise<EntryList> {
  const bytes = new Uint8Array(head.count * RECORD_BYTES)
  const column = head.hasLocked ? new Uint8Array(head.count * LOCKED_BYTES) : undefined
  for (let n = 0; n < head.chunks; n++) {
    const { list } = await readChunk(head, n, read)
    bytes.set(list.bytes, n * CHUNK_LEAVES * RECORD_BYTES)
    if (list.locked !== undefined) column?.set(list.locked, n * CHUNK_LEAVES * LOCKED_BYTES)
    await afterChunk?.(n)
  }
  return listFromBytes(bytes, column)
}

async function requireBlob(read: ReadBlob, kind: BlobKind, n: number): Promise<Uint8Array> {
  const bytes = await read(kind, n)
  if (bytes === undefined) throw new LeafLayoutError(`${kind} chunk ${n} is missing`)
  return bytes
}

function leavesIn(head: TreeHead, n: number): number {
  if (!Number.isInteger(n) || n < 0 || n >= head.chunks) throw new RangeError(`chunk ${n} of ${head.chunks}`)
  return Math.min(CHUNK_LEAVES, head.count - n * CHUNK_LEAVES)
}

function chunkOf(bytes: Uint8Array, n: number, row: number): Uint8Array {
  return bytes.subarray(n * CHUNK_LEAVES * row, (n + 1) * CHUNK_LEAVES * row)
}

/** Size of an index row in bytes. */
const INDEX_BYTES = 36

/** Returns the number of the last row whose wallet is not after `wallet`, or -1 when all are. */
function lastNotAfter(rows: Buffer, rowBytes: number, count: number, wallet: Uint8Array): number {
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >>> 1
    const at = middle * rowBytes
    if (rows.compare(wallet, 0, 32, at, at + 32) <= 0) low = middle + 1
    else high = middle
  }
  return low - 1
}

/** Encodes the index of a list. */
function encodeIndex(list: EntryList): Uint8Array {
  const { count, bytes } = list
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  // Wallet prefix and leaf index are combined in one double, because sorting numbers is far faster than sorting with a
  // callback.
  const indexBits = 32 - Math.clz32(count)
  const prefixBits = Math.min(32, 53 - indexBits)
  const room = 2 ** indexBits
  const keys = new Float64Array(count)
  for (let i = 0; i < count; i++) {
    keys[i] = (source.readUInt32BE(i * RECORD_BYTES) >>> (32 - prefixBits)) * room + i
  }
  keys.sort()
  const order = Uint32Array.from(keys, (key) => key % room)
  for (let from = 0; from < count; ) {
    const prefix = Math.floor((keys[from] ?? 0) / room)
    let to = from + 1
    while (to < count && Math.floor((keys[to] ?? 0) / room) === prefix) to++
    if (to - from > 1) {
      order.subarray(from, to).sort((a, b) => {
        const [x, y] = [a * RECORD_BYTES, b * RECORD_BYTES]
        return source.compare(source, y, y + 32, x, x + 32)
      })
    }
    from = to
  }
  const index = new Uint8Array(count * INDEX_BYTES)
  for (let i = 0, at = 0; i < count; i++, at += INDEX_BYTES) {
    const leaf = order[i] ?? 0
    // A loop is faster than calling copy() for only 32 bytes.
    for (let k = 0, from = leaf * RECORD_BYTES; k < 32; k++) index[at + k] = bytes[from + k] ?? 0
    index[at + 32] = leaf
    index[at + 33] = leaf >>> 8
    index[at + 34] = leaf >>> 16
    index[at + 35] = leaf >>> 24
  }
  return index
}
