/** Locks of a process: SQLite's lock on a file, which the system releases when the process ends in any way. */
import { lstatSync } from 'node:fs'
import type BetterSqlite3 from 'better-sqlite3'
import { internal } from './errors.ts'
import { loadSqlite } from './native-modules.ts'

/**
 * Checks without taking the lock: readers share it with each other, but not with its owner. Errors other than
 * SQLITE_BUSY return false, because a damaged or foreign file does not prove that a process is running.
 */
export function isLocked(file: string): boolean {
  if (!lstatSync(file, { throwIfNoEntry: false })?.isFile()) return false
  const Database = loadSqlite()
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

/**
 * Whether the process `pid` runs while the file is locked. The id alone proves nothing: its process may have ended, and
 * another may have its id.
 */
export const isHeldBy = (file: string, pid: number): boolean => isProcessAlive(pid) && isLocked(file)

function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/**
 * Locks the database `file`, which must exist, and returns the function that unlocks it; undefined when another process
 * still holds the lock after `timeoutMs`. Throws internal_error for a file with other content.
 */
export async function holdLock(file: string, timeoutMs: number): Promise<(() => void) | undefined> {
  const Database = loadSqlite()
  const database = new Database(file, { timeout: timeoutMs })
  try {
    database.exec('BEGIN EXCLUSIVE')
    return () => void database.close()
  } catch (error) {
    database.close()
    const { code } = error as { code?: string }
    if (code === 'SQLITE_BUSY') return undefined
    if (code === 'SQLITE_NOTADB') throw internal(`${file} is not a lock of svc: remove it`, { cause: error })
    throw error
  }
}
