/** Copies a SQLite database into one file while other processes write to it, and checks such a file. */

import { closeSync, fsyncSync, openSync, rmSync } from 'node:fs'
import type Database from 'better-sqlite3'
import { Kysely, SqliteDialect } from 'kysely'
import { internal } from '../../platform/errors.ts'
import { makeOwnDatabase } from '../../platform/files.ts'
import { loadSqlite } from '../../platform/native-modules.ts'
import { FINGERPRINT } from '../installation/installation.ts'
import { type AppliedMigrations, migrationState } from '../migrations/migrate.ts'
import type { Tables } from '../schema.ts'
import { findSetting } from '../settings.ts'
import { sqliteAdditions, sqliteCode } from './connection.ts'

/** Pages copied before other work of this process runs. */
const PAGES_PER_STEP = 2_000
const BUSY_MS = 5_000

type CopyProgress = (pagesDone: number, pages: number) => void

/**
 * Copies every page of `source` as of one moment into the new file `target` (0600) and syncs it to the disk. Throws
 * internal_error that says what to do; then it leaves no target behind.
 */
export async function copySqlite(source: string, target: string, onProgress: CopyProgress = () => {}): Promise<void> {
  const Driver = loadSqlite()
  let opened: Database.Database | undefined
  try {
    opened = new Driver(source, { readonly: true, fileMustExist: true, timeout: BUSY_MS })
    // The open read transaction keeps one state for the whole copy. Without it, each write would restart the copy.
    opened.exec('begin')
    opened.prepare('select count(*) from sqlite_schema').get()
    makeOwnDatabase(target)
    await opened.backup(target, {
      progress({ totalPages, remainingPages }) {
        onProgress(totalPages - remainingPages, totalPages)
        return PAGES_PER_STEP
      },
    })
    closeCopy(Driver, target)
  } catch (error) {
    rmSync(target, { force: true })
    throw copyFault(error, source, target)
  } finally {
    opened?.close()
  }
}

/** Leaves the write-ahead mode, so that the copy is one file that opens everywhere, and syncs it. */
function closeCopy(Driver: typeof Database, file: string): void {
  const copy = new Driver(file, { fileMustExist: true })
  try {
    copy.pragma('journal_mode = DELETE')
  } finally {
    copy.close()
  }
  const descriptor = openSync(file, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function copyFault(error: unknown, source: string, target: string): unknown {
  const code = sqliteCode(error) || (error as NodeJS.ErrnoException).code || ''
  const because = (why: string) => internal(why, { cause: error })
  if (/^SQLITE_(NOTADB|CORRUPT)/.test(code))
    return because(`${source} is damaged, or not a SQLite database: run \`svc doctor\``)
  if (/^SQLITE_(BUSY|LOCKED)/.test(code)) return because(`another process has locked ${source}: stop it, and try again`)
  if (/^(SQLITE_FULL|ENOSPC)/.test(code))
    return because(`the disk is full: ${target} needs free space; free some space, or choose another disk`)
  if (/^(SQLITE_|E[A-Z]+$)/.test(code))
    return because(`${source} cannot be copied to ${target}: ${(error as Error).message}`)
  return error
}

interface SqliteFacts extends AppliedMigrations {
  /** Fingerprint of the key that sealed it; null if it has none. */
  fingerprint: string | null
  /** Triggers and views, described in words; migrations create none. */
  additions: readonly string[]
  /** Up to ten damaged places; empty if every page and index is intact. */
  damage: readonly string[]
}

/** Reads and checks a database file that no other process uses. Throws internal_error if svc did not make it. */
export async function factsOfSqlite(file: string): Promise<SqliteFacts> {
  const Driver = loadSqlite()
  let raw: Database.Database | undefined
  try {
    raw = new Driver(file, { readonly: true, fileMustExist: true, timeout: BUSY_MS })
    const rows = raw.pragma('integrity_check(10)') as { integrity_check: string }[]
    const damage = rows.map(({ integrity_check }) => integrity_check).filter((line) => line !== 'ok')
    const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: raw }) })
    const state = await migrationState(db)
    if (state.applied.length === 0) throw internal(`${file} is a SQLite database that svc did not make`)
    const { applied, pending } = state
    const additions = sqliteAdditions(raw)
    return { applied, pending, damage, additions, fingerprint: await findSetting(db, FINGERPRINT) }
  } catch (error) {
    if (sqliteCode(error) === '') throw error
    throw internal(`${file} is damaged, or not a SQLite database (${(error as Error).message}): use another backup`, {
      cause: error,
    })
  } finally {
    raw?.close()
  }
}
