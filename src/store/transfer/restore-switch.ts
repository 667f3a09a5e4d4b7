/**
 * Replaces the files of a data folder by restored ones. A process killed at any line leaves either the old files or the
 * new ones.
 */

import { existsSync, mkdirSync, readdirSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type Database from 'better-sqlite3'
import { conflict, internal } from '../../platform/errors.ts'
import { holdLock } from '../../platform/file-lock.ts'
import { makeOwnDatabase, moveIfThere, readOwnIfThere, writeAtomically } from '../../platform/files.ts'
import { LOCK_FILES } from '../../platform/folder-lock.ts'
import { loadSqlite } from '../../platform/native-modules.ts'
import { pause } from '../../platform/timing.ts'
import { DATABASE_FILE, RESTORE_FILE } from '../../settings/config.ts'
import { sqliteCode, whenFree } from '../sqlite/connection.ts'

/** Prefix of the folder in which restored files are prepared. It is in the data folder, so on the same file system. */
export const STAGED_PREFIX = '.restore-'
/** Files that SQLite keeps next to a database. */
const SIDE_FILES = ['-wal', '-shm', '-journal']
const LOCK_MS = 10_000
const LOCK_PAUSE_MS = 25
/** Time that processes have to close the database after a restore has begun. */
const CLOSE_MS = 5_000

export interface RestoreSwitch {
  /** Name of the folder with the restored files. */
  staged: string
  /** Name of the folder with the replaced files. */
  aside: string
  /** Names of the restored files, including the database. */
  files: readonly string[]
}

/**
 * Replaces the files. The caller holds the daemon's lock of the folder. The switch is final once its plan is on disk:
 * the next process that opens the database completes it. Throws conflict, without any change, while a process has a
 * database of the folder open.
 */
export async function switchFiles(dataDir: string, plan: RestoreSwitch): Promise<void> {
  const file = join(dataDir, RESTORE_FILE)
  writeAtomically(file, `${JSON.stringify(plan)}\n`, { syncFolder: true })
  try {
    for (const name of databasesOf(plan)) await closeToWriters(join(dataDir, name))
  } catch (error) {
    rmSync(file)
    throw error
  }
  await completeSwitch(dataDir, plan)
}

/** Completes a switch that a killed process had begun. Throws conflict while another process works on it. */
export async function finishInterruptedRestore(dataDir: string): Promise<void> {
  if (!existsSync(join(dataDir, RESTORE_FILE))) return
  const lock = join(dataDir, LOCK_FILES.daemon)
  makeOwnDatabase(lock)
  const deadline = performance.now() + LOCK_MS
  let unlock = await holdLock(lock, 0)
  while (unlock === undefined && performance.now() < deadline) {
    await pause(LOCK_PAUSE_MS)
    unlock = await holdLock(lock, 0)
  }
  if (unlock === undefined) throw restoring(dataDir)
  try {
    const plan = readSwitchPlan(dataDir)
    if (plan === null) return
    // The killed process may not have noticed that another one still has the earlier database open.
    for (const name of databasesOf(plan)) {
      if (existsSync(join(dataDir, plan.staged, name))) await closeToWriters(join(dataDir, name))
    }
    await completeSwitch(dataDir, plan)
  } finally {
    unlock()
  }
}

/** Throws conflict when a restore has begun. */
export function refuseDuringRestore(dataDir: string): void {
  if (existsSync(join(dataDir, RESTORE_FILE))) throw restoring(dataDir)
}

const restoring = (dataDir: string) => conflict(`the data folder ${dataDir} is being restored: try again later`)

const databasesOf = ({ files }: RestoreSwitch) => files.filter((name) => name.endsWith('.db'))

async function completeSwitch(dataDir: string, { staged, aside, files }: RestoreSwitch): Promise<void> {
  const keeping = join(dataDir, aside)
  mkdirSync(keeping, { recursive: true, mode: 0o700 })
  for (const name of files) {
    const restored = join(dataDir, staged, name)
    // A missing restored file was moved to its place before the process was killed.
    if (!existsSync(restored)) continue
    const sides = name.endsWith('.db') ? SIDE_FILES.map((suffix) => name + suffix) : []
    for (const old of [...sides, name]) moveIfThere(join(dataDir, old), join(keeping, old))
    moveIfThere(restored, join(dataDir, name))
  }
  rmSync(join(dataDir, RESTORE_FILE), { force: true })
  rmSync(join(dataDir, staged), { recursive: true, force: true })
  if (readdirSync(keeping).length === 0) rmdirSync(keeping)
}

/**
 * Merges a database into one file, which succeeds only if no other process has it open; a damaged one is left
 * unchanged.
 */
async function closeToWriters(file: string): Promise<void> {
  if (!existsSync(file)) return
  const Driver = loadSqlite()
  let opened: Database.Database | undefined
  try {
    opened = new Driver(file, { fileMustExist: true, timeout: 0 })
    const raw = opened
    await whenFree(CLOSE_MS, () => raw.pragma('journal_mode = DELETE'))
  } catch (error) {
    if (/^SQLITE_/.test(sqliteCode(error))) return
    throw conflict(`another process has ${file} open: stop it, and restore again`, { cause: error })
  } finally {
    opened?.close()
  }
}

function readSwitchPlan(dataDir: string): RestoreSwitch | null {
  const file = join(dataDir, RESTORE_FILE)
  const text = readOwnIfThere(file, { folder: 'own' })
  if (text === null) return null
  try {
    const { staged, aside, files } = JSON.parse(text) as Record<string, unknown>
    const names = [staged, aside, ...(Array.isArray(files) ? files : [undefined])]
    // Names come from a file, so a name must not point outside the data folder.
    if (!names.every(isName) || !(staged as string).startsWith(STAGED_PREFIX)) throw new Error('no plan')
    return { staged: staged as string, aside: aside as string, files: files as string[] }
  } catch (error) {
    throw internal(
      `${file} was not written by svc: restore again with \`svc db restore\`, or remove the file if ${DATABASE_FILE} is whole`,
      { cause: error },
    )
  }
}

const isName = (name: unknown): name is string => typeof name === 'string' && /^\.?[\w-]+(\.\w+)*$/.test(name)
