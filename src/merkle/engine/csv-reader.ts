/** Reads a CSV in the engine, piece by piece, so that the whole text is never in memory. */
import { randomFillSync } from 'node:crypto'
import type { CsvOptions, CsvRows } from '../csv.ts'
import { type CsvColumns, readColumns } from '../csv-columns.ts'
import { CsvScanner } from '../csv-scanner.ts'
import type { CsvSource } from '../csv-source.ts'
import { RECORD_BYTES } from '../entry-list.ts'
import { fileKindFault } from '../file-faults.ts'
import { PROGRESS_ROWS } from '../progress.ts'
import { aligned, type Engine, newEngine, reserve } from './module.ts'

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
