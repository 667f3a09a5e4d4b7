/**
 * Reads lists and hashes their trees in the fastest way that this machine has: in the engine, otherwise in TypeScript.
 */

import { randomFillSync } from 'node:crypto'
import { type CsvOptions, type CsvRows, readCsv } from './csv.ts'
import { type CsvColumns, readColumns } from './csv-columns.ts'
import { CsvScanner } from './csv-scanner.ts'
import type { CsvSource } from './csv-source.ts'
import { aligned, type Engine, newEngine, reserve } from './engine/module.ts'
import { type EntryList, RECORD_BYTES } from './entry-list.ts'
import { fileKindFault } from './file-faults.ts'
import { type BuildProgress, PROGRESS_ROWS } from './progress.ts'
import { buildTree, hashLevels, levelCounts, type MerkleTree, NODE_BYTES, type TreeLevels } from './tree.ts'

/** Below these sizes TypeScript finishes before the engine is compiled. */
const ENGINE_FROM_BYTES = 16 * 1024
const ENGINE_FROM_LEAVES = 256

/** Reads a CSV (UTF-8). Throws MerkleInputError like `readCsv`, which also reads lists that the engine cannot. */
export function readRecipientCsv(source: CsvSource, options: CsvOptions = {}): CsvRows {
  const isShort = source.size < ENGINE_FROM_BYTES
  const read = isShort || options.form !== undefined ? undefined : readCsvInEngine(source, options)
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

/** Bytes of text that are read at once; longer rows are left to TypeScript. */
const PIECE_BYTES = 64 * 1024
/** Bytes after the text that the engine may read but does not use. */
const MARGIN_BYTES = 64
const COMMA = 44
/** Most cells of the first row that the engine has room for. */
const MAX_ENGINE_CELLS = 64
/** Number of records that are checked for duplicates in one call. */
const CALL_RECORDS = 4096
/** Random bytes by which repeated wallets are found. */
const HASH_KEYS_BYTES = 96
/** Bytes of the hash of each wallet. */
const HASH_BYTES = 8
/** Most bytes of memory for one list; a larger file is left to TypeScript. */
const MAX_MEMORY_BYTES = 2 ** 31

/**
 * Reads a CSV as `readCsv` does; undefined if it has any fault, or the engine cannot read it. Only `readCsv` words
 * faults. The list is in the instance's memory, which lives as long as the list.
 */
export function readCsvInEngine(source: CsvSource, options: CsvOptions): CsvRows | undefined {
  const engine = newEngine()
  return engine && new EngineReader(engine, source).read(options)
}

class EngineReader {
  private readonly engine: Engine
  private readonly source: CsvSource
  /** Address of a piece's text in the engine's memory. */
  private readonly text: number
  private readonly records: number
  private readonly hashes: number
  /** Upper limit of the rows: the shortest has 32 characters, a comma and a line end. */
  private readonly capacity: number
  /** Number of bytes of the piece in memory, and of the source that were read. */
  private held = 0
  private passed = 0

  constructor(engine: Engine, source: CsvSource) {
    this.engine = engine
    this.source = source
    this.text = aligned(engine.heapBase())
    this.records = this.text + PIECE_BYTES + MARGIN_BYTES
    this.capacity = Math.ceil((source.size + 1) / 34) + 1
    this.hashes = aligned(this.records + RECORD_BYTES * this.capacity)
  }

  read(options: CsvOptions): CsvRows | undefined {
    const { engine, records, hashes, capacity } = this
    const bytes = hashes + HASH_BYTES * capacity
    if (bytes > MAX_MEMORY_BYTES || !reserve(engine, bytes)) return undefined
    this.fill()
    const first = this.readFirst(options)
    if (first === undefined) return undefined
    const { columns, start } = first
    const { wallet, amount, locked, width, unnamed, category } = columns
    const guarded = unnamed.reduce((mask, cell) => mask | (1n << BigInt(cell)), 0n)
    engine.configure(wallet, amount, locked, width, guarded, category, options.decimals ?? -1)
    randomFillSync(new Uint8Array(engine.memory.buffer, engine.hashKeys(hashes), HASH_KEYS_BYTES))
    if (!this.readAll(start, options) || engine.count.value === 0) return undefined
    const count = engine.count.value
    if (!this.keepDistinct(count, options.duplicates === 'sum')) return undefined
    const distinct = engine.distinct.value
    const kept = new Uint8Array(engine.memory.buffer, records, distinct * RECORD_BYTES)
    const total = (BigInt.asUintN(64, engine.totalHigh.value) << 64n) + BigInt.asUintN(64, engine.totalLow.value)
    const list = { count: distinct, bytes: kept, total }
    const comments = first.comments + engine.comments.value
    const zeroAmounts = engine.zeroAmounts.value
    return { list, columns, separator: ',', comments, merged: count - distinct, zeroAmounts, paidRows: 0 }
  }

  /** Adds text after the present text; false at the end of the source. */
  private fill(): boolean {
    const room = new Uint8Array(this.engine.memory.buffer, this.text + this.held, PIECE_BYTES - this.held)
    const read = this.source.read(room, this.passed)
    this.held += read
    this.passed += read
    return read > 0
  }

  /**
   * The columns and the offset of the first row of amounts; undefined unless the first record is complete and valid.
   */
  private readFirst({
    decimals,
    columns: choices,
  }: CsvOptions): { columns: CsvColumns; start: number; comments: number } | undefined {
    const piece = new Uint8Array(this.engine.memory.buffer, this.text, this.held)
    if (fileKindFault(piece) !== undefined) return undefined
    // A record cut by the end of the piece would look shorter than it is, so the piece ends with a line.
    const whole = this.passed >= this.source.size ? piece.length : piece.lastIndexOf(10) + 1
    const scanner = new CsvScanner(piece.subarray(0, whole), { findSeparator: true })
    if (!scanner.next() || scanner.fault || scanner.separator !== COMMA) return undefined
    const columns = readColumns(scanner, { ...choices, decimals })
    if ('message' in columns || columns.width > MAX_ENGINE_CELLS) return undefined
    // What a column that is not read says is checked in TypeScript.
    if (columns.watched.length > 0 || choices?.isUnpaidOnly) return undefined
    const isComment = columns.header === 'comment'
    return {
      columns,
      start: columns.header === true ? scanner.position : scanner.recordStart,
      comments: scanner.comments - Number(isComment),
    }
  }

  /** Reads every row into records; false at the first row that the engine does not accept. */
  private readAll(start: number, { onProgress }: CsvOptions): boolean {
    const { engine, text, records, capacity } = this
    let from = text + start
    let reported = 0
    for (let isLast = false; ; from = text) {
      if (engine.readRows(from, text + this.held, Number(isLast), records, capacity) !== 0) return false
      const rows = engine.count.value
      if (isLast) {
        onProgress?.(rows, rows, 'read')
        return true
      }
      if (onProgress && rows - reported >= PROGRESS_ROWS) {
        reported = rows
        onProgress(rows, Math.max(rows, Math.round((rows * this.source.size) / this.passed)), 'read')
      }
      this.keepRest(engine.position.value)
      if (this.held === PIECE_BYTES) return false
      isLast = !this.fill()
    }
  }

  /** Moves the text from `position`, an incomplete row, to the start. */
  private keepRest(position: number): void {
    const end = this.text + this.held
    new Uint8Array(this.engine.memory.buffer).copyWithin(this.text, position, end)
    this.held = end - position
  }

  /** Removes or sums repeated wallets; false if `readCsv` would report one. */
  private keepDistinct(count: number, sum: boolean): boolean {
    const { engine, records, hashes } = this
    let slots = 16
    while (slots < 2 * count) slots *= 2
    const table = aligned(hashes + HASH_BYTES * count)
    if (!reserve(engine, table + 4 * slots)) return false
    engine.startDuplicates(table, slots)
    for (let from = 0; from < count; from += CALL_RECORDS) {
      if (engine.keepDistinct(records, hashes, from, Math.min(count, from + CALL_RECORDS), Number(sum)) === 0)
        return false
    }
    return true
  }
}
