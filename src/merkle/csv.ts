/** Reads a recipient CSV into a packed list, and collects every error with its line and column. */
import { MAX_U64 } from '../solana/u64.ts'
import { AMOUNT_STATUS, amountFrom, readAmount } from './amounts.ts'
import { decodeKey, keyToBase58, walletFault } from './base58.ts'
import { type CsvColumns, readColumns } from './csv-columns.ts'
import { CsvScanner, locate } from './csv-scanner.ts'
import { LOCKED_BYTES, RECORD_BYTES } from './entry-list.ts'
import { MAX_ISSUES, MerkleInputError, type MerkleIssue, quoted } from './errors.ts'
import { type BuildProgress, PROGRESS_ROWS } from './progress.ts'
import { type DuplicateMode, RowBuilder, type SettledRows } from './row-builder.ts'

export interface CsvOptions {
  /** File name in error positions; the default is `csv`. */
  name?: string
  /**
   * If set, amounts are whole tokens with up to this many fractional digits (0-18); otherwise they are raw base units.
   */
  decimals?: number | undefined
  /** Handling of repeated wallets: rejected (default), or summed at their first position. */
  duplicates?: DuplicateMode
  onProgress?: BuildProgress
}

export interface CsvRows extends SettledRows {
  columns: CsvColumns
}

interface RowFault {
  offset: number
  message: string
  /** Offset of the earlier row whose position ends the message. */
  earlier: number | undefined
}

/** Counts an error; its message is created only if the error is stored. */
type RefuseAt = (offset: number, message: () => string, earlier?: number) => void

/** Reads a CSV (UTF-8). Throws MerkleInputError with positions `NAME:LINE:COLUMN`. Source: contract section 7. */
export function readCsv(bytes: Uint8Array, options: CsvOptions = {}): CsvRows {
  const { name = 'csv', decimals, duplicates = 'reject', onProgress } = options
  const faults: RowFault[] = []
  let faultCount = 0
  const refuse: RefuseAt = (offset, message, earlier) => {
    faultCount++
    if (faults.length < MAX_ISSUES) faults.push({ offset, message: message(), earlier })
  }
  const throwFaults = (): never => {
    throw new MerkleInputError(placed(bytes, name, faults), faultCount)
  }
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)) {
    refuse(0, () => 'the file is UTF-16; save it as "CSV UTF-8"')
    throwFaults()
  }

  const scanner = new CsvScanner(bytes)
  if (!scanner.next()) {
    refuse(0, () => NO_ROWS)
    return throwFaults()
  }
  const { fault: firstFault } = scanner
  if (firstFault) {
    refuse(firstFault.offset, () => firstFault.message)
    return throwFaults()
  }
  const columns = readColumns(scanner)
  if ('message' in columns) {
    refuse(scanner.starts[columns.cell] ?? 0, () => columns.message)
    return throwFaults()
  }

  // The shortest row with a wallet has 32 characters, a comma and a line end.
  const rows = new RowBuilder(Math.ceil((bytes.length + 1) / 34) + 1)
  const needed = Math.max(columns.wallet, columns.amount) + 1
  let more = columns.header ? scanner.next() : true
  let rowCount = 0
  const locked = new Uint8Array(LOCKED_BYTES)
  for (; more; more = scanner.next()) {
    rowCount++
    if (onProgress && rowCount % PROGRESS_ROWS === 0) {
      onProgress(rowCount, Math.max(rowCount, Math.round((rowCount * bytes.length) / scanner.recordStart)), 'read')
    }
    const fault = scanner.fault ?? shapeFault(scanner, columns, needed)
    if (fault !== undefined) {
      if (fault !== BLANK) refuse(fault.offset, () => fault.message)
      else rowCount--
      continue
    }
    const { starts, ends } = scanner
    const at = rows.at
    const walletStart = starts[columns.wallet] ?? 0
    const amountStart = starts[columns.amount] ?? 0
    const wallet = decodeKey(bytes, walletStart, ends[columns.wallet] ?? 0, rows.bytes, at)
    if (!wallet) {
      refuse(walletStart, () => walletFault(scanner.text(columns.wallet)))
      rows.bytes.fill(0, at, at + RECORD_BYTES)
    }
    const status = readAmount(bytes, amountStart, ends[columns.amount] ?? 0, decimals, rows.bytes, at + 32)
    if (status !== AMOUNT_STATUS.ok) {
      refuse(amountStart, () => cellFault(scanner.text(columns.amount), status, decimals))
    }
    const isLockedRead = readLocked(scanner, columns.locked, decimals, locked, refuse)
    if (!wallet) continue
    if (isLockedRead && status === AMOUNT_STATUS.ok && !rows.lock(rows.count, locked)) {
      const sum = amountFrom(rows.bytes, at + 32) + amountFrom(locked, 0)
      refuse(starts[columns.locked] ?? 0, () => `amount and locked amount add up to ${sum}, more than u64 holds`)
    }
    rows.append(walletStart)
  }
  onProgress?.(rowCount, rowCount, 'read')
  if (rowCount === 0) refuse(0, () => NO_ROWS)

  const settled = rows.settle(duplicates, {
    repeated(source, earlier, record) {
      const wallet = () => keyToBase58(rows.bytes, record * RECORD_BYTES)
      refuse(source, () => `wallet ${wallet()} stands twice (remove a row or sum duplicates), first at`, earlier)
    },
    overflowed(source, earlier, sum) {
      refuse(
        source,
        () => `the amounts of this wallet add up to ${sum}, more than u64 holds; it first stands at`,
        earlier,
      )
    },
  })
  if (faultCount > 0) throwFaults()
  return { ...settled, columns }
}

const NO_ROWS = 'no rows; a row is wallet,amount'
const BLANK = { offset: 0, message: '' }

/** Returns the error for a record with too many or too few cells; BLANK for a record of only commas. */
function shapeFault(scanner: CsvScanner, columns: CsvColumns, needed: number): typeof BLANK | undefined {
  if (scanner.cells > columns.width) {
    const message = `${scanner.cells} cells where the first row has ${columns.width}; amounts take no thousands separators`
    return { offset: scanner.starts[columns.width] ?? 0, message }
  }
  if (scanner.cells < needed) {
    const missing = scanner.cells <= columns.wallet ? 'wallet' : 'amount'
    return {
      offset: scanner.ends[scanner.cells - 1] ?? 0,
      message: `the ${missing} is missing; a row is wallet,amount`,
    }
  }
  if (scanner.isEmpty(columns.wallet) && scanner.isEmpty(columns.amount)) {
    let cell = 0
    while (cell < scanner.cells && scanner.isEmpty(cell)) cell++
    if (cell === scanner.cells) return BLANK
  }
  if (columns.guardThousands && scanner.cells > 2 && /^\d{3}(\.\d+)?$/.test(scanner.text(2))) {
    const message = `${quoted(`${scanner.text(1)},${scanner.text(2)}`)} reads as a thousands separator; write the amount without, or add a header`
    return { offset: scanner.starts[1] ?? 0, message }
  }
  return undefined
}

/** Reads the locked amount of a row, 0 where it has none, into `out`; false where it is wrong, which is refused. */
function readLocked(
  scanner: CsvScanner,
  cell: number,
  decimals: number | undefined,
  out: Uint8Array,
  refuse: RefuseAt,
): boolean {
  out.fill(0)
  if (cell < 0 || cell >= scanner.cells || scanner.isEmpty(cell)) return true
  const start = scanner.starts[cell] ?? 0
  const status = readAmount(scanner.bytes, start, scanner.ends[cell] ?? 0, decimals, out, 0)
  if (status === AMOUNT_STATUS.ok) return true
  const text = scanner.text(cell)
  // Lists of other tools write a zero with a fraction, in raw units too.
  if (/^0+(\.0*)?$/.test(text)) return true
  refuse(start, () => cellFault(text, status, decimals, 'locked amount'))
  return false
}

/** Explains why an amount cell cannot be read, and what to write instead. */
function cellFault(text: string, status: number, decimals: number | undefined, name = 'amount'): string {
  const shown = `${name} ${quoted(text)}`
  if (text === '') return 'the amount is empty'
  if (status === AMOUNT_STATUS.overflow)
    return `${shown} is more than a token account holds (u64, ${MAX_U64} base units)`
  if (status === AMOUNT_STATUS.fraction) {
    return `${shown} has ${text.length - text.indexOf('.') - 1} fractional digits, the token has ${decimals}`
  }
  if (/^[+-]/.test(text)) return `${shown}: an amount has no sign`
  if (/^[\d.]+e[+-]?\d+$/i.test(text)) return `${shown}: exponents are not read, write the number out`
  if (/^\d[\d,_'\s\u00a0\u2009\u202f.]*$/.test(text) && /[,_'\s\u00a0\u2009\u202f]/.test(text)) {
    return `${shown}: thousands separators are not read, write digits only`
  }
  if (/^\d+\.\d+$/.test(text))
    return `${shown} is not in base units; give the token's decimals (--decimals N) for whole tokens`
  const form =
    decimals === undefined ? 'digits only (base units)' : 'digits with an optional point and fraction, as in 12.5'
  return `${shown} is no amount; write ${form}`
}

/** Converts byte offsets to `NAME:LINE:COLUMN` in file order, with one pass over the file. */
function placed(bytes: Uint8Array, name: string, faults: RowFault[]): MerkleIssue[] {
  const places = locate(
    bytes,
    faults.flatMap(({ offset, earlier }) => (earlier === undefined ? [offset] : [offset, earlier])),
  )
  const place = (offset: number) => {
    const { line, column } = places.get(offset) ?? { line: 1, column: 1 }
    return `${line}:${column}`
  }
  return faults
    .sort((a, b) => a.offset - b.offset)
    .map(({ offset, message, earlier }) => ({
      position: `${name}:${place(offset)}`,
      message: earlier === undefined ? message : `${message} ${place(earlier)}`,
    }))
}
