/** Fills an empty database from an export, and compares every table with it before the commit. */
import { badRequest, conflict, internal } from '../../platform/errors.ts'
import { FINGERPRINT } from '../installation/installation.ts'
import { areBeforeRelease, migrationState } from '../migrations/migrate.ts'
import type { StoreOptions } from '../open.ts'
import { isEmptyWhenNew, TABLES } from '../schema.ts'
import { findSetting } from '../settings.ts'
import type { Tx } from '../store.ts'
import { EXPORT_FORMAT, type ExportHeader, type ExportReport, type ExportTable, type ExportTableEnd } from './export.ts'
import { hashTable, parseRow, rowText } from './portable-rows.ts'
import type { CellRow, TableName, Whole } from './whole.ts'
import { withWhole } from './with-whole.ts'

/** Both databases allow more parameters in one statement. */
const STATEMENT_PARAMETERS = 30_000
const ROWS_PER_INSERT = 500
/** An insert is sent once its rows have this many characters. */
const TEXT_PER_INSERT = 1024 * 1024

/** Lines of an export, read one at a time. */
interface Lines {
  /** Number of the last line that was read, from 1. */
  readonly number: number
  /** Throws bad_request at the end of the file. */
  next(): Promise<string>
  fault(what: string): Error
}

function numbered(lines: AsyncIterable<string>): Lines {
  const iterator = lines[Symbol.asyncIterator]()
  let number = 0
  return {
    get number() {
      return number
    },
    async next() {
      const { value, done } = await iterator.next()
      if (done) throw badRequest('the export ends before its last line: it was cut off; export again')
      number++
      return value
    },
    fault: (what) => badRequest(`line ${number} of the export ${what}: it was changed or damaged; export again`),
  }
}

/** Reads the first line of an export. Throws bad_request if the file is not an export or has an unknown format. */
export function parseExportHeader(text: string): ExportHeader {
  const header = parsedLine(text) as Partial<ExportHeader> | null
  if (typeof header !== 'object' || header?.svc_export === undefined || !Array.isArray(header.migrations))
    throw badRequest('the file is not an export: `svc db export FILE` writes one')
  if (header.svc_export !== EXPORT_FORMAT)
    throw badRequest(`the export has format ${header.svc_export}, and this program reads ${EXPORT_FORMAT}: upgrade svc`)
  return header as ExportHeader
}

/**
 * Fills a database that has the latest schema, in one transaction. Throws conflict if it has any rows, and bad_request
 * if the export has another schema, was cut off or was changed. Then the database stays as it was.
 */
export function importDatabase(
  options: StoreOptions,
  file: AsyncIterable<string>,
  onTable: (done: number, tables: number) => void = () => {},
): Promise<ExportReport> {
  const lines = numbered(file)
  return withWhole(options, 'fill', async (whole) => {
    const header = parseExportHeader(await lines.next())
    await requireSameSchema(whole, header)
    await requireEmpty(whole.tx, header)
    const tables: ExportReport['tables'][number][] = []
    const lastNumbers = new Map<TableName, number>()
    for (const table of TABLES) {
      const { last_number, ...end } = await fillTable(whole, table, lines)
      if (last_number !== null) lastNumbers.set(table, last_number)
      tables.push({ table, ...end })
      onTable(tables.length, TABLES.length)
    }
    if ((parsedLine(await lines.next()) as { end?: unknown } | null)?.end !== true)
      throw lines.fault('is not the last one')
    for (const { table, ...expected } of tables) await compareTable(whole, table, expected)
    // PostgreSQL does not roll back a sequence's numbers, so they are set last.
    for (const [table, last] of lastNumbers) await whole.continueAfter(table, last)
    return { header, tables }
  })
}

async function requireSameSchema({ tx }: Whole, { migrations, version }: ExportHeader): Promise<void> {
  if (areBeforeRelease(migrations))
    throw badRequest('the export is of a development version of svc (before 0.1.0) and cannot be imported')
  const { applied } = await migrationState(tx)
  if (applied.length === migrations.length && applied.every((name, i) => name === migrations[i])) return
  throw badRequest(
    `the export is of svc ${version} with ${migrations.length} migrations, and this program has ${applied.length}: import it with that version and then upgrade, or upgrade the source first and export again`,
  )
}

/** The caller checks the key of the export. A database of another installation is refused even if it is empty. */
async function requireEmpty(tx: Tx, header: ExportHeader): Promise<void> {
  for (const table of TABLES) {
    if (!isEmptyWhenNew(table)) continue
    const row = await tx
      .selectFrom(table)
      .select((eb) => eb.lit(1).as('one'))
      .limit(1)
      .executeTakeFirst()
    if (row !== undefined) {
      throw conflict(`the database is not empty (there are rows in ${table}): import into a new one`)
    }
  }
  const fingerprint = await findSetting(tx, FINGERPRINT)
  if (fingerprint !== null && fingerprint !== header.fingerprint)
    throw conflict(
      `the database is empty and belongs to another key (fingerprint ${fingerprint}): import into a new one`,
    )
  for (const table of TABLES) if (!isEmptyWhenNew(table)) await tx.deleteFrom(table).execute()
}

async function fillTable(
  whole: Whole,
  table: TableName,
  lines: Lines,
): Promise<ExportTableEnd & { last_number: number | null }> {
  const { columns, last_number } = await tableLine(whole, table, lines)
  const hash = hashTable()
  const most = Math.min(ROWS_PER_INSERT, Math.floor(STATEMENT_PARAMETERS / columns.length))
  let pending: CellRow[] = []
  let length = 0
  const insert = async () => {
    if (pending.length > 0) await insertRows(whole, table, pending)
    pending = []
    length = 0
  }
  let text = await lines.next()
  for (; text.startsWith('['); text = await lines.next()) {
    const row = rowOf(columns, text)
    if (row === null) throw lines.fault(`is not a row of ${table}`)
    hash.add(text)
    pending.push(row)
    length += text.length
    if (pending.length >= most || length >= TEXT_PER_INSERT) await insert()
  }
  await insert()
  const end = parsedLine(text) as { rows?: unknown; sha256?: unknown } | null
  const sha256 = hash.digest()
  if (end?.rows !== hash.rows || end.sha256 !== sha256) throw lines.fault(`says that ${table} had other rows`)
  return { rows: hash.rows, sha256, last_number }
}

async function tableLine(whole: Whole, table: TableName, lines: Lines): Promise<ExportTable> {
  const line = parsedLine(await lines.next()) as Partial<ExportTable> | null
  if (line?.table !== table || !Array.isArray(line.columns)) throw lines.fault(`does not begin the table ${table}`)
  const columns = await whole.columns(table)
  if (columns.join() !== line.columns.join()) throw lines.fault(`gives ${table} other columns than the database has`)
  const last = line.last_number ?? null
  if (last !== null && !Number.isSafeInteger(last)) throw lines.fault('has no last number')
  return { table, columns, last_number: last }
}

async function insertRows({ tx }: Whole, table: TableName, rows: readonly CellRow[]): Promise<void> {
  try {
    await tx
      .insertInto(table)
      .values(rows as never)
      .execute()
  } catch (error) {
    throw internal(`rows of ${table} were refused by the database: ${(error as Error).message}; nothing was imported`, {
      cause: error,
    })
  }
}

/** Reads the table back from the database. */
async function compareTable(whole: Whole, table: TableName, expected: ExportTableEnd): Promise<void> {
  const columns = await whole.columns(table)
  const hash = hashTable()
  for await (const row of whole.rows(table, columns)) hash.add(rowText(table, columns, row))
  if (hash.rows === expected.rows && hash.digest() === expected.sha256) return
  throw internal(
    `${table} is not as it was exported (${hash.rows} rows of ${expected.rows}, or other content): nothing was imported`,
  )
}

function rowOf(columns: readonly string[], text: string): CellRow | null {
  try {
    return parseRow(columns, text)
  } catch {
    return null
  }
}

function parsedLine(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
