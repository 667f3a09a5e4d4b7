/** Reads or fills a whole SQLite database in one transaction. */
import type Database from 'better-sqlite3'
import { Kysely, SqliteDialect, sql } from 'kysely'
import { internal } from '../../platform/errors.ts'
import { loadSqlite } from '../../platform/native-modules.ts'
import { trackFaults } from '../faults.ts'
import { sqliteBytes } from '../installation/bytes.ts'
import type { Tables } from '../schema.ts'
import type { Tx } from '../store.ts'
import type { CellRow, TableName, TableSize, Whole, WholeMode } from '../transfer/whole.ts'
import { preparing, sqliteAdditions, sqliteCode, writerDialect } from './connection.ts'

const WAIT_MS = 5_000

/** Throws internal_error when the file cannot be opened. */
export async function withWholeSqlite<T>(
  file: string,
  mode: WholeMode,
  work: (whole: Whole) => Promise<T>,
): Promise<T> {
  const Driver = loadSqlite()
  try {
    const raw = new Driver(file, { readonly: mode === 'read', fileMustExist: true, timeout: WAIT_MS })
    try {
      if (mode === 'fill') {
        raw.pragma('synchronous = FULL')
        raw.pragma('foreign_keys = ON')
      }
      const dialect =
        mode === 'fill'
          ? writerDialect(raw, preparing(raw, trackFaults()), WAIT_MS)
          : new SqliteDialect({ database: raw })
      const database = new Kysely<Tables>({ dialect })
      const result = await database.transaction().execute((tx) => work(wholeSqlite(raw, tx, file)))
      if (mode === 'fill') raw.pragma('wal_checkpoint(TRUNCATE)')
      return result
    } finally {
      raw.close()
    }
  } catch (error) {
    if (sqliteCode(error) === '') throw error
    throw internal(`the database ${file} failed: ${(error as Error).message}; \`svc doctor\` checks it`, {
      cause: error,
    })
  }
}

function wholeSqlite(raw: Database.Database, tx: Tx, file: string): Whole {
  const pragma = async (name: 'page_count' | 'page_size') => {
    const { rows } = await sql<Record<string, number>>`pragma ${sql.raw(name)}`.execute(tx)
    return rows[0]?.[name] ?? 0
  }
  return {
    kind: 'sqlite',
    tx,
    async columns(table) {
      const { rows } = await sql<{ name: string }>`select name from pragma_table_info(${table}) order by name`.execute(
        tx,
      )
      return rows.map(({ name }) => name)
    },
    rows: (table, columns) =>
      tx
        .selectFrom(table)
        .select(columns as never)
        .$castTo<CellRow>()
        .stream(),
    async lastNumber(table) {
      if (!(await isNumbered(tx, table))) return null
      const { rows } = await sql<{ seq: number }>`select seq from sqlite_sequence where name = ${table}`.execute(tx)
      return rows[0]?.seq ?? 0
    },
    async continueAfter(table, last) {
      await sql`delete from sqlite_sequence where name = ${table}`.execute(tx)
      await sql`insert into sqlite_sequence (name, seq) values (${table}, ${last})`.execute(tx)
    },
    async sizes() {
      const { rows } = await sql<{ name: string; bytes: number }>`
        select tbl_name as name, sum(pgsize) as bytes from dbstat join sqlite_schema using (name)
        where aggregate = true and tbl_name not like 'sqlite_%' group by tbl_name`.execute(tx)
      const sizes = new Map<string, TableSize>()
      for (const { name, bytes } of rows) {
        const counted = await sql<{ n: number }>`select count(*) as n from ${sql.table(name)}`.execute(tx)
        sizes.set(name, { rows: counted.rows[0]?.n ?? 0, exact: true, bytes })
      }
      return sizes
    },
    additions: async () => sqliteAdditions(raw),
    async bytes() {
      // The file lacks the pages that are still in the log.
      const database = (await pragma('page_count')) * (await pragma('page_size'))
      return { database, wal: (await sqliteBytes(file)).wal }
    },
  }
}

async function isNumbered(tx: Tx, table: TableName): Promise<boolean> {
  const { rows } = await sql<{
    sql: string
  }>`select sql from sqlite_schema where type = 'table' and name = ${table}`.execute(tx)
  return /\bautoincrement\b/i.test(rows[0]?.sql ?? '')
}
