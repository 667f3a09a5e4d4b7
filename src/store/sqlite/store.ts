/** Store on SQLite: one file, durable group commits, and a separate connection for reads. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import type Database from 'better-sqlite3'
import { Kysely, SqliteDialect, sql } from 'kysely'
import { internal } from '../../platform/errors.ts'
import { makeDataFolder, makeOwnDatabase } from '../../platform/files.ts'
import { loadSqlite } from '../../platform/native-modules.ts'
import { DATABASE_FILE } from '../../settings/config.ts'
import { trackFaults } from '../faults.ts'
import { sqliteBytes } from '../installation/bytes.ts'
import { copyBeforeMigration } from '../migrations/copy-before.ts'
import { applyMigrations, fillNext, type MigrationState, migrationState } from '../migrations/migrate.ts'
import { refuseAdditions, refuseHalfApplied } from '../migrations/schema-check.ts'
import { runDirectly } from '../queries/prepared.ts'
import type { Tables } from '../schema.ts'
import type { OnMigrated, OnMigrating, Store } from '../store.ts'
import { finishInterruptedRestore, refuseDuringRestore } from '../transfer/restore-switch.ts'
import { actAfter, localWakeups } from '../workers/wakeups.ts'
import { nothingAfter, refuseNestedWrite, runWork } from '../writing/work.ts'
import { noting, preparing, sqliteAdditions, sqliteCode, sqliteSchema, whenFree, writerDialect } from './connection.ts'
import { groupCommits } from './group.ts'
import { offerDatabaseVersion } from './unchanged-reads.ts'
import { createWriteQueue, type Work } from './write-queue.ts'

interface SqliteOptions {
  /** Data folder, created with mode 0700 if missing. */
  dataDir: string
  /** Milliseconds to wait for another process that is writing. */
  busyTimeoutMs?: number
  /** Size in bytes above which the write-ahead log is emptied. */
  largestWalBytes?: number
  onMigrating?: OnMigrating | undefined
  onMigrated?: OnMigrated | undefined
  /** Copies the database before it is migrated, unless it is new; true by default. */
  copyFirst?: boolean | undefined
}

export async function openSqlite(options: SqliteOptions): Promise<Store> {
  const { dataDir, busyTimeoutMs = 5000, largestWalBytes = LARGEST_WAL_BYTES } = options
  const Driver = loadSqlite()
  const file = join(dataDir, DATABASE_FILE)
  const raw = await openFile(Driver, file, { ...options, busyTimeoutMs })
  const faults = trackFaults()
  const prepares = preparing(raw, faults)
  const writer = new Kysely<Tables>({ dialect: writerDialect(raw, prepares, busyTimeoutMs) })
  const commitGroup = groupCommits({ raw, prepares, writer })
  const reader = new Driver(file, { readonly: true, timeout: busyTimeoutMs })
  reader.pragma('cache_size = -16384')
  const reads = preparing(reader, faults)
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: reads }) })
  const endReads = runDirectly(db, reads)
  // On the writing connection it changes only with commits of other processes.
  const others = raw.prepare<[], number>('pragma data_version').pluck()
  const changed = offerDatabaseVersion(db, () => noting(faults, () => others.get() ?? Number.NaN))
  const unseen = new WeakSet<Work>()

  const wal = boundWal(raw, file, largestWalBytes)
  const queue = createWriteQueue(async (works) => {
    try {
      await wal.keep()
      const outcomes = await commitGroup(works)
      faults.recordWrite()
      return outcomes
    } catch (error) {
      faults.recordError(error)
      throw error
    } finally {
      if (!works.every((work) => unseen.has(work))) changed()
    }
  })
  const wakeups = localWakeups()
  let closing: Promise<void> | undefined

  const write: Store['write'] = (work, { isUnseen = false } = {}) => {
    try {
      refuseNestedWrite()
      if (closing) throw internal('the store is closed')
    } catch (error) {
      return Promise.reject(error)
    }
    const after = nothingAfter()
    const running: Work = (tx) => runWork(tx, work, after)
    if (isUnseen) unseen.add(running)
    return queue.add(running, () => actAfter(after, wakeups)) as Promise<never>
  }

  return {
    kind: 'sqlite',
    db,
    wakeups,
    write,
    reclaim: () => queue.add(async () => giveBackPages(raw)),
    async ping() {
      await sql`select 1`.execute(db)
    },
    async measure() {
      const { database, wal } = await sqliteBytes(file)
      return { databaseBytes: database, walBytes: wal }
    },
    fault: () => faults.current(),
    close() {
      closing ??= (async () => {
        await queue.drain()
        endReads()
        await db.destroy()
        // Kysely starts a driver at its first query; if there was none, destroying it does not close the connection.
        // The writer closes last, because only it can empty the write-ahead log into the database file.
        reader.close()
        await writer.destroy()
        raw.close()
      })()
      return closing
    },
  }
}

async function openFile(
  Driver: typeof Database,
  file: string,
  options: SqliteOptions & { busyTimeoutMs: number },
): Promise<Database.Database> {
  const { dataDir, busyTimeoutMs } = options
  let raw: Database.Database | undefined
  try {
    makeDataFolder(dataDir)
    await finishInterruptedRestore(dataDir)
    // SQLite creates its journal files with the mode of the database file.
    makeOwnDatabase(file)
    const opened = new Driver(file, { timeout: 0 })
    raw = opened
    // This takes effect in a new file only, before anything else writes to it. It writes itself, so it is left out for
    // an existing file, which must open on a full disk too.
    if (statSync(file).size === 0) await whenFree(busyTimeoutMs, () => opened.pragma('auto_vacuum = INCREMENTAL'))
    await whenFree(busyTimeoutMs, () => opened.pragma('journal_mode = WAL'))
    // The connection now has a lock that a restore waits for, so this process cannot miss a restore that begins later.
    refuseDuringRestore(dataDir)
    opened.pragma('synchronous = FULL')
    opened.pragma('foreign_keys = ON')
    opened.pragma('cache_size = -8192')
    // Four times SQLite's default: fewer checkpoints and a tenth more writes per second, for a write-ahead log of 16
    // MB.
    opened.pragma('wal_autocheckpoint = 4000')
    opened.pragma(`journal_size_limit = ${LARGEST_WAL_BYTES}`)
    refuseAdditions(sqliteAdditions(opened))
    await migrateFile(opened, file, options)
    return opened
  } catch (error) {
    raw?.close()
    if (sqliteCode(error) !== '' || (error as NodeJS.ErrnoException).syscall !== undefined) {
      throw internal(`cannot open the database ${file}: ${(error as Error).message}; ${wayOut(error)}`, {
        cause: error,
      })
    }
    throw error
  }
}

/**
 * Checks every page and index of a SQLite file, like a backup, and returns up to ten errors: empty if it is intact,
 * null if another process has locked it exclusively for `busyTimeoutMs`.
 */
export async function checkFile(file: string, busyTimeoutMs: number): Promise<string[] | null> {
  const Driver = loadSqlite()
  let opened: Database.Database | undefined
  try {
    opened = new Driver(file, { readonly: true, fileMustExist: true, timeout: busyTimeoutMs })
    const rows = opened.pragma('integrity_check(10)') as { integrity_check: string }[]
    return rows.map(({ integrity_check }) => integrity_check).filter((line) => line !== 'ok')
  } catch (error) {
    return /^SQLITE_(BUSY|LOCKED)/.test(sqliteCode(error)) ? null : [(error as Error).message]
  } finally {
    opened?.close()
  }
}

const wayOut = (error: unknown) =>
  /^SQLITE_(NOTADB|CORRUPT)/.test(sqliteCode(error))
    ? 'restore it from a backup, or choose another data folder'
    : sqliteCode(error) === 'SQLITE_FULL'
      ? 'free some space, or choose another data folder'
      : 'make file and folder writable for this user, or choose another data folder'

/**
 * Kysely takes no migration lock on SQLite. The write lock replaces it, held from before the check until the commit.
 * Migrations share one transaction until one copies rows; each of its steps is a transaction, and the process answers
 * requests in between.
 */
async function migrateFile(
  raw: Database.Database,
  file: string,
  options: SqliteOptions & { busyTimeoutMs: number },
): Promise<void> {
  const { busyTimeoutMs, onMigrating, onMigrated } = options
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: raw }) })
  let before = await migrationState(db)
  if (before.pending.length === 0) return
  if (before.applied.length > 0) onMigrating?.(before.pending)
  let copy: string | null = null
  for (let isFirst = true; ; isFirst = false) {
    await whenFree(busyTimeoutMs, () => raw.exec('begin immediate'))
    try {
      const state = await migrationState(db)
      if (isFirst) {
        await refuseHalfApplied(db, state)
        copy = await copyFirstIfDue(state, file, options)
        before = state
      }
      if (state.filling !== null) await fillNext(db, sqliteSchema)
      else if (state.pending.length > 0) await applyMigrations(db, sqliteSchema, state)
      raw.exec('commit')
      if (state.pending.length === 0) break
    } catch (error) {
      if (raw.inTransaction) raw.exec('rollback')
      throw error
    }
    // SQLite statements are synchronous, so requests are answered only between the steps.
    await nextTurn()
  }
  if (before.applied.length > 0 && before.pending.length > 0) onMigrated?.({ applied: before.pending, copy })
}

/** Copies a database before its migration, unless it is new or in the middle of a migration that was copied before. */
async function copyFirstIfDue(
  state: MigrationState,
  file: string,
  { dataDir, copyFirst = true }: SqliteOptions,
): Promise<string | null> {
  const { applied, pending, filling } = state
  const hasBegun = applied.length === 0 || pending.length === 0 || filling !== null
  return hasBegun || !copyFirst ? null : copyBeforeMigration(dataDir, file, state)
}

/** Size in bytes above which the write-ahead log is emptied; SQLite's own checkpoints begin at 16 MB. */
const LARGEST_WAL_BYTES = 64 * 1024 * 1024
/** Milliseconds for which writes wait for readers of other processes, so that the log can be reset. */
const READERS_MS = 250
const READERS_POLL_MS = 5
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 60_000

interface WalBound {
  /** Empties the log if it is too large. If readers keep it in use, it does not throw but tries again later. */
  keep(): Promise<void>
}

/**
 * SQLite's own checkpoints never empty the log while readers of other processes overlap without a gap. While writes
 * wait, every new reader needs only the database file, and the log is free when the earlier ones end.
 */
function boundWal(raw: Database.Database, file: string, largestBytes: number): WalBound {
  let [nextTry, pause] = [0, FIRST_PAUSE_MS]

  async function empty(): Promise<boolean> {
    const until = performance.now() + READERS_MS
    for (;;) {
      const [result] = raw.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[]
      if (result?.busy === 0) return true
      if (performance.now() >= until) return false
      await delay(READERS_POLL_MS)
    }
  }

  return {
    async keep() {
      const size = statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0
      if (size <= largestBytes || performance.now() < nextTry) return
      const isEmpty = await empty()
      pause = isEmpty ? FIRST_PAUSE_MS : Math.min(pause * 2, LONGEST_PAUSE_MS)
      nextTry = isEmpty ? 0 : performance.now() + pause
    },
  }
}

/** Pages that one step gives back; keeps a commit to a few milliseconds. */
const PAGES_PER_STEP = 500
/** Pages that stay free for new rows, because giving back and taking again costs twice. */
const LEAST_FREE_PAGES = 1_000
const FREE_SHARE = 0.2

/**
 * Gives some free pages at the end of the file back to the file system; false if few are free. The caller holds a write
 * transaction.
 */
function giveBackPages(raw: Database.Database): boolean {
  const number = (pragma: string) => Number(raw.pragma(pragma, { simple: true }))
  const free = number('freelist_count')
  if (free <= Math.max(LEAST_FREE_PAGES, number('page_count') * FREE_SHARE)) return false
  raw.pragma(`incremental_vacuum(${PAGES_PER_STEP})`)
  return number('freelist_count') < free
}
