/** Blocks of 64 rows of a tree with their sibling hashes, which a claim page loads to prove one wallet's amounts. */
import { canonicalRows, type EntryList, LOCKED_BYTES } from '../../merkle/entry-list.ts'

/** Number of rows in a block. */
export const BLOCK_ROWS = 64
/** Levels of a tree that a reader hashes from the rows of a block. */
const BLOCK_LEVELS = 6

/** The number of blocks of a tree. */
export const blockCount = (leaves: number): number => Math.ceil(leaves / BLOCK_ROWS)

/** The size of a row in bytes: wallet 32 ‖ amount u64 LE, and the locked amount u64 LE if the list has any. */
export const rowBytesOf = (hasLocked: boolean): 40 | 48 => (hasLocked ? 48 : 40)

/**
 * Encodes the block with the rows `from` to `from + 63` of `list`, or to its end: the rows, then the siblings above the
 * block up to the root. `proof` is the proof (leaf to root) of the block's first row in the whole tree.
 */
export function encodeBlock(list: EntryList, from: number, proof: readonly Uint8Array[], hasLocked: boolean): Buffer {
  const to = Math.min(list.count, from + BLOCK_ROWS)
  // A part of a list with locked amounts has their column even if its own are all 0.
  const locked = list.locked ?? (hasLocked ? new Uint8Array(list.count * LOCKED_BYTES) : undefined)
  const rows = canonicalRows(locked === undefined ? list : { ...list, locked }, from, to)
  return Buffer.concat([rows, ...proof.slice(BLOCK_LEVELS)])
}
