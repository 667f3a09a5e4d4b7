/** SQLite connections for Kysely: they take the write lock at the start, cache prepared statements and record faults. */
import { setTimeout as delay } from 'node:timers/promises'
import type Database from 'better-sqlite3'
import {
  type DatabaseConnection,
  type Dialect,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDriver,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import type { Faults } from '../faults.ts'
import { addition, type SchemaDialect } from '../migrations/dialect.ts'
import type { DirectDatabase, DirectStatement } from '../queries/prepared.ts'
import { databaseBusy } from '../writing/work.ts'

export const sqliteSchema: SchemaDialect = {
  blob: 'blob',
  number: 'integer',
  rateAdmission: false,
  sequence: 'integer primary key autoincrement',
}

/** Triggers and views of a database, described in words; migrations create none. */
export const sqliteAdditions = (raw: Database.Database): string[] =>
  raw
    .prepare<[], { type: string; name: string; on: string }>(
      `select type, name, tbl_name as "on" from sqlite_schema where type in ('trigger', 'view') order by name`,
    )
    .all()
    .map(addition)

/** Maximum number of cached prepared statements of a connection. */
const STATEMENTS = 500

/** Returns the code of a SQLite error, or an empty text for any other error. */
export const sqliteCode = (error: unknown): string =>
  error instanceof Error && error.name === 'SqliteError' ? String((error as { code?: unknown }).code) : ''

export const isDuplicate = (error: unknown) => /^SQLITE_CONSTRAINT_(UNIQUE|PRIMARYKEY)$/.test(sqliteCode(error))

/** Retries while another process holds the lock, without blocking the event loop as SQLite's own busy timeout would. */
export async function whenFree<T>(timeoutMs: number, attempt: () => T): Promise<T> {
  const deadline = performance.now() + timeoutMs
  for (let wait = 1; ; wait = Math.min(wait * 2, 25)) {
    try {
      return attempt()
    } catch (error) {
      if (!/^SQLITE_(BUSY|LOCKED)/.test(sqliteCode(error))) throw error
      if (performance.now() >= deadline) {
        throw databaseBusy(error, `another process has been writing for ${timeoutMs} ms`)
      }
      await delay(wait)
    }
  }
}

export const writerDialect = (raw: Database.Database, prepares: SqliteDatabase, busyTimeoutMs: number): Dialect => ({
  createAdapter: () => new SqliteAdapter(),
  createDriver: () => new WriterDriver(raw, prepares, busyTimeoutMs),
  createIntrospector: (db) => new SqliteIntrospector(db),
  createQueryCompiler: () => new SqliteQueryCompiler(),
})

/** Takes the write lock when a transaction begins, because a later upgrade of a read lock can fail. */
class WriterDriver extends SqliteDriver {
  readonly #raw: Database.Database
  readonly #busyTimeoutMs: number

  constructor(raw: Database.Database, prepares: SqliteDatabase, busyTimeoutMs: number) {
    super({ database: prepares })
    this.#raw = raw
    this.#busyTimeoutMs = busyTimeoutMs
  }

  override async beginTransaction(): Promise<void> {
    await whenFree(this.#busyTimeoutMs, () => this.#raw.exec('begin immediate'))
  }

  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#raw.inTransaction) await super.rollbackTransaction(connection)
  }
}

/**
 * Wraps a connection for Kysely with a cache of prepared statements, because preparing a statement costs more than
 * running it.
 */
export function preparing(raw: Database.Database, faults: Faults): DirectDatabase {
  const statements = new Map<string, DirectStatement>()
  return {
    prepare(text) {
      let statement = statements.get(text)
      if (!statement) {
        if (statements.size >= STATEMENTS) statements.clear()
        statement = noting(faults, () => watched(raw.prepare<unknown[]>(text), faults))
        statements.set(text, statement)
      }
      return statement
    },
    close: () => void raw.close(),
  }
}

function watched(statement: Database.Statement<unknown[]>, faults: Faults): DirectStatement {
  return {
    reader: statement.reader,
    all: (parameters) => noting(faults, () => statement.all(parameters)),
    get: (parameters) => noting(faults, () => statement.get(parameters)),
    run: (parameters) => noting(faults, () => statement.run(parameters)),
    iterate: (parameters) => noting(faults, () => statement.iterate(...parameters)),
  } as DirectStatement
}

/** Records faults of every statement, because any statement can hit a damaged page. */
export function noting<T>(faults: Faults, run: () => T): T {
  try {
    return run()
  } catch (error) {
    faults.recordError(error)
    throw error
  }
}
