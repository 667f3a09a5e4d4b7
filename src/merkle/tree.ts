/** Merkle tree of an airdrop in flat levels, hashed like Jito's merkle distributor. */

import { hash } from 'node:crypto'
import { MAX_U64 } from '../solana/u64.ts'
import { writeAmount } from './amounts.ts'
import { type EntryList, LOCKED_BYTES, RECORD_BYTES } from './entry-list.ts'
import { type BuildProgress, PROGRESS_ROWS } from './progress.ts'

/** Size of a node in bytes. */
export const NODE_BYTES = 32

/** All levels of a tree in `nodes`, leaves first; level d starts at byte `offsets[d]` and has `counts[d]` nodes. */
export interface TreeLevels {
  readonly nodes: Buffer
  readonly offsets: readonly number[]
  readonly counts: readonly number[]
}

export interface MerkleTree extends TreeLevels {
  readonly list: EntryList
  /** Merkle root of 32 bytes. */
  readonly root: Uint8Array
}

// A one-shot hash into a latin1 string is the fastest SHA-256 of short input in Node, because it creates no hash
// object or
// Buffer. Node's types name latin1 `binary`.
const leafInput = new Uint8Array(48)
const innerInput = Buffer.alloc(33)
const nodeInput = new Uint8Array(65)
nodeInput[0] = 1

/** Writes the leaf hash sha256(0x00 ‖ sha256(wallet ‖ amount u64 LE ‖ locked u64 LE)) of leaf `index`. */
export function hashLeaf({ bytes, locked }: EntryList, index: number, out: Buffer, at: number): void {
  const record = index * RECORD_BYTES
  for (let i = 0; i < RECORD_BYTES; i++) leafInput[i] = bytes[record + i] ?? 0
  const lockedStart = index * LOCKED_BYTES
  for (let i = 0; i < LOCKED_BYTES; i++) leafInput[RECORD_BYTES + i] = locked?.[lockedStart + i] ?? 0
  hashRecord(leafInput, out, at)
}

/** Writes the leaf hash sha256(0x00 ‖ sha256(record)). */
export function hashRecord(record: Uint8Array, out: Buffer, at: number): void {
  innerInput.write(hash('sha256', record, 'binary'), 1, NODE_BYTES, 'latin1')
  out.write(hash('sha256', innerInput, 'binary'), at, NODE_BYTES, 'latin1')
}

/** Writes the node sha256(0x01 ‖ min ‖ max) of the nodes at `a[x]` and `b[y]`; `out` may be one of them. */
export function hashPair(a: Uint8Array, x: number, b: Uint8Array, y: number, out: Buffer, at: number): void {
  let difference = 0
  for (let i = 0; i < NODE_BYTES && difference === 0; i++) difference = (a[x + i] ?? 0) - (b[y + i] ?? 0)
  const [aAt, bAt] = difference <= 0 ? [1, 33] : [33, 1]
  for (let i = 0; i < NODE_BYTES; i++) {
    nodeInput[aAt + i] = a[x + i] ?? 0
    nodeInput[bAt + i] = b[y + i] ?? 0
  }
  out.write(hash('sha256', nodeInput, 'binary'), at, NODE_BYTES, 'latin1')
}

/** Returns the number of nodes per level, leaves first; with `levels`, exactly that many levels above the leaves. */
export function levelCounts(leaves: number, levels?: number): number[] {
  const counts = [leaves]
  let count = leaves
  while (levels === undefined ? count > 1 : counts.length <= levels) {
    count = (count + 1) >> 1
    counts.push(count)
  }
  return counts
}

/**
 * Hashes the levels above the `counts[0]` nodes at the start of `nodes`; the last of an odd number pairs with itself.
 * Returns the offsets.
 */
export function hashLevels(nodes: Buffer, counts: readonly number[]): number[] {
  const offsets = [0]
  for (let d = 1; d < counts.length; d++) {
    const from = offsets[d - 1] ?? 0
    const below = counts[d - 1] ?? 0
    let to = from + NODE_BYTES * below
    offsets.push(to)
    for (let i = 0; i < below; i += 2, to += NODE_BYTES) {
      const left = from + NODE_BYTES * i
      hashPair(nodes, left, nodes, i + 1 < below ? left + NODE_BYTES : left, nodes, to)
    }
  }
  return offsets
}

/**
 * Builds the tree of a list with at least one leaf; leaves have the order of the list, so equal lists have equal roots.
 * Source: the merkle distributor program (mERK…).
 *
 * @example
 * const tree = buildTree(readCsv(bytes, { decimals: 6 }).list)
 * const proof = proofAt(tree, 0)
 */
export function buildTree(list: EntryList, options: { onProgress?: BuildProgress } = {}): MerkleTree {
  return { list, ...treeOver(list.count, (index, out, at) => hashLeaf(list, index, out, at), options.onProgress) }
}

/** Writes the hash of leaf `index`. */
type WriteLeaf = (index: number, out: Buffer, at: number) => void

/** Hashes a tree of at least one leaf; with `levels`, as `levelCounts` has them. */
export function treeOver(
  leaves: number,
  writeLeaf: WriteLeaf,
  onProgress?: BuildProgress,
  levels?: number,
): TreeLevels & { root: Uint8Array } {
  if (leaves === 0) throw new RangeError('a tree needs at least one leaf')
  const counts = levelCounts(leaves, levels)
  const nodes = Buffer.allocUnsafeSlow(NODE_BYTES * counts.reduce((sum, count) => sum + count, 0))
  for (let i = 0; i < leaves; i++) {
    writeLeaf(i, nodes, i * NODE_BYTES)
    if (onProgress && i % PROGRESS_ROWS === PROGRESS_ROWS - 1) onProgress(i + 1, leaves, 'hash')
  }
  const offsets = hashLevels(nodes, counts)
  onProgress?.(leaves, leaves, 'hash')
  return { nodes, offsets, counts, root: nodes.subarray(nodes.length - NODE_BYTES) }
}

/** Returns copies of the sibling hashes of leaf `index`, leaf to root. Throws RangeError outside the list. */
export function proofAt(tree: MerkleTree, index: number): Uint8Array[] {
  if (!Number.isInteger(index) || index < 0 || index >= tree.list.count) {
    throw new RangeError(`leaf ${index} is not in a tree of ${tree.list.count}`)
  }
  return siblings(tree, index)
}

/**
 * Returns the siblings on the first `depth` levels, by default on all below the root, starting at node `index` of the
 * lowest level. Throws RangeError for more levels than the tree has.
 */
export function siblings(levels: TreeLevels, index: number, depth = levels.counts.length - 1): Uint8Array[] {
  if (depth > levels.counts.length) throw new RangeError(`${depth} levels of a tree of ${levels.counts.length}`)
  const proof: Uint8Array[] = []
  for (let d = 0, i = index; d < depth; d++, i >>= 1) {
    const sibling = (i ^ 1) < (levels.counts[d] ?? 0) ? i ^ 1 : i
    const at = (levels.offsets[d] ?? 0) + NODE_BYTES * sibling
    proof.push(new Uint8Array(levels.nodes.subarray(at, at + NODE_BYTES)))
  }
  return proof
}

/** Whether `proof` (leaf to root) proves this wallet (32 bytes) and its amounts (base units, u64) against `root`. */
export function verifyProof(
  wallet: Uint8Array,
  amount: bigint,
  proof: readonly Uint8Array[],
  root: Uint8Array,
  locked = 0n,
): boolean {
  if (wallet.length !== 32 || root.length !== NODE_BYTES || !isAmount(amount) || !isAmount(locked)) return false
  const leaf = { count: 1, bytes: new Uint8Array(RECORD_BYTES), locked: new Uint8Array(LOCKED_BYTES) }
  leaf.bytes.set(wallet)
  writeAmount(leaf.bytes, 32, amount)
  writeAmount(leaf.locked, 0, locked)
  return proof.every((sibling) => sibling.length === NODE_BYTES) && provenRoot(leaf, 0, proof).equals(root)
}

/** Returns the root of a leaf and its proof, whose hashes have 32 bytes each, leaf to root. */
export function provenRoot(list: EntryList, index: number, proof: readonly Uint8Array[]): Buffer {
  const node = Buffer.alloc(NODE_BYTES)
  hashLeaf(list, index, node, 0)
  return climbed(node, proof)
}

/** Returns the root of the leaf of a record, as `provenRoot` does. */
export function rootOfRecord(record: Uint8Array, proof: readonly Uint8Array[]): Buffer {
  const node = Buffer.alloc(NODE_BYTES)
  hashRecord(record, node, 0)
  return climbed(node, proof)
}

/** Hashes a node with the siblings of its way up, in place. */
function climbed(node: Buffer, proof: readonly Uint8Array[]): Buffer {
  for (const sibling of proof) hashPair(node, 0, sibling, 0, node, 0)
  return node
}

const isAmount = (amount: bigint) => amount >= 0n && amount <= MAX_U64

/** Returns a Buffer that is a view of the same bytes. */
export const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)

/** Returns lower-case hex without a prefix. */
export const toHex = (bytes: Uint8Array): string => bufferOf(bytes).toString('hex')

/** Decodes a 32-byte hash in hex, with or without 0x; undefined for anything else. */
export function hashFromHex(text: string): Uint8Array | undefined {
  const [, digits] = /^(?:0x)?([0-9a-f]{64})$/i.exec(text) ?? []
  return digits === undefined ? undefined : new Uint8Array(Buffer.from(digits, 'hex'))
}
