/** Whether a living process holds SQLite's lock on a file; the system takes it back however that process ends. */
import { lstatSync } from 'node:fs'
import { createRequire } from 'node:module'
import type BetterSqlite3 from 'better-sqlite3'

/**
 * Looks without taking: whoever reads shares the lock with other readers, but not with its owner. Any other fault than
 * being locked says no: a file that somebody put there can have whatever fault they like, but no process behind it.
 */
export function isLocked(file: string): boolean {
  if (!lstatSync(file, { throwIfNoEntry: false })?.isFile()) return false
  const Database = createRequire(import.meta.url)('better-sqlite3') as typeof BetterSqlite3
  let database: BetterSqlite3.Database | undefined
  try {
    database = new Database(file, { readonly: true, fileMustExist: true, timeout: 0 })
    database.pragma('schema_version')
    return false
  } catch (error) {
    return (error as { code?: string }).code === 'SQLITE_BUSY'
  } finally {
    database?.close()
  }
}
