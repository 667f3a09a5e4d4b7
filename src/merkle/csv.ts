/** Reads a recipient CSV into a packed list, and collects every error with its line and column. */
import { AMOUNT_STATUS, amountFrom, readAmount } from './amounts.ts'
import { decodeKey, isLowerCased, walletFault } from './base58.ts'
import { type ColumnChoices, type ListForm, RECIPIENT_FORM } from './column-plan.ts'
import { type CsvColumns, readColumns } from './csv-columns.ts'
import { BLANK, cellFault, isAmbiguous, mayBeCut, noRows, numbersFault, shapeFault } from './csv-faults.ts'
import { CsvScanner } from './csv-scanner.ts'
import { LOCKED_BYTES, RECORD_BYTES } from './entry-list.ts'
import { quoted } from './errors.ts'
import { fileKindFault, unseenCharacter } from './file-faults.ts'
import { PlacedFaults, type RefuseAt } from './placed-faults.ts'
import { type BuildProgress, PROGRESS_ROWS } from './progress.ts'
import { type DuplicateMode, ROUND_FAULT, RowBuilder, roundOf, type SettledRows } from './row-builder.ts'
import { UnreadColumns } from './unread-columns.ts'

export interface CsvOptions {
  /** File name in error positions; the default is `csv`. */
  name?: string
  /**
   * If set, amounts are whole tokens with up to this many fractional digits (0-18); otherwise they are raw base units.
   */
  decimals?: number | undefined
  /** Handling of repeated wallets: rejected (default), or summed at their first position. */
  duplicates?: DuplicateMode
  /** What a person says about the columns. */
  columns?: ColumnChoices
  /** What is read of the list; the default is recipients with amounts. */
  form?: ListForm
  onProgress?: BuildProgress
}

export interface CsvRows extends SettledRows {
  columns: CsvColumns
  /** The separator of cells. */
  separator: string
  /** Number of rows that begin with `#`, which were not read. */
  comments: number
  /** Number of rows that a receipt calls paid, and that were left out. */
  paidRows: number
}

const COMMA = 44

/** Reads a CSV (UTF-8). Throws MerkleInputError with positions `NAME:LINE:COLUMN`. */
export function readCsv(bytes: Uint8Array, options: CsvOptions = {}): CsvRows {
  const { name = 'csv', decimals, duplicates = 'reject', form = RECIPIENT_FORM, onProgress } = options
  const faults = new PlacedFaults(bytes, name)
  const refuse: RefuseAt = (...fault) => faults.refuse(...fault)
  const kind = fileKindFault(bytes)
  if (kind !== undefined) {
    refuse(0, () => kind)
    return faults.throw()
  }

  const scanner = new CsvScanner(bytes, { findSeparator: true })
  if (!scanner.next()) {
    refuse(0, () => noRows(scanner, form))
    return faults.throw()
  }
  const { fault: firstFault } = scanner
  if (firstFault) {
    refuse(firstFault.offset, () => firstFault.message)
    return faults.throw()
  }
  const choices = options.columns ?? {}
  const columns = readColumns(scanner, { ...choices, decimals, form })
  if ('message' in columns) {
    refuse(columns.offset ?? scanner.starts[columns.cell] ?? 0, () => columns.message)
    return faults.throw()
  }

  const unread = new UnreadColumns(columns.watched, form, {
    choices,
    refuse: (...fault) => faults.refuseColumn(...fault),
  })
  const looks = columns.watched.length > 0 || choices.isUnpaidOnly === true
  // The shortest row with a wallet has 32 characters, a comma and a line end.
  const rows = new RowBuilder(Math.ceil((bytes.length + 1) / 34) + 1, { hasRounds: form.reads.includes('round') })
  let more = columns.header === true ? scanner.next() : true
  let rowCount = 0
  const locked = new Uint8Array(LOCKED_BYTES)
  // Locked amounts without a header could also be the last digits of cut amounts, if all look like that.
  let cut: { offset: number; message: string } | undefined
  let isEachCut = columns.category >= 0
  for (; more; more = scanner.next()) {
    rowCount++
    if (onProgress && rowCount % PROGRESS_ROWS === 0) {
      onProgress(rowCount, Math.max(rowCount, Math.round((rowCount * bytes.length) / scanner.recordStart)), 'read')
    }
    const fault = scanner.fault ?? shapeFault(scanner, columns)
    if (fault !== undefined) {
      if (fault !== BLANK) refuse(fault.offset, () => fault.message)
      else rowCount--
      continue
    }
    const { starts, ends } = scanner
    const cells = {
      offset: scanner.recordStart,
      text: (cell: number) => scanner.text(cell),
      offsetOf: (cell: number) => starts[cell] ?? 0,
    }
    if (looks && !unread.isRead(cells)) continue
    const at = rows.at
    isEachCut &&= mayBeCut(scanner, columns)
    if (isEachCut) cut ??= { offset: starts[columns.amount] ?? 0, message: numbersFault(scanner, columns) }
    const [walletStart, walletEnd] = [starts[columns.wallet] ?? 0, ends[columns.wallet] ?? 0]
    const isWallet =
      decodeKey(bytes, walletStart, walletEnd, rows.bytes, at) && !isLowerCased(bytes, walletStart, walletEnd)
    if (!isWallet) {
      refuseCell(scanner, columns.wallet, refuse, walletFault)
      rows.bytes.fill(0, at, at + RECORD_BYTES)
    }
    const status = readAmountCell(scanner, columns.amount, decimals, rows.bytes, at + 32)
    if (status !== AMOUNT_STATUS.ok) {
      refuseCell(scanner, columns.amount, refuse, (text) => cellFault(text, status, decimals))
    }
    const isLockedRead = readLocked(scanner, columns.locked, decimals, locked, refuse)
    if (rows.rounds !== undefined) rows.rounds[rows.count] = readRound(scanner, columns.round, refuse)
    if (!isWallet) continue
    if (isLockedRead && status === AMOUNT_STATUS.ok && !rows.lock(rows.count, locked)) {
      const sum = amountFrom(rows.bytes, at + 32) + amountFrom(locked, 0)
      refuse(starts[columns.locked] ?? 0, () => `amount and locked amount add up to ${sum}, more than u64 holds`)
    }
    rows.append(walletStart, bytes, walletStart, walletEnd)
  }
  onProgress?.(rowCount, rowCount, 'read')
  if (rowCount === 0) refuse(0, () => noRows(scanner, form))
  if (looks && rowCount > 0) unread.finish()
  if (isEachCut && cut !== undefined) {
    const { offset, message } = cut
    refuse(offset, () => message)
  }

  const settled = rows.settle(duplicates, faults.ofDuplicates(rows))
  faults.throwIfAny()
  const comments = scanner.comments - (columns.header === 'comment' ? 1 : 0)
  return {
    ...settled,
    columns,
    separator: String.fromCharCode(scanner.separator),
    comments,
    paidRows: unread.leftOut,
  }
}

/** Refuses a cell at its first invisible character, otherwise at its start with the message of `explain`. */
function refuseCell(scanner: CsvScanner, cell: number, refuse: RefuseAt, explain: (text: string) => string): void {
  const text = scanner.text(cell)
  const unseen = unseenCharacter(text)
  const start = scanner.starts[cell] ?? 0
  if (unseen === undefined) refuse(start, () => explain(text))
  else {
    const offset = start + Buffer.byteLength(text.slice(0, unseen.index))
    refuse(offset, () => `the cell has ${unseen.name} here; remove it`)
  }
}

/**
 * Reads an amount. With semicolons and tabs as separators it also accepts a decimal comma. It refuses numbers whose
 * comma or point before the last three digits could also separate thousands.
 */
function readAmountCell(scanner: CsvScanner, cell: number, decimals: number | undefined, out: Uint8Array, at: number) {
  const { bytes, starts, ends, separator } = scanner
  const [start, end] = [starts[cell] ?? 0, ends[cell] ?? 0]
  if (separator === COMMA || decimals === undefined) return readAmount(bytes, start, end, decimals, out, at)
  const text = scanner.text(cell)
  if (isAmbiguous(text)) return AMOUNT_STATUS.syntax
  const plain = Buffer.from(text.replace(/^(\d+),(\d+)$/, '$1.$2'))
  return readAmount(plain, 0, plain.length, decimals, out, at)
}

/** Reads the locked amount of a row, 0 if it has none, into `out`; false if it is invalid, which is reported. */
function readLocked(
  scanner: CsvScanner,
  cell: number,
  decimals: number | undefined,
  out: Uint8Array,
  refuse: RefuseAt,
): boolean {
  out.fill(0)
  if (cell < 0 || cell >= scanner.cells || scanner.isEmpty(cell)) return true
  const status = readAmountCell(scanner, cell, decimals, out, 0)
  if (status === AMOUNT_STATUS.ok) return true
  const text = scanner.text(cell)
  // Lists of other tools write a zero with a fraction, in raw units too.
  if (/^0+(\.0*)?$/.test(text)) return true
  refuseCell(scanner, cell, refuse, () => cellFault(text, status, decimals, 'locked amount'))
  return false
}

/** Reads the round of a row, 1 if the list has no such column. */
function readRound(scanner: CsvScanner, cell: number, refuse: RefuseAt): number {
  if (cell < 0) return 1
  const round = roundOf(scanner.text(cell))
  if (round === undefined) refuseCell(scanner, cell, refuse, (text) => `round ${quoted(text)} ${ROUND_FAULT}`)
  return round ?? 1
}
