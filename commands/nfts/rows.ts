/** Reads the CSV of `svc nfts mint --from`: a row for each NFT, and every fault with its line and column. */
import { walletFault, walletKey } from '../../src/merkle/base58.ts'
import { CsvScanner, locate } from '../../src/merkle/csv-scanner.ts'
import { fileKindFault } from '../../src/merkle/file-faults.ts'
import { readBytes } from '../ui/files.ts'
import { usage } from '../ui/problem.ts'

export interface NftRow {
  name: string
  uri: string
  /** The owner's address; null for the payer. */
  owner: string | null
  line: number
}

const NFT_COLUMNS = ['name', 'uri', 'owner'] as const
type NftColumn = (typeof NFT_COLUMNS)[number]
const MAX_FAULTS = 100

export interface NftRowFault {
  offset: number
  message: string
}

/**
 * Reads the rows; throws a usage problem with one line `FILE:LINE:COLUMN: what` for each of the first hundred faults.
 */
export async function readRows(file: string): Promise<NftRow[]> {
  const bytes = await readBytes(file)
  const check = await nftRowChecks()
  const faults: NftRowFault[] = []
  const rows: (Omit<NftRow, 'line'> & { offset: number })[] = []
  const scanner = new CsvScanner(bytes, { comments: false })
  const kind = fileKindFault(bytes)
  if (kind !== undefined) throw rowsProblem(file, bytes, [{ offset: 0, message: kind }])
  let places: Record<NftColumn, number> | undefined
  while (scanner.next()) {
    if (scanner.fault !== undefined) {
      faults.push(scanner.fault)
      continue
    }
    if (places === undefined) {
      const separator = otherSeparator(scanner)
      if (separator !== null) throw rowsProblem(file, bytes, [separator])
      const header = headerOf(scanner)
      if (header !== null && 'message' in header) throw rowsProblem(file, bytes, [header])
      places = header ?? { name: 0, uri: 1, owner: scanner.cells > 2 ? 2 : -1 }
      if (header !== null) continue
    }
    const row = readRow(scanner, places, bytes, check, faults)
    if (row !== null) rows.push(row)
  }
  if (rows.length === 0 && faults.length === 0) faults.push({ offset: 0, message: 'no rows; a row is name,uri' })
  if (faults.length > 0) throw rowsProblem(file, bytes, faults)
  const lines = locate(
    bytes,
    rows.map(({ offset }) => offset),
  )
  return rows.map(({ offset, ...row }) => ({ ...row, line: lines.get(offset)?.line ?? 0 }))
}

type NftRowChecks = Record<NftColumn | 'row', (row: { name: string; uri: string; owner: string }) => string | undefined>

/** The API's own checks, so that a row that passes here is not refused during the run. */
async function nftRowChecks(): Promise<NftRowChecks> {
  const [{ assetTexts, checkTextSize, nft }, { z }] = await Promise.all([
    import('../../src/api/nfts.ts'),
    import('@hono/zod-openapi'),
  ])
  const firstIssue = (schema: {
    safeParse(value: unknown): { error?: { issues: { message: string }[] } | undefined }
  }) => {
    return (value: unknown) => schema.safeParse(value).error?.issues[0]?.message
  }
  const [name, uri, owner] = [firstIssue(assetTexts.name), firstIssue(assetTexts.uri), firstIssue(nft.shape.asset)]
  const row = firstIssue(z.object(assetTexts).superRefine(checkTextSize))
  return {
    name: (of) => name(of.name),
    uri: (of) => uri(of.uri),
    owner: ({ owner: text }) => {
      if (text === '' || walletKey(text) !== undefined) return undefined
      return owner(text) ?? `is not a wallet: ${walletFault(text)}`
    },
    row: ({ name, uri }) => row({ name, uri }),
  }
}

/** The fault of a file with another separator, which spreadsheets write in many countries. */
export function otherSeparator(scanner: CsvScanner): NftRowFault | null {
  if (scanner.cells > 1) return null
  const separator = [';', '\t', '|'].find((separator) => scanner.text(0).includes(separator))
  if (separator === undefined) return null
  const shown = separator === '\t' ? 'tabs' : `"${separator}"`
  return {
    offset: scanner.starts[0] ?? 0,
    message: `cells are separated by commas, not by ${shown}: save it as "CSV UTF-8"`,
  }
}

/** The columns of the header, or its fault; null where the first record is a row. */
function headerOf(scanner: CsvScanner): Record<NftColumn, number> | NftRowFault | null {
  const names = Array.from({ length: scanner.cells }, (_, i) => scanner.text(i).toLowerCase())
  if (!names.includes('name') && !names.includes('uri')) return null
  const places = { name: -1, uri: -1, owner: -1 }
  for (const [i, name] of names.entries()) {
    const offset = scanner.starts[i] ?? 0
    if (!NFT_COLUMNS.includes(name as NftColumn)) {
      return { offset, message: `"${name}" is no column; they are name, uri and owner` }
    }
    if (places[name as NftColumn] >= 0) return { offset, message: `the column ${name} stands twice` }
    places[name as NftColumn] = i
  }
  const missing = (['name', 'uri'] as const).find((column) => places[column] < 0)
  return missing === undefined
    ? places
    : { offset: scanner.starts[0] ?? 0, message: `the header has no column ${missing}; they are name, uri and owner` }
}

/** The row; null for a row of nothing but commas, and for one with a fault. */
function readRow(
  scanner: CsvScanner,
  places: Record<NftColumn, number>,
  bytes: Uint8Array,
  check: NftRowChecks,
  faults: NftRowFault[],
): (Omit<NftRow, 'line'> & { offset: number }) | null {
  const { cells, starts, ends } = scanner
  const at = (column: NftColumn) => (places[column] >= 0 && places[column] < cells ? places[column] : -1)
  const cell = (column: NftColumn) => (at(column) < 0 ? '' : nftCellText(scanner, at(column), bytes))
  const row = { name: cell('name'), uri: cell('uri'), owner: cell('owner') }
  if (Array.from({ length: cells }, (_, i) => scanner.isEmpty(i)).every(Boolean)) return null
  const width = Object.values(places).filter((place) => place >= 0).length
  if (cells > width) {
    const header = places.owner < 0 && cells === 3 ? ', or begin the file with name,uri,owner' : ''
    const message = `${cells} cells where there are ${width} columns; put a text with a comma in quotes${header}`
    faults.push({ offset: starts[width] ?? 0, message })
    return null
  }
  let isValid = true
  const refuse = (column: NftColumn, message: string) => {
    isValid = false
    const offset = (at(column) < 0 ? ends[cells - 1] : starts[at(column)]) ?? 0
    faults.push({ offset, message: `the ${column} ${message}` })
  }
  for (const column of NFT_COLUMNS) {
    if (column !== 'owner' && row[column] === '') refuse(column, 'is missing')
    else if (row[column].includes('\uFFFD')) refuse(column, 'is not UTF-8')
    else {
      const message = check[column](row)
      if (message !== undefined) refuse(column, message)
    }
  }
  const message = isValid ? check.row(row) : undefined
  if (message !== undefined) refuse('uri', message)
  if (!isValid) return null
  return { name: row.name, uri: row.uri, owner: row.owner === '' ? null : row.owner, offset: scanner.recordStart }
}

/** The text of a cell; doubled quotes within a quoted cell stand for one. */
export function nftCellText(scanner: CsvScanner, cell: number, bytes: Uint8Array): string {
  const text = scanner.text(cell)
  return isQuotedCell(scanner, cell, bytes) ? text.replaceAll('""', '"') : text
}

/** Whether the cell is quoted. Spaces inside the quotes are trimmed too, so they are skipped. */
function isQuotedCell({ starts }: CsvScanner, cell: number, bytes: Uint8Array): boolean {
  let at = (starts[cell] ?? 0) - 1
  while (at >= 0 && (bytes[at] === 32 || bytes[at] === 9)) at--
  return bytes[at] === 34
}

export function rowsProblem(file: string, bytes: Uint8Array, faults: readonly NftRowFault[]) {
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
