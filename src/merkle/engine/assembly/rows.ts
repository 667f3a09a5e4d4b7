/**
 * Reads the rows of a CSV that are right in every respect; at any other row it stops, and TypeScript reads the file.
 */

import { amount, readAmount } from './amounts'
import { caselessHash, decodeKey, isLowerCased } from './base58'
import { HASH_BYTES, RECORD_BYTES } from './records'

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
/** A bit for each cell: if it has a digit, the row is left to TypeScript. */
let guarded: u64 = 0
/** Cell that must have a text; MAX_CELLS for none. */
let categoryCell: u32 = 0
let decimals: i32 = -1

/** Where the hashes of the records begin, and their 12 keys of u64, which the host sets at random before each list. */
let hashes: usize = 0
const keys: usize = memory.data(96, 16)

let cells: u32 = 0
/** Where the next row starts. */
export let position: usize = 0
/** Number of records written. */
export let count: u32 = 0
/** Number of comments. */
export let comments: u32 = 0

/**
 * Sets the columns, see `CsvColumns`: `locked` and `category` of -1 for none; `unnamed` has a bit for each of them;
 * `places` are the decimals, -1 for raw units.
 */
export function configure(
  wallet: u32,
  value: u32,
  locked: i32,
  cellsOfFirst: u32,
  unnamed: u64,
  category: i32,
  places: i32,
): void {
  walletCell = wallet
  amountCell = value
  lockedCell = locked < 0 ? MAX_CELLS : <u32>locked
  width = cellsOfFirst < MAX_CELLS ? cellsOfFirst : MAX_CELLS
  guarded = unnamed
  categoryCell = category < 0 ? MAX_CELLS : <u32>category
  decimals = places
  count = 0
  comments = 0
}

/** Sets where the hash of each record's wallet is written; returns the address for the host's 96 random bytes. */
export function hashKeys(at: usize): usize {
  hashes = at
  return keys
}

/**
 * Reads the rows from `start` to before `end` into records, of which there may be `capacity`. Unless this is the
 * `last` piece of the file, a row that the end cuts is left, and `position` is its start. At least 64 bytes after
 * `end` are readable.
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
    let p = cellEnd(start, end)
    if (p < end && mayBeError(start, p)) return WRONG
    while (p < end && !isLineEnd(load<u8>(p))) p++
    if (p < end || last) {
      if (p >= end && mayBeError(start, p)) return WRONG
      comments++
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

/** Whether the text that begins with # may be the error value of a spreadsheet; TypeScript decides. */
function mayBeError(start: usize, end: usize): bool {
  while (end > start && isBlank(load<u8>(end - 1))) end--
  if (end - start < 2 || isBlank(load<u8>(start + 1))) return false
  return end - start <= 32 || load<u8>(start + 1) === HASH_SIGN
}

/** The row from `start` is incomplete in these bytes; it is read again with the bytes that follow. */
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

/** The quote that closes a cell, or `end`; a doubled quote does not close it. */
function closingQuote(from: usize, end: usize): usize {
  let p = from
  while (p < end) {
    if (load<u8>(p) !== QUOTE) p++
    else if (p + 1 < end && load<u8>(p + 1) === QUOTE) p += 2
    else return p
  }
  return end
}

/** Adds a cell without the blanks and line ends around it; false if the row has too many, or it begins with #. */
function addCell(start: usize, end: usize): bool {
  if (cells >= width) return false
  while (start < end && (isBlank(load<u8>(start)) || isLineEnd(load<u8>(start)))) start++
  while (end > start && (isBlank(load<u8>(end - 1)) || isLineEnd(load<u8>(end - 1)))) end--
  if (start < end && load<u8>(start) === HASH_SIGN) return false
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
  if (cells !== width) return isEmptyRow() ? SKIPPED : WRONG
  const wallet = startOf(walletCell)
  const walletEnd = endOf(walletCell)
  const amountStart = startOf(amountCell)
  const amountEnd = endOf(amountCell)
  if (wallet === walletEnd && amountStart === amountEnd) return isEmptyRow() ? SKIPPED : WRONG
  if (guarded !== 0 && hasGuardedDigit()) return WRONG
  if (categoryCell < MAX_CELLS && startOf(categoryCell) === endOf(categoryCell)) return WRONG
  if (amountCell + 1 < cells && startOf(amountCell + 1) === amountEnd + 1 && mayBeCut(amountEnd + 1)) return WRONG
  if (cells > lockedCell && !isZero(startOf(lockedCell), endOf(lockedCell))) return WRONG
  if (count >= capacity) return WRONG
  const record = records + RECORD_BYTES * <usize>count
  const length = <u32>(walletEnd - wallet)
  if (!decodeKey(wallet, length, record) || isLowerCased(length)) return WRONG
  if (!readAmount(amountStart, amountEnd, decimals)) return WRONG
  store<u64>(record, amount, 32)
  store<u64>(hashes + HASH_BYTES * <usize>count, caselessHash(keys))
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

function hasGuardedDigit(): bool {
  for (let cell: u32 = 0; cell < cells; cell++) {
    if ((guarded & ((<u64>1) << cell)) === 0) continue
    for (let p = startOf(cell); p < endOf(cell); p++) if (isDigit(load<u8>(p))) return true
  }
  return false
}

/** Whether the text starts like a number that was cut at its thousands separator, such as `050`; TypeScript decides. */
function mayBeCut(start: usize): bool {
  return load<u8>(start) === ZERO && isDigit(load<u8>(start + 1)) && isDigit(load<u8>(start + 2))
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
