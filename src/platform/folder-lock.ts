/** Allows one daemon per data folder and one server per chain, with SQLite's file lock, which the system releases at a process's end. */
import { join } from 'node:path'
import { CHAIN_LOCK_FILE } from '../chain/owner.ts'
import { DAEMON_LOCK_FILE } from '../settings/config.ts'
import { holdLock } from './file-lock.ts'
import { makeOwnDatabase } from './files.ts'

const LOCK_FILES = { daemon: DAEMON_LOCK_FILE, chain: CHAIN_LOCK_FILE, chainCopy: 'chain-copy.lock' } as const
/** Milliseconds to wait for the lock, longer than another process takes to check whether it is held. */
const LOCK_TIMEOUT_MS = 100

/** Locks the folder and returns the function that unlocks it, or undefined where another process holds the lock. */
export async function lockFolder(
  folder: string,
  what: keyof typeof LOCK_FILES = 'daemon',
): Promise<(() => void) | undefined> {
  const file = join(folder, LOCK_FILES[what])
  makeOwnDatabase(file)
  return holdLock(file, LOCK_TIMEOUT_MS)
}
