/** Reads the rows of a CSV that are right in every respect; at any other row it stops, and TypeScript reads the file. */

import { amount, readAmount } from './amounts'
import { decodeKey } from './base58'
import { RECORD_BYTES } from './records'

const COMMA: u8 = 44
const QUOTE: u8 = 34
const HASH_SIGN: u8 = 35
const LF: u8 = 10
const CR: u8 = 13
const SPACE: u8 = 32
const TAB: u8 = 9
const ZERO: u8 = 48
const POINT: u8 = 46

/** Most cells of a row; the host reads a file with a wider first row in TypeScript. */
export const MAX_CELLS: u32 = 64

/** Ends of `readRows`. */
const READ: i32 = 0
const STOPPED: i32 = 1

/** Ends of one row; blank lines and comments belong to the row that follows. */
const ROW: i32 = 0
const SKIPPED: i32 = 1
const INCOMPLETE: i32 = 2
const WRONG: i32 = 3

/** Where each cell of the row starts and ends, trimmed and without quotes. */
const STARTS: usize = memory.data(256, 16)
const ENDS: usize = memory.data(256, 16)

let walletCell: u32 = 0
let amountCell: u32 = 0
let lockedCell: u32 = 0
let width: u32 = 0
let guardThousands: bool = false
let decimals: i32 = -1

let cells: u32 = 0
/** Where the next row starts. */
export let position: usize = 0
/** Number of records written. */
export let count: u32 = 0

/** Sets the columns, see `CsvColumns`: `locked` of -1 for none; `places` are the decimals, -1 for raw units. */
export function configure(wallet: u32, value: u32, locked: i32, cellsOfFirst: u32, guard: bool, places: i32): void {
  walletCell = wallet
  amountCell = value
  lockedCell = locked < 0 ? MAX_CELLS : <u32>locked
  width = cellsOfFirst < MAX_CELLS ? cellsOfFirst : MAX_CELLS
  guardThousands = guard
  decimals = places
  count = 0
}

/**
 * Reads the rows from `start` to before `end` into records, of which there may be `capacity`. Unless this is the `last`
 * of the file, a row that the end cuts is left, and `position` is its start. At least 64 bytes behind `end` are readable.
 */
export function readRows(start: usize, end: usize, last: bool, records: usize, capacity: u32): i32 {
  position = start
  while (true) {
    const ended = readRow(position, end, last, records, capacity)
    if (ended === WRONG) return STOPPED
    if (ended === INCOMPLETE) return READ
  }
}

function isBlank(byte: u8): bool {
  return byte === SPACE || byte === TAB
}

function isLineEnd(byte: u8): bool {
  return byte === LF || byte === CR
}

/** Skips spaces and tabs. */
function afterBlanks(p: usize, end: usize): usize {
  while (p < end && isBlank(load<u8>(p))) p++
  return p
}

/** The first comma or line end from `p`, or `end`. */
function cellEnd(p: usize, end: usize): usize {
  for (; p < end; p += 16) {
    const bytes = v128.load(p)
    const commas = v128.eq<u8>(bytes, i8x16.splat(COMMA))
    const lines = v128.or(v128.eq<u8>(bytes, i8x16.splat(LF)), v128.eq<u8>(bytes, i8x16.splat(CR)))
    const found = v128.bitmask<i8>(v128.or(commas, lines))
    if (found !== 0) return min(p + <usize>ctz(found), end)
  }
  return end
}

function readRow(from: usize, end: usize, last: bool, records: usize, capacity: u32): i32 {
  const start = afterBlanks(from, end)
  if (start >= end) return cut(start)
  const byte = load<u8>(start)
  if (isLineEnd(byte)) {
    position = start + 1
    return SKIPPED
  }
  if (byte === HASH_SIGN) {
    let p = start
    while (p < end && !isLineEnd(load<u8>(p))) p++
    if (p < end || last) {
      position = p
      return p < end ? SKIPPED : INCOMPLETE
    }
    return cut(start)
  }
  const next = scanCells(start, end, last)
  if (next === 0) return cells === 0 ? cut(start) : WRONG
  position = next
  return keepRow(records, capacity)
}

/** The row from `start` is not whole in these bytes; it is read again with those that follow. */
function cut(start: usize): i32 {
  position = start
  return INCOMPLETE
}

/** Finds the cells of the row; returns its end, or 0: with no cells when the row is cut, with some when it is wrong. */
function scanCells(start: usize, end: usize, last: bool): usize {
  let p = start
  cells = 0
  while (true) {
    if (p < end && load<u8>(p) === QUOTE) {
      const open = p
      p = closingQuote(p + 1, end)
      if (p + 1 >= end && !last) return unfinished()
      if (p >= end) return wrong()
      if (!addCell(open + 1, p)) return wrong()
      p = afterBlanks(p + 1, end)
      if (p >= end && !last) return unfinished()
      if (p < end && load<u8>(p) !== COMMA && !isLineEnd(load<u8>(p))) return wrong()
    } else {
      const open = p
      p = cellEnd(p, end)
      if (p >= end && !last) return unfinished()
      if (!addCell(open, p)) return wrong()
    }
    if (p >= end) return end
    const byte = load<u8>(p++)
    if (byte !== COMMA) return byte === CR && p < end && load<u8>(p) === LF ? p + 1 : p
    p = afterBlanks(p, end)
  }
}

function unfinished(): usize {
  cells = 0
  return 0
}

function wrong(): usize {
  cells = 1
  return 0
}

/** The quote that closes a cell, or `end`; one that is written twice closes nothing. */
function closingQuote(from: usize, end: usize): usize {
  let p = from
  while (p < end) {
    if (load<u8>(p) !== QUOTE) p++
    else if (p + 1 < end && load<u8>(p + 1) === QUOTE) p += 2
    else return p
  }
  return end
}

/** Adds a cell without the blanks and line ends around it; false when the row has too many. */
function addCell(start: usize, end: usize): bool {
  if (cells >= width) return false
  while (start < end && (isBlank(load<u8>(start)) || isLineEnd(load<u8>(start)))) start++
  while (end > start && (isBlank(load<u8>(end - 1)) || isLineEnd(load<u8>(end - 1)))) end--
  store<u32>(STARTS + 4 * cells, <u32>start)
  store<u32>(ENDS + 4 * cells, <u32>end)
  cells++
  return true
}

function startOf(cell: u32): usize {
  return <usize>load<u32>(STARTS + 4 * cell)
}

function endOf(cell: u32): usize {
  return <usize>load<u32>(ENDS + 4 * cell)
}

/** Writes the record of the scanned cells. */
function keepRow(records: usize, capacity: u32): i32 {
  if (cells <= walletCell || cells <= amountCell) return WRONG
  const wallet = startOf(walletCell)
  const walletEnd = endOf(walletCell)
  const amountStart = startOf(amountCell)
  const amountEnd = endOf(amountCell)
  if (wallet === walletEnd && amountStart === amountEnd) return isEmptyRow() ? SKIPPED : WRONG
  if (guardThousands && cells > 2 && mayBeThousands(startOf(2), endOf(2))) return WRONG
  if (cells > lockedCell && !isZero(startOf(lockedCell), endOf(lockedCell))) return WRONG
  if (count >= capacity) return WRONG
  const record = records + RECORD_BYTES * <usize>count
  if (!decodeKey(wallet, <u32>(walletEnd - wallet), record)) return WRONG
  if (!readAmount(amountStart, amountEnd, decimals)) return WRONG
  store<u64>(record, amount, 32)
  count++
  return ROW
}

function isEmptyRow(): bool {
  for (let cell: u32 = 0; cell < cells; cell++) if (startOf(cell) !== endOf(cell)) return false
  return true
}

function isDigit(byte: u8): bool {
  return byte >= ZERO && byte <= 57
}

/** Whether the cell starts as `123` or `123.` would; TypeScript looks closer. */
function mayBeThousands(start: usize, end: usize): bool {
  if (end - start < 3) return false
  for (let p = start; p < start + 3; p++) if (!isDigit(load<u8>(p))) return false
  return end - start === 3 || load<u8>(start + 3) === POINT
}

/** Whether the cell is empty or zeros, with or without a fraction of zeros. */
function isZero(start: usize, end: usize): bool {
  let p = start
  while (p < end && load<u8>(p) === ZERO) p++
  if (p === end) return true
  if (p === start || load<u8>(p) !== POINT) return false
  for (p++; p < end; p++) if (load<u8>(p) !== ZERO) return false
  return true
}
