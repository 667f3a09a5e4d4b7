/**
 * Allows one daemon per data folder and one server per chain, by SQLite's file lock, which the system releases when a
 * process ends.
 */
import { join } from 'node:path'
import { holdLock } from './file-lock.ts'
import { makeOwnDatabase } from './files.ts'

/** Lock files of the data folder. Each is a database, so the system releases its lock whenever the process ends. */
export const LOCK_FILES = {
  daemon: 'daemon.lock',
  chain: 'localnet.lock',
  chainCopy: 'chain-copy.lock',
  backup: 'backup.lock',
} as const
/** Milliseconds to wait for the lock, longer than another process takes to check whether it is held. */
const LOCK_TIMEOUT_MS = 100

/** Locks the folder and returns the function that unlocks it, or undefined if another process holds the lock. */
export async function lockFolder(
  folder: string,
  what: keyof typeof LOCK_FILES = 'daemon',
): Promise<(() => void) | undefined> {
  const file = join(folder, LOCK_FILES[what])
  makeOwnDatabase(file)
  return holdLock(file, LOCK_TIMEOUT_MS)
}
