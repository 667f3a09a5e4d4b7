/** Writes a whole database as lines of JSON, from which either database can be filled. */
import { internal } from '../../platform/errors.ts'
import { VERSION } from '../../platform/version.ts'
import { FINGERPRINT } from '../installation/installation.ts'
import { migrationState } from '../migrations/migrate.ts'
import type { StoreOptions } from '../open.ts'
import { TABLES } from '../schema.ts'
import { findSetting } from '../settings.ts'
import { hashTable, rowText } from './portable-rows.ts'
import type { TableName, Whole } from './whole.ts'
import { withWhole } from './with-whole.ts'

export const EXPORT_FORMAT = 1

/** First line of an export. */
export interface ExportHeader {
  svc_export: number
  version: string
  kind: string
  /** In ISO 8601. */
  created_at: string
  /** Migrations that the database had. */
  migrations: readonly string[]
  /** Fingerprint of the key that sealed it. */
  fingerprint: string | null
}

/** Line before the rows of a table. */
export interface ExportTable {
  table: TableName
  columns: readonly string[]
  last_number: number | null
}

/** Line after the rows of a table. */
export interface ExportTableEnd {
  rows: number
  sha256: string
}

export interface ExportReport {
  header: ExportHeader
  tables: readonly ({ table: TableName } & ExportTableEnd)[]
}

/**
 * Passes every line, with its line break, to `write`. All lines show one moment, while others write. Throws
 * internal_error if migrations are pending.
 */
export function exportDatabase(
  options: StoreOptions,
  write: (line: string) => Promise<void>,
  onTable: (done: number, tables: number) => void = () => {},
): Promise<ExportReport> {
  return withWhole(options, 'read', async (whole) => {
    const header = await exportHeader(whole)
    const line = (value: object) => write(`${JSON.stringify(value)}\n`)
    await line(header)
    const tables: ({ table: TableName } & ExportTableEnd)[] = []
    for (const table of TABLES) {
      const columns = await whole.columns(table)
      await line({ table, columns, last_number: await whole.lastNumber(table) } satisfies ExportTable)
      const hash = hashTable()
      for await (const row of whole.rows(table, columns)) {
        const text = rowText(table, columns, row)
        hash.add(text)
        await write(`${text}\n`)
      }
      const end: ExportTableEnd = { rows: hash.rows, sha256: hash.digest() }
      await line(end)
      tables.push({ table, ...end })
      onTable(tables.length, TABLES.length)
    }
    await line({ end: true, tables: tables.length })
    return { header, tables }
  })
}

async function exportHeader({ tx, kind }: Whole): Promise<ExportHeader> {
  const { applied, pending } = await migrationState(tx)
  if (pending.length > 0) {
    throw internal(
      `the database lacks ${pending.length} migrations of this program (from ${pending[0]} on): run \`svc db migrate\` first`,
    )
  }
  return {
    svc_export: EXPORT_FORMAT,
    version: VERSION,
    kind,
    created_at: new Date().toISOString(),
    migrations: applied,
    fingerprint: await findSetting(tx, FINGERPRINT),
  }
}
