/** Databases at the latest schema without running the migrations each time: one is migrated and then copied. */
import { copyFileSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DATABASE_FILE } from '../../src/settings/config.ts'
import { openStore } from '../../src/store/open.ts'
import { SHARED_FOLDER } from '../support/leftovers.ts'

let made: Promise<string> | undefined

/** Puts a migrated SQLite database without rows into the folder. */
export async function copyMigrated(dataDir: string): Promise<void> {
  made ??= makeMigrated().catch((error) => {
    // The next file tries again.
    made = undefined
    throw error
  })
  copyFileSync(await made, join(dataDir, DATABASE_FILE))
}

/** The file goes with the folder of the run; each worker makes its own. */
async function makeMigrated(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), SHARED_FOLDER, 'migrated-'))
  const file = join(tmpdir(), SHARED_FOLDER, `migrated-${process.pid}.db`)
  await (await openStore({ dataDir: folder })).close()
  renameSync(join(folder, DATABASE_FILE), file)
  rmSync(folder, { recursive: true })
  return file
}
