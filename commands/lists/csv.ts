/** Reads a CSV with named columns and the position of every cell, so that a fault has file, line and column. */
import { walletKey } from '../../src/merkle/base58.ts'
import { type ColumnRole, roleOf } from '../../src/merkle/column-names.ts'
import { type ColumnChoices, type ColumnPlan, type ListForm, planColumns } from '../../src/merkle/column-plan.ts'
import { isHeader as isHeaderRecord, readWords } from '../../src/merkle/csv-columns.ts'
import { CsvScanner, locate } from '../../src/merkle/csv-scanner.ts'
import { MerkleInputError, quoted } from '../../src/merkle/errors.ts'
import { fileKindFault } from '../../src/merkle/file-faults.ts'
import { UnreadColumns } from '../../src/merkle/unread-columns.ts'
import { readBytes } from '../ui/files.ts'
import { usage } from '../ui/problem.ts'
import type { Ui } from '../ui/ui.ts'
import { deciding, listNotes, sayDecisions } from './column-flags.ts'

const MAX_FAULTS = 100
const ROW_HINT = 'a text with a comma needs quotes, and an empty cell needs its comma in every row'

/** A fault of a file, and the byte at which it is. */
export interface PlacedFault {
  offset: number
  message: string
  /** The name of an unknown column that a person may leave out. */
  undecided?: string | undefined
}

/** A value, and the offset of its first byte. */
export interface PlacedValue {
  value: string | number | boolean
  offset: number
}

export interface PlacedRow {
  /** The cells that are not empty. */
  fields: Map<string, PlacedValue>
  offset: number
  /** The offset of the value of this column, even if it is missing. */
  offsetOf(column: string): number
}

interface PlacedColumns {
  all: readonly string[]
  needed: readonly string[]
  /** The columns of a file without a header, by its number of cells. Without this function, a header is required. */
  withoutHeader?(cells: number): readonly string[]
  /** Added to the message about a row with too many cells. */
  tooManyHint?(cells: number, columns: readonly string[]): string
}

/** Returns the rows without a fault, and adds the faults of the others. Throws a problem for a wrong header. */
export function readCsvRows(
  file: string,
  bytes: Uint8Array,
  columns: PlacedColumns,
  faults: PlacedFault[],
): PlacedRow[] {
  const refuse = (fault: PlacedFault | null | undefined) => {
    if (fault) throw placedProblem(file, bytes, [fault])
  }
  const scanner = new CsvScanner(bytes, { comments: false })
  const kind = fileKindFault(bytes)
  if (kind !== undefined) refuse({ offset: 0, message: kind })
  let names: readonly string[] | undefined
  const rows: PlacedRow[] = []
  while (scanner.next()) {
    if (scanner.fault !== undefined) {
      faults.push(scanner.fault)
      continue
    }
    if (names === undefined) {
      refuse(otherSeparator(scanner))
      const found = namesOf(scanner, columns)
      names = found.names
      refuse(found.fault)
      if (found.isHeader) continue
    }
    const row = rowOf(scanner, bytes, names)
    if (row === null) continue
    const { cells, starts } = scanner
    if (cells <= names.length) {
      rows.push(row)
      continue
    }
    const hint = columns.tooManyHint?.(cells, names) ?? ''
    faults.push({
      offset: starts[names.length] ?? 0,
      message: `${cells} cells, but ${names.length} columns; ${ROW_HINT}${hint}`,
    })
  }
  return rows
}

/** The names of the columns, from a header or the number of cells, and what is wrong with the header. */
function namesOf(scanner: CsvScanner, { all, needed, withoutHeader }: PlacedColumns) {
  const names = Array.from({ length: scanner.cells }, (_, i) => scanner.text(i).toLowerCase())
  const known = all.join(', ')
  if (withoutHeader !== undefined && !needed.some((column) => names.includes(column))) {
    return { names: withoutHeader(scanner.cells), isHeader: false, fault: null }
  }
  const at = (i: number, message: string) => ({
    names,
    isHeader: true,
    fault: { offset: scanner.starts[i] ?? 0, message },
  })
  for (const [i, name] of names.entries()) {
    if (!all.includes(name)) return at(i, `"${name}" is not a column; they are ${known}`)
    if (names.indexOf(name) < i) return at(i, `the column ${name} occurs twice`)
  }
  const missing = needed.find((column) => !names.includes(column))
  if (missing !== undefined) return at(0, `the header has no column ${missing}; they are ${known}`)
  return { names, isHeader: true, fault: null }
}

/** The fault of a file with another separator, which spreadsheets use in many countries. */
function otherSeparator(scanner: CsvScanner): PlacedFault | null {
  if (scanner.cells > 1) return null
  const separator = [';', '\t', '|'].find((separator) => scanner.text(0).includes(separator))
  if (separator === undefined) return null
  const shown = separator === '\t' ? 'tabs' : `"${separator}"`
  return {
    offset: scanner.starts[0] ?? 0,
    message: `cells are separated by commas, not by ${shown}: save it as "CSV UTF-8"`,
  }
}

/** The row; null if it has only commas. */
function rowOf(scanner: CsvScanner, bytes: Uint8Array, names: readonly string[]): PlacedRow | null {
  const cells = Array.from({ length: scanner.cells }, (_, i) => i)
  if (cells.every((i) => scanner.isEmpty(i))) return null
  const places = new Map(cells.map((i) => [names[i] ?? '', scanner.starts[i] ?? 0]))
  const fields = new Map<string, PlacedValue>()
  for (const i of cells) {
    const value = cellText(scanner, i, bytes)
    if (value !== '') fields.set(names[i] ?? '', { value, offset: scanner.starts[i] ?? 0 })
  }
  const end = scanner.ends[scanner.cells - 1] ?? 0
  return { fields, offset: scanner.recordStart, offsetOf: (column) => places.get(column) ?? end }
}

/** The text of a cell; in a quoted cell, two quotes mean one. */
function cellText(scanner: CsvScanner, cell: number, bytes: Uint8Array): string {
  const text = scanner.text(cell)
  return isQuotedCell(scanner, cell, bytes) ? text.replaceAll('""', '"') : text
}

/** Whether the cell is quoted. Spaces inside the quotes are trimmed too, so they are skipped. */
function isQuotedCell({ starts }: CsvScanner, cell: number, bytes: Uint8Array): boolean {
  let at = (starts[cell] ?? 0) - 1
  while (at >= 0 && (bytes[at] === 32 || bytes[at] === 9)) at--
  return bytes[at] === 34
}

/** The rows, each with the line on which it begins. */
export function withLines<R extends { offset: number }>(bytes: Uint8Array, rows: readonly R[]) {
  const lines = locate(
    bytes,
    rows.map(({ offset }) => offset),
  )
  return rows.map(({ offset, ...row }) => ({ ...row, line: lines.get(offset)?.line ?? 0 }))
}

/** The usage problem for the faults: a line `FILE:LINE:COLUMN: what` for each of the first hundred. */
export function placedProblem(file: string, bytes: Uint8Array, faults: readonly PlacedFault[]) {
  const sorted = [...faults].sort((a, b) => a.offset - b.offset)
  const shown = sorted.slice(0, MAX_FAULTS)
  const places = locate(
    bytes,
    shown.map(({ offset }) => offset),
  )
  const lines = shown.map(({ offset, message }) => {
    const { line, column } = places.get(offset) ?? { line: 0, column: 0 }
    return `${file}:${line}:${column}: ${message}`
  })
  if (sorted.length > shown.length) lines.push(`… and ${sorted.length - shown.length} more`)
  return usage(lines[0] ?? file, { lines, details: { issue_count: sorted.length, issues: lines } })
}

/**
 * The rows of a file, each with the line on which it begins. `rowOf` adds what is wrong with a row to the faults, and
 * then returns none. Throws the usage problem of all faults; `example` is a row, for a file without any.
 */
export async function readRows<R extends { offset: number }>(
  file: string,
  columns: PlacedColumns,
  example: string,
  rowOf: (row: PlacedRow, faults: PlacedFault[]) => readonly R[] | Promise<readonly R[]>,
) {
  const bytes = await readBytes(file)
  const faults: PlacedFault[] = []
  const rows: R[] = []
  for (const row of readCsvRows(file, bytes, columns, faults)) rows.push(...(await rowOf(row, faults)))
  if (rows.length === 0 && faults.length === 0) faults.push({ offset: 0, message: `no rows; a row is ${example}` })
  if (faults.length > 0) throw placedProblem(file, bytes, faults)
  return withLines(bytes, rows)
}

/** A list whose columns have the names of the table of all lists. */
interface ListFormat {
  form: ListForm
  choices: ColumnChoices
  /** A row, for a file without any. */
  example: string
  /** The roles of a file without a header, by its number of cells. */
  withoutHeader(cells: number): readonly string[]
  /** The form, if the names of the header decide what is needed. */
  formOf?(names: readonly string[]): ListForm
}

/**
 * Reads the rows of such a list, each with the line on which it begins; cells are named by role. Unknown columns are
 * asked about at a terminal. `rowOf` adds what is wrong with a row to the faults, and then returns none. `notes` say what
 * was read and what was not, for the answer.
 */
export async function readListRows<R extends { offset: number }>(
  ui: Ui,
  file: string,
  format: ListFormat,
  rowOf: (row: PlacedRow, faults: PlacedFault[]) => readonly R[],
) {
  const bytes = await readBytes(file)
  let faults: PlacedFault[] = []
  const read = async (choices: ColumnChoices) => {
    faults = []
    const scanned = scannedRows(bytes, { ...format, choices }, faults)
    const rows = scanned.rows.flatMap((row) => rowOf(row, faults))
    if (rows.length === 0 && faults.length === 0)
      faults.push({ offset: 0, message: `no rows; a row is ${format.example}` })
    if (faults.length > 0) {
      const undecided = faults.flatMap(({ undecided: name }) => name ?? [])
      const issues = faults.map(({ message }) => ({ position: file, message }))
      throw new MerkleInputError(issues, faults.length, undecided)
    }
    if (scanned.ignored.length > 0)
      await ui.preview([
        `${file}: not read: ${scanned.ignored.map(quoted).join(', ')}; read: ${readWords(scanned.read)}`,
      ])
    sayDecisions(ui, file, scanned)
    return { rows: withLines(bytes, rows), notes: listNotes(scanned) }
  }
  try {
    return await deciding(ui, format.choices, read)
  } catch (error) {
    if (error instanceof MerkleInputError) throw placedProblem(file, bytes, faults)
    throw error
  }
}

interface Scanned {
  rows: PlacedRow[]
  read: Readonly<Record<string, string>>
  ignored: readonly string[]
  overruled: readonly string[]
  paidRows: number
}

/** The rows that are read; faults of the file, its header and its other columns are added. */
function scannedRows(bytes: Uint8Array, format: ListFormat, faults: PlacedFault[]): Scanned {
  const none: Scanned = { rows: [], read: {}, ignored: [], overruled: [], paidRows: 0 }
  const refused = (fault: PlacedFault) => {
    faults.push(fault)
    return none
  }
  const kind = fileKindFault(bytes)
  if (kind !== undefined) return refused({ offset: 0, message: kind })
  const scanner = new CsvScanner(bytes, { comments: false })
  let plan: ColumnPlan | undefined
  let unread: UnreadColumns | undefined
  let names: readonly string[] = []
  let read: Readonly<Record<string, string>> = {}
  let isHeader = false
  const rows: PlacedRow[] = []
  while (scanner.next()) {
    if (scanner.fault !== undefined) {
      faults.push(scanner.fault)
      continue
    }
    if (plan === undefined) {
      const separator = otherSeparator(scanner)
      if (separator !== null) return refused(separator)
      const texts = Array.from({ length: scanner.cells }, (_, i) => scanner.text(i))
      isHeader = isListHeader(texts, format)
      const found = isHeader
        ? planColumns(texts, format.formOf?.(texts) ?? format.form, format.choices)
        : numberedPlan(format.withoutHeader(texts.length), texts.length)
      if ('message' in found) return refused({ offset: scanner.starts[found.cell] ?? 0, message: found.message })
      plan = found
      const roles = new Map([...found.cells].map(([role, cell]) => [cell, role]))
      names = texts.map((_, cell) => roles.get(cell) ?? `\0${cell}`)
      read = Object.fromEntries([...found.cells].map(([role, cell]) => [role, texts[cell] ?? '']))
      unread = new UnreadColumns(found.watched, format.form, {
        choices: format.choices,
        refuse: (offset, message, undecided) => faults.push({ offset, message: message(), undecided }),
      })
      if (isHeader) continue
    }
    const row = rowOf(scanner, bytes, names)
    if (row === null) continue
    const { cells, starts, ends } = scanner
    if (cells > names.length) {
      const what = isHeader ? 'header' : 'first row'
      faults.push({
        offset: starts[names.length] ?? 0,
        message: `${cells} cells, but the ${what} has ${names.length}; ${ROW_HINT}`,
      })
      continue
    }
    const end = ends[cells - 1] ?? 0
    const isRead = unread?.isRead({
      offset: row.offset,
      text: (cell) => (cell < cells ? cellText(scanner, cell, bytes) : ''),
      offsetOf: (cell) => (cell < cells ? (starts[cell] ?? end) : end),
    })
    if (isRead !== false) rows.push(row)
  }
  unread?.finish()
  return { ...none, ...plan, rows, read, paidRows: unread?.leftOut ?? 0 }
}

/** Whether a first record names columns: one that is read, one that a flag names, or none that could be a wallet. */
function isListHeader(texts: readonly string[], { form, choices }: ListFormat): boolean {
  if (texts.some((text) => walletKey(text) !== undefined)) return false
  const flags = [choices.wallet, choices.amount, ...(choices.ignore ?? [])]
  if (texts.some((text) => flags.includes(text) || form.reads.some((role) => roleOf(text) === role))) return true
  return form.needs.includes('wallet') && isHeaderRecord(texts)
}

/** The columns of a file without a header. */
function numberedPlan(roles: readonly string[], width: number): ColumnPlan | { cell: number; message: string } {
  if (width > roles.length) {
    const message = `${width} cells, and a file without a header has at most ${roles.length}: begin it with ${roles.join(',')}; ${ROW_HINT}`
    return { cell: roles.length, message }
  }
  const cells = new Map(roles.slice(0, width).map((role, cell) => [role as ColumnRole, cell]))
  return { cells, watched: [], ignored: [], overruled: [] }
}
