/** When the last backup was made and when one failed, in the settings of the database. */
import { findSetting, storeSetting } from '../settings.ts'
import type { Reader, Tx } from '../store.ts'

/** Times in Unix milliseconds; null if there was none. */
interface BackupRecord {
  made_at: number | null
  failed_at: number | null
  /** Why the last one failed. */
  error: string | null
}

const NAME = 'last-backup'

export async function readBackupRecord(reader: Reader): Promise<BackupRecord> {
  const text = await findSetting(reader, NAME)
  return { made_at: null, failed_at: null, error: null, ...(text === null ? {} : (JSON.parse(text) as BackupRecord)) }
}

/** Records how a backup has ended; `error` is null if it was made. */
export async function recordBackup(tx: Tx, { at, error }: { at: number; error: string | null }): Promise<void> {
  const before = await readBackupRecord(tx)
  const after = error === null ? { ...before, made_at: at } : { ...before, failed_at: at, error }
  await storeSetting(tx, NAME, JSON.stringify(after))
}
