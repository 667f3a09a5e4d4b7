/**
 * Reads lists and hashes their trees in the fastest way that this machine has: in the engine, otherwise in TypeScript.
 */
import { type CsvOptions, type CsvRows, readCsv } from './csv.ts'
import type { CsvSource } from './csv-source.ts'
import { readCsvInEngine } from './engine/csv-reader.ts'
import { aligned, type Engine, newEngine, reserve } from './engine/module.ts'
import { type EntryList, RECORD_BYTES } from './entry-list.ts'
import { type BuildProgress, PROGRESS_ROWS } from './progress.ts'
import { buildTree, hashLevels, levelCounts, type MerkleTree, NODE_BYTES, type TreeLevels } from './tree.ts'

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

/** Number of leaves of a piece, and of the levels above them within it. */
const PIECE_LEAVES = 4096
const PIECE_LEVELS = 12

/** Receives the nodes of one level of a piece; `first` is the index of the first node in its level. */
type KeepNodes = (nodes: Uint8Array, level: number, first: number) => void

/** Null if the engine cannot run or gets no memory. */
let shared: TreeHasher | null | undefined

/** The hasher of this thread; undefined if the engine cannot run. */
export function treeHasher(): TreeHasher | undefined {
  if (shared === undefined) {
    const engine = newEngine()
    shared = engine !== undefined && reserve(engine, memoryOf(engine).end) ? new TreeHasher(engine) : null
  }
  return shared ?? undefined
}

/** Addresses of a piece's records and nodes, and of the end of its memory. */
function memoryOf(engine: Engine): { records: number; nodes: number; end: number } {
  const records = aligned(engine.heapBase())
  const nodes = aligned(records + PIECE_LEAVES * RECORD_BYTES)
  // A single node that moves up through several levels has a place on each of them.
  return { records, nodes, end: nodes + NODE_BYTES * (2 * PIECE_LEAVES + PIECE_LEVELS) }
}

class TreeHasher {
  private readonly engine: Engine
  private readonly records: number
  private readonly nodes: number
  private readonly memory: Uint8Array

  constructor(engine: Engine) {
    this.engine = engine
    const { records, nodes } = memoryOf(engine)
    this.records = records
    this.nodes = nodes
    this.memory = new Uint8Array(engine.memory.buffer)
  }

  /** Returns the root of a list with at least one leaf, without storing other nodes. */
  root(list: EntryList, onProgress?: BuildProgress): Uint8Array {
    const depth = Math.min(PIECE_LEVELS, levelCounts(list.count).length - 1)
    const counts = levelCounts(Math.ceil(list.count / 2 ** depth))
    const upper = Buffer.alloc(NODE_BYTES * counts.reduce((sum, count) => sum + count, 0))
    this.eachPiece(list, depth, onProgress, (nodes, level, first) => {
      if (level === depth) upper.set(nodes, first * NODE_BYTES)
    })
    hashLevels(upper, counts)
    return new Uint8Array(upper.subarray(upper.length - NODE_BYTES))
  }

  /** Returns all levels of the tree of a list with at least one leaf. */
  levels(list: EntryList, onProgress?: BuildProgress): TreeLevels {
    const counts = levelCounts(list.count)
    const offsets: number[] = []
    let bytes = 0
    for (const count of counts) {
      offsets.push(bytes)
      bytes += NODE_BYTES * count
    }
    const nodes = Buffer.allocUnsafeSlow(bytes)
    const depth = Math.min(PIECE_LEVELS, counts.length - 1)
    this.eachPiece(list, depth, onProgress, (part, level, first) => {
      nodes.set(part, (offsets[level] ?? 0) + first * NODE_BYTES)
    })
    hashLevels(nodes.subarray(offsets[depth]), counts.slice(depth))
    return { nodes, offsets, counts }
  }

  /** Hashes pieces up to `depth` levels above the leaves, each into the same memory. */
  private eachPiece(list: EntryList, depth: number, onProgress: BuildProgress | undefined, keep: KeepNodes): void {
    const { memory, records } = this
    for (let from = 0; from < list.count; from += PIECE_LEAVES) {
      const to = Math.min(list.count, from + PIECE_LEAVES)
      memory.set(list.bytes.subarray(from * RECORD_BYTES, to * RECORD_BYTES), records)
      this.hashPiece(to - from, from, depth, keep)
      if (onProgress && (to % PROGRESS_ROWS === 0 || to === list.count)) onProgress(to, list.count, 'hash')
    }
  }

  private hashPiece(leaves: number, from: number, depth: number, keep: KeepNodes): void {
    const { engine, memory, records } = this
    let at = this.nodes
    let count = leaves
    engine.hashLeaves(records, at, 0, count)
    for (let level = 0; ; level++) {
      keep(memory.subarray(at, at + count * NODE_BYTES), level, from >>> level)
      if (level === depth) return
      const above = at + count * NODE_BYTES
      const pairs = (count + 1) >> 1
      engine.hashPairs(at, above, 0, pairs, count)
      at = above
      count = pairs
    }
  }
}
