/** One daemon per data folder: SQLite's file lock, which the system takes back however the process ends. */
import { join } from 'node:path'

const LOCK_FILE = 'daemon.lock'

/** Takes the folder; answers how to give it back, or undefined where another process has it. */
export async function lockFolder(folder: string): Promise<(() => void) | undefined> {
  const { default: Database } = await import('better-sqlite3')
  const database = new Database(join(folder, LOCK_FILE), { timeout: 0 })
  try {
    database.exec('BEGIN EXCLUSIVE')
    return () => void database.close()
  } catch (error) {
    database.close()
    if ((error as { code?: string }).code === 'SQLITE_BUSY') return undefined
    throw error
  }
}
