/** Locks that belong to a living process: SQLite's lock on a file, which the system releases however that process ends. */
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { basename } from 'node:path'
import type BetterSqlite3 from 'better-sqlite3'
import { loadSqlite } from './native-modules.ts'

/**
 * Checks without acquiring the lock: readers share the lock with each other, but not with its owner. Errors other than
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
 * Whether the process `pid` runs and holds the lock on `file`. The id alone decides nothing: its process may have ended,
 * and the id may be another's.
 */
export const isHeldBy = (file: string, pid: number): boolean =>
  isProcessAlive(pid) && (isListedHolder(file, pid) || isLocked(file))

function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** The bytes that SQLite locks for writing while a process has a database to itself (sqlite3 `os.h`, SHARED_FIRST). */
const EXCLUSIVE_RANGE = { first: 0x40000002, last: 0x400001ff } as const

/**
 * Whether the process `pid` holds SQLite's exclusive lock on the file, told by what Linux lists of that process, which
 * takes far less time to read than SQLite takes to load. False where no list shows it: `isLocked` knows for certain.
 */
export function isListedHolder(file: string, pid: number): boolean {
  const stats = lstatSync(file, { bigint: true, throwIfNoEntry: false })
  if (!stats?.isFile()) return false
  const inode = `${deviceName(stats.dev)}:${stats.ino}`
  return (locksOfProcess(pid, basename(file)) ?? locksOfAll()).some((line) => {
    const [, , , kind, holder, place, first, last] = line.split(/[ \t]+/)
    if (kind !== 'WRITE' || holder !== String(pid) || place !== inode) return false
    return Number(first) <= EXCLUSIVE_RANGE.first && Number(last) >= EXCLUSIVE_RANGE.last
  })
}

/**
 * The locks of a process on its open files of that name, as lines of `locksOfAll`. Undefined where the system lists them
 * for no one or not for this user.
 */
function locksOfProcess(pid: number, name: string): string[] | undefined {
  const process = `/proc/${pid}`
  try {
    return readdirSync(`${process}/fd`)
      .filter((descriptor) => isLinkTo(`${process}/fd/${descriptor}`, name))
      .flatMap((descriptor) => linesOf(`${process}/fdinfo/${descriptor}`))
      .filter((line) => line.startsWith(LOCK))
      .map((line) => line.slice(LOCK.length))
  } catch {
    return undefined
  }
}

/** How a line about a lock begins among what Linux tells of an open file. */
const LOCK = 'lock:\t'

/** A descriptor may be closed while it is read. */
function isLinkTo(link: string, name: string): boolean {
  try {
    return readlinkSync(link).endsWith(`/${name}`)
  } catch {
    return false
  }
}

/**
 * The locks of all processes. Linux stops whoever locks or unlocks a file while it writes this list, and waits for that up
 * to 20 ms. A line is `1: POSIX  ADVISORY  WRITE 4711 fd:00:131 1073741824 1073742335`; a waiting process has `->` in it.
 */
const locksOfAll = (): string[] => linesOf('/proc/locks')

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n')
  } catch {
    return []
  }
}

/** The device as the list names it: its major and minor number, in hexadecimal. */
function deviceName(device: bigint): string {
  const major = ((device >> 8n) & 0xfffn) | ((device >> 32n) & 0xfffff000n)
  const minor = (device & 0xffn) | ((device >> 12n) & 0xffffff00n)
  return [major, minor].map((number) => number.toString(16).padStart(2, '0')).join(':')
}

/**
 * Locks the database `file`, which must exist, and returns the function that unlocks it; undefined when another process
 * still holds the lock after `timeoutMs`.
 */
export async function holdLock(file: string, timeoutMs: number): Promise<(() => void) | undefined> {
  const Database = loadSqlite()
  const database = new Database(file, { timeout: timeoutMs })
  try {
    database.exec('BEGIN EXCLUSIVE')
    return () => void database.close()
  } catch (error) {
    database.close()
    if ((error as { code?: string }).code === 'SQLITE_BUSY') return undefined
    throw error
  }
}
