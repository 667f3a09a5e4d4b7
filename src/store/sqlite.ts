/** The store on SQLite: one file, durable group commits, reads on a connection of their own. */
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import Database from 'better-sqlite3'
import {
  CompiledQuery,
  type ControlledTransaction,
  type DatabaseConnection,
  type Driver,
  Kysely,
  type SqliteDatabase,
  SqliteDialect,
  SqliteDriver,
  sql,
} from 'kysely'
import { internal } from '../errors.ts'
import type { SchemaDialect } from './migrations/dialect.ts'
import { isCurrent, migrate } from './migrations/migrate.ts'
import type { Tables } from './schema.ts'
import type { Store, Tx } from './store.ts'
import { duplicateKey, refuseNestedWrite, runWork } from './work.ts'

export const DATABASE_FILE = 'svc.db'

/** Works in one commit: past this the commit itself costs next to nothing, and the event loop should breathe. */
const GROUP_SIZE = 256
/** Statements kept prepared on a connection. */
const STATEMENTS = 500

const DIALECT: SchemaDialect = {
  blob: 'blob',
  sequence: { type: 'integer', build: (column) => column.primaryKey().autoIncrement() },
}

export interface SqliteOptions {
  /** Made (0700) where it is missing. */
  dataDir: string
  /** How long to wait for another process that writes. */
  busyTimeoutMs?: number
}

interface Queued {
  work: (tx: Tx) => Promise<unknown>
  resolve: (value: never) => void
  reject: (error: unknown) => void
}

type Outcome = { value: unknown } | { error: unknown }

export async function openSqlite({ dataDir, busyTimeoutMs = 5000 }: SqliteOptions): Promise<Store> {
  const file = join(dataDir, DATABASE_FILE)
  const raw = await openFile(dataDir, file, busyTimeoutMs)
  const writer = new Kysely<Tables>({ dialect: new WriterDialect(raw, busyTimeoutMs) })
  const reader = new Database(file, { readonly: true, timeout: busyTimeoutMs })
  reader.pragma('cache_size = -16384')
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: preparing(reader) }) })

  let queue: Queued[] = []
  let flushing = false
  let closing: Promise<void> | undefined
  let idle: (() => void) | undefined

  function schedule() {
    if (flushing) return
    flushing = true
    setImmediate(() => void flush())
  }

  async function flush() {
    const group = queue.slice(0, GROUP_SIZE)
    queue = queue.slice(GROUP_SIZE)
    await commitGroup(writer, raw, group)
    flushing = false
    if (queue.length > 0) schedule()
    else idle?.()
  }

  return {
    kind: 'sqlite',
    db,
    async write(work) {
      refuseNestedWrite()
      if (closing) throw internal('the store is closed')
      return new Promise((resolve, reject) => {
        queue.push({ work, resolve, reject })
        schedule()
      })
    },
    async ping() {
      await sql`select 1`.execute(db)
    },
    close() {
      closing ??= (async () => {
        if (flushing) await new Promise<void>((resolve) => (idle = resolve))
        await db.destroy()
        await writer.destroy()
        // Without a query the drivers were never started, and have nothing to close.
        reader.close()
        raw.close()
      })()
      return closing
    },
  }
}

/** Runs the works in one transaction, a savepoint each, and settles them after the commit. Never throws. */
async function commitGroup(writer: Kysely<Tables>, raw: Database.Database, group: readonly Queued[]): Promise<void> {
  const outcomes: Outcome[] = []
  let tx: ControlledTransaction<Tables> | undefined
  try {
    tx = await writer.startTransaction().execute()
    for (const { work } of group) outcomes.push(await runInSavepoint(tx, raw, work))
    await tx.commit().execute()
  } catch (error) {
    await tx?.rollback().execute()
    for (const { reject } of group) reject(error)
    return
  }
  group.forEach(({ resolve, reject }, index) => {
    const outcome = outcomes[index]!
    if ('error' in outcome) reject(outcome.error)
    else resolve(outcome.value as never)
  })
}

const SAVEPOINT = CompiledQuery.raw('savepoint work')
const RELEASE = CompiledQuery.raw('release work')
const ROLLBACK = CompiledQuery.raw('rollback to work')

async function runInSavepoint(
  tx: ControlledTransaction<Tables>,
  raw: Database.Database,
  work: (tx: Tx) => Promise<unknown>,
): Promise<Outcome> {
  await tx.executeQuery(SAVEPOINT)
  let outcome: Outcome
  try {
    outcome = { value: await runWork(tx, work) }
  } catch (error) {
    // A full disk or the like has ended the whole transaction: then every work of the group has failed.
    if (!raw.inTransaction) throw error
    // Queries that the work had sent side by side with the failed one must run before they are undone, not after.
    await nextTurn()
    await tx.executeQuery(ROLLBACK)
    outcome = { error: isDuplicate(error) ? duplicateKey(error) : error }
  }
  await tx.executeQuery(RELEASE)
  return outcome
}

const isDuplicate = (error: unknown) =>
  error instanceof Database.SqliteError && /^SQLITE_CONSTRAINT_(UNIQUE|PRIMARYKEY)$/.test(error.code)

async function openFile(dataDir: string, file: string, busyTimeoutMs: number): Promise<Database.Database> {
  let raw: Database.Database | undefined
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    // SQLite gives its journal files the mode of the database file.
    closeSync(openSync(file, 'a', 0o600))
    const opened = new Database(file, { timeout: 0 })
    raw = opened
    await whenFree(busyTimeoutMs, () => opened.pragma('journal_mode = WAL'))
    opened.pragma('synchronous = FULL')
    opened.pragma('foreign_keys = ON')
    opened.pragma('cache_size = -16384')
    opened.pragma('wal_autocheckpoint = 4000')
    await migrateFile(opened, busyTimeoutMs)
    return opened
  } catch (error) {
    raw?.close()
    if (error instanceof Database.SqliteError || (error as NodeJS.ErrnoException).syscall !== undefined) {
      throw internal(`cannot open the database ${file}: ${(error as Error).message}`, { cause: error })
    }
    throw error
  }
}

/** Kysely takes no migration lock on SQLite; the write lock, held from before the look until the commit, is one. */
async function migrateFile(raw: Database.Database, busyTimeoutMs: number): Promise<void> {
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: raw }) })
  if (await isCurrent(db)) return
  await whenFree(busyTimeoutMs, () => raw.exec('begin immediate'))
  try {
    if (!(await isCurrent(db))) await migrate(db, DIALECT)
    raw.exec('commit')
  } catch (error) {
    if (raw.inTransaction) raw.exec('rollback')
    throw error
  }
}

/** Waits for another process without holding up this one's event loop, as SQLite's own busy timeout would. */
async function whenFree<T>(timeoutMs: number, attempt: () => T): Promise<T> {
  const deadline = performance.now() + timeoutMs
  for (let wait = 1; ; wait = Math.min(wait * 2, 25)) {
    try {
      return attempt()
    } catch (error) {
      if (!(error instanceof Database.SqliteError) || !/^SQLITE_(BUSY|LOCKED)/.test(error.code)) throw error
      if (performance.now() >= deadline) {
        throw internal(`database is busy: another process has been writing for ${timeoutMs} ms; try again`, {
          cause: error,
        })
      }
      await delay(wait)
    }
  }
}

class WriterDialect extends SqliteDialect {
  readonly #raw: Database.Database
  readonly #busyTimeoutMs: number

  constructor(raw: Database.Database, busyTimeoutMs: number) {
    super({ database: preparing(raw) })
    this.#raw = raw
    this.#busyTimeoutMs = busyTimeoutMs
  }

  override createDriver(): Driver {
    return new WriterDriver(this.#raw, this.#busyTimeoutMs)
  }
}

/** Takes the write lock when a transaction begins: a lock wanted halfway could only be refused. */
class WriterDriver extends SqliteDriver {
  readonly #raw: Database.Database
  readonly #busyTimeoutMs: number

  constructor(raw: Database.Database, busyTimeoutMs: number) {
    super({ database: preparing(raw) })
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

/** The connection as kysely sees it, with its statements kept: preparing one costs more than running it. */
function preparing(raw: Database.Database): SqliteDatabase {
  const statements = new Map<string, Database.Statement<unknown[]>>()
  return {
    prepare(text) {
      let statement = statements.get(text)
      if (!statement) {
        if (statements.size >= STATEMENTS) statements.clear()
        statement = raw.prepare<unknown[]>(text)
        statements.set(text, statement)
      }
      return statement as unknown as ReturnType<SqliteDatabase['prepare']>
    },
    close: () => void raw.close(),
  }
}
