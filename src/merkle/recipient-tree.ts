/**
 * Reads lists and hashes their trees in the fastest way that this machine has: in the engine, otherwise in TypeScript.
 */
import { type CsvOptions, type CsvRows, readCsv } from './csv.ts'
import type { CsvSource } from './csv-source.ts'
import { readCsvInEngine } from './engine/csv-reader.ts'
import { type TreeHasher, treeHasher } from './engine/tree-hasher.ts'
import type { EntryList } from './entry-list.ts'
import type { BuildProgress } from './progress.ts'
import { buildTree, type MerkleTree, NODE_BYTES } from './tree.ts'

/** Below these sizes TypeScript finishes before the engine is compiled. */
const ENGINE_FROM_BYTES = 16 * 1024
const ENGINE_FROM_LEAVES = 256

/** Reads a CSV (UTF-8). Throws MerkleInputError like `readCsv`, which also reads lists that the engine cannot. */
export function readRecipientCsv(source: CsvSource, options: CsvOptions = {}): CsvRows {
  const read = source.size < ENGINE_FROM_BYTES ? undefined : readCsvInEngine(source, options)
  return read ?? readCsv(source.all(), options)
}

/**
 * The hasher of this list; undefined if TypeScript hashes it: short lists, and lists with locked amounts, which the
 * engine lacks.
 */
function hasherOf(list: EntryList): TreeHasher | undefined {
  return list.count < ENGINE_FROM_LEAVES || list.locked !== undefined ? undefined : treeHasher()
}

/** Builds the tree of a list with all its nodes, like `buildTree`. */
export function recipientTree(list: EntryList, options: { onProgress?: BuildProgress } = {}): MerkleTree {
  const hasher = hasherOf(list)
  if (hasher === undefined) return buildTree(list, options)
  const levels = hasher.levels(list, options.onProgress)
  return { list, ...levels, root: levels.nodes.subarray(levels.nodes.length - NODE_BYTES) }
}

/** Returns the root of a list's tree without keeping its nodes. Throws RangeError for an empty list. */
export function recipientRoot(list: EntryList, options: { onProgress?: BuildProgress } = {}): Uint8Array {
  const hasher = hasherOf(list)
  return hasher?.root(list, options.onProgress) ?? buildTree(list, options).root
}
