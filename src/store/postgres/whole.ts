/** Reads or fills a whole PostgreSQL database in one transaction. */
import { sql } from 'kysely'
import { ApiError } from '../../platform/errors.ts'
import { postgresBytes } from '../installation/bytes.ts'
import { TABLES } from '../schema.ts'
import type { Tx } from '../store.ts'
import type { CellRow, TableName, TableSize, Whole, WholeMode } from '../transfer/whole.ts'
import { postgresAdditions } from './additions.ts'
import { openingError } from './errors.ts'
import { openConnection } from './pool.ts'
import { type PostgresSettings, postgresSettings, requirePostgresUrl } from './settings.ts'
import { postgresTarget } from './tls.ts'

/** A transaction over a whole database may take hours; others wait for its locks as long as their own limits allow. */
const WHOLE_SESSION = "set lock_timeout = '5s'; set idle_in_transaction_session_timeout = '10min'"
/** Rows fetched at a time; fewer if they are large. */
const ROWS_PER_FETCH = 500
const BYTES_PER_FETCH = 8 * 1024 * 1024
/** The rows of larger tables are estimated instead of counted. */
const COUNTED_BYTES = 64 * 1024 * 1024

/** Throws internal_error without the credentials of the URL. */
export async function withWholePostgres<T>(
  { url, settings = postgresSettings() }: { url: string; settings?: PostgresSettings | undefined },
  mode: WholeMode,
  work: (whole: Whole) => Promise<T>,
): Promise<T> {
  requirePostgresUrl(url)
  const { default: driver } = await import('pg')
  const db = openConnection(driver, postgresTarget(url, settings.tls), settings, WHOLE_SESSION)
  try {
    return await db
      .transaction()
      .setIsolationLevel('repeatable read')
      .setAccessMode(mode === 'read' ? 'read only' : 'read write')
      .execute(async (tx) => {
        if (mode === 'fill') {
          const tables = sql.join(TABLES.map((table) => sql.table(table)))
          await sql`lock table ${tables} in access exclusive mode`.execute(tx)
        }
        return work(wholePostgres(tx))
      })
  } catch (error) {
    throw error instanceof ApiError ? error : openingError(error, url)
  } finally {
    await db.destroy()
  }
}

function wholePostgres(tx: Tx): Whole {
  return {
    kind: 'postgres',
    tx,
    columns: async (table) => (await columnTypes(tx, table)).map(({ name }) => name),
    rows: (table, columns) => fetchedRows(tx, table, columns),
    async lastNumber(table) {
      const sequence = await findSequence(tx, table)
      if (sequence === null) return null
      const { rows } = await sql<{ last: number }>`
        select case when is_called then last_value else 0 end as last from ${sql.raw(sequence)}`.execute(tx)
      return rows[0]?.last ?? 0
    },
    async continueAfter(table, last) {
      const sequence = await findSequence(tx, table)
      if (sequence !== null) await sql`select setval(${sequence}, ${Math.max(last, 1)}, ${last > 0})`.execute(tx)
    },
    async sizes() {
      const { rows } = await sql<{ name: string; bytes: number; estimate: number }>`
        select relname as name, pg_total_relation_size(oid) as bytes, reltuples::bigint as estimate from pg_class
        where relkind = 'r' and relnamespace = current_schema()::regnamespace`.execute(tx)
      const sizes = new Map<string, TableSize>()
      for (const { name, bytes, estimate } of rows) {
        const exact = bytes <= COUNTED_BYTES || estimate < 0
        sizes.set(name, { rows: exact ? await countRows(tx, name) : estimate, exact, bytes })
      }
      return sizes
    },
    additions: () => postgresAdditions(tx),
    bytes: async () => ({ database: await postgresBytes(tx), wal: null }),
  }
}

async function countRows(tx: Tx, table: string): Promise<number> {
  const { rows } = await sql<{ n: number }>`select count(*) as n from ${sql.table(table)}`.execute(tx)
  return rows[0]?.n ?? 0
}

/** Quoted name of the sequence behind `seq`; null if the table has none. */
async function findSequence(tx: Tx, table: TableName): Promise<string | null> {
  if (!(await columnTypes(tx, table)).some(({ name }) => name === 'seq')) return null
  const { rows } = await sql<{ name: string | null }>`select pg_get_serial_sequence(${table}, 'seq') as name`.execute(
    tx,
  )
  return rows[0]?.name ?? null
}

async function columnTypes(tx: Tx, table: TableName): Promise<{ name: string; type: string }[]> {
  const { rows } = await sql<{ name: string; type: string }>`
    select column_name::text collate "C" as name, data_type::text as type from information_schema.columns
    where table_schema = current_schema() and table_name = ${table} order by 1`.execute(tx)
  return rows
}

/** Reads through a cursor of the database, because the driver would keep all rows of a query in memory. */
async function* fetchedRows(tx: Tx, table: TableName, columns: readonly string[]): AsyncGenerator<CellRow> {
  const count = sql.raw(String(await rowsPerFetch(tx, table)))
  const list = sql.join(columns.map((column) => sql.ref(column)))
  await sql`declare svc_rows no scroll cursor for select ${list} from ${sql.table(table)}`.execute(tx)
  for (;;) {
    const { rows } = await sql<CellRow>`fetch forward ${count} from svc_rows`.execute(tx)
    if (rows.length === 0) break
    yield* rows
  }
  await sql`close svc_rows`.execute(tx)
}

/** As many rows as fit into memory if all are as large as the largest. */
async function rowsPerFetch(tx: Tx, table: TableName): Promise<number> {
  const unbounded = (await columnTypes(tx, table)).filter(({ type }) => type === 'text' || type === 'bytea')
  if (unbounded.length === 0) return ROWS_PER_FETCH
  const bytes = sql.join(
    unbounded.map(({ name }) => sql`coalesce(octet_length(${sql.ref(name)}), 0)`),
    sql` + `,
  )
  const { rows } = await sql<{
    largest: number | null
  }>`select max(${bytes}) as largest from ${sql.table(table)}`.execute(tx)
  const largest = Math.max(rows[0]?.largest ?? 0, 1)
  return Math.max(1, Math.min(ROWS_PER_FETCH, Math.floor(BYTES_PER_FETCH / largest)))
}
