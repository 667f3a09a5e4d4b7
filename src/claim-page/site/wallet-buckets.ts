/**
 * The index of a claim page: from the hash of a wallet to its rows in every tree of the page, in buckets under one
 * hash tree.
 */
import { hash } from 'node:crypto'
import { type EntryList, RECORD_BYTES } from '../../merkle/entry-list.ts'
import { NODE_BYTES } from '../../merkle/tree.ts'

/** Size of an entry: bytes 4 to 12 of the wallet's SHA-256 ‖ number of the row u32 LE. */
export const ENTRY_BYTES = 12
const KEY_BYTES = 8
/** Largest mean number of entries in a bucket. */
const MEAN_ENTRIES = 256
/** Rows or entries per step, a few milliseconds of work. */
const STEP = 2_048

export interface WalletBuckets {
  /** The first `bits` bits of a wallet's SHA-256 are the number of its bucket. */
  readonly bits: number
  /** Number of entries. */
  readonly count: number
  /** Root of the hash tree over the buckets, 32 bytes. */
  readonly root: Buffer
  /** Entries of all buckets, one after the other. */
  readonly entries: Buffer
  /** Place of the first entry of each bucket in `entries`, and the end of the last one. */
  readonly starts: Uint32Array
  /** Levels of the hash tree, leaves first. */
  readonly levels: readonly Buffer[]
}

/** Returns the smallest number of bits with at most 256 entries per bucket on average. */
export function bucketBits(count: number): number {
  let bits = 0
  while (count > MEAN_ENTRIES * 2 ** bits) bits++
  return bits
}

/** Builds the index over the rows of all lists, numbered in order; it yields every few milliseconds for other work. */
export function* bucketSteps(lists: readonly EntryList[]): Generator<void, WalletBuckets> {
  const count = lists.reduce((sum, list) => sum + list.count, 0)
  const bits = bucketBits(count)
  const unsorted = Buffer.allocUnsafeSlow(count * ENTRY_BYTES)
  const numbers = new Uint32Array(count)
  const starts = new Uint32Array(2 ** bits + 1)
  let row = 0
  for (const { bytes, count: rows } of lists) {
    for (let i = 0; i < rows; i++, row++) {
      const digest = hash('sha256', bytes.subarray(i * RECORD_BYTES, i * RECORD_BYTES + 32), 'buffer')
      const bucket = bits === 0 ? 0 : digest.readUInt32BE(0) >>> (32 - bits)
      digest.copy(unsorted, row * ENTRY_BYTES, 4, 4 + KEY_BYTES)
      unsorted.writeUInt32LE(row, row * ENTRY_BYTES + KEY_BYTES)
      numbers[row] = bucket
      starts[bucket + 1] = (starts[bucket + 1] ?? 0) + 1
      if (row % STEP === STEP - 1) yield
    }
  }
  for (let bucket = 0; bucket < 2 ** bits; bucket++) starts[bucket + 1] = at(starts, bucket + 1) + at(starts, bucket)
  const entries = Buffer.allocUnsafeSlow(count * ENTRY_BYTES)
  const next = starts.slice()
  for (row = 0; row < count; row++) {
    const bucket = at(numbers, row)
    const place = at(next, bucket)
    next[bucket] = place + 1
    unsorted.copy(entries, place * ENTRY_BYTES, row * ENTRY_BYTES, (row + 1) * ENTRY_BYTES)
  }
  yield
  const leaves = Buffer.allocUnsafeSlow(2 ** bits * NODE_BYTES)
  for (let bucket = 0, sorted = 0; bucket < 2 ** bits; bucket++) {
    const part = entries.subarray(at(starts, bucket) * ENTRY_BYTES, at(starts, bucket + 1) * ENTRY_BYTES)
    sortEntries(part)
    hash('sha256', Buffer.concat([LEAF, part]), 'buffer').copy(leaves, bucket * NODE_BYTES)
    sorted += part.length
    if (sorted >= STEP * ENTRY_BYTES) {
      sorted = 0
      yield
    }
  }
  const levels = levelsAbove(leaves)
  return { bits, count, root: levels.at(-1) ?? leaves, entries, starts, levels }
}

/** Builds the index at once. */
export function buildBuckets(lists: readonly EntryList[]): WalletBuckets {
  const steps = bucketSteps(lists)
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

/** Encodes a bucket: its entries in the order of their bytes, then its siblings in the hash tree, bottom to top. */
export function encodeBucket({ bits, entries, starts, levels }: WalletBuckets, bucket: number): Buffer {
  const parts: Uint8Array[] = [entries.subarray(at(starts, bucket) * ENTRY_BYTES, at(starts, bucket + 1) * ENTRY_BYTES)]
  for (let level = 0; level < bits; level++) {
    const sibling = (bucket >> level) ^ 1
    parts.push(levels[level]?.subarray(sibling * NODE_BYTES, (sibling + 1) * NODE_BYTES) ?? LEAF)
  }
  return Buffer.concat(parts)
}

const LEAF = Buffer.from([0])
const NODE = Buffer.from([1])

const at = (numbers: Uint32Array, place: number): number => numbers[place] ?? 0

/** A node is SHA-256(0x01 ‖ left ‖ right); the number of leaves is a power of two. */
function levelsAbove(leaves: Buffer): Buffer[] {
  const levels = [leaves]
  for (let below = leaves; below.length > NODE_BYTES; ) {
    const nodes = Buffer.allocUnsafeSlow(below.length / 2)
    for (let i = 0; i < nodes.length; i += NODE_BYTES) {
      const pair = below.subarray(2 * i, 2 * (i + NODE_BYTES))
      hash('sha256', Buffer.concat([NODE, pair]), 'buffer').copy(nodes, i)
    }
    levels.push(nodes)
    below = nodes
  }
  return levels
}

function sortEntries(part: Buffer): void {
  const copies: Buffer[] = []
  for (let from = 0; from < part.length; from += ENTRY_BYTES) {
    copies.push(Buffer.from(part.subarray(from, from + ENTRY_BYTES)))
  }
  copies.sort(Buffer.compare)
  copies.forEach((entry, i) => {
    entry.copy(part, i * ENTRY_BYTES)
  })
}
