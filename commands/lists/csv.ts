/** Reads a CSV with named columns and the position of every cell, so that a fault has file, line and column. */
import { CsvScanner, locate } from '../../src/merkle/csv-scanner.ts'
import { fileKindFault } from '../../src/merkle/file-faults.ts'
import { readBytes } from '../ui/files.ts'
import { usage } from '../ui/problem.ts'

const MAX_FAULTS = 100

/** A fault of a file, and the byte at which it is. */
export interface PlacedFault {
  offset: number
  message: string
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

export interface PlacedColumns {
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
      message: `${cells} cells, but ${names.length} columns; put a text with a comma in quotes${hint}`,
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
  rowOf: (row: PlacedRow, faults: PlacedFault[]) => readonly R[],
) {
  const bytes = await readBytes(file)
  const faults: PlacedFault[] = []
  const rows = readCsvRows(file, bytes, columns, faults).flatMap((row) => rowOf(row, faults))
  if (rows.length === 0 && faults.length === 0) faults.push({ offset: 0, message: `no rows; a row is ${example}` })
  if (faults.length > 0) throw placedProblem(file, bytes, faults)
  return withLines(bytes, rows)
}
