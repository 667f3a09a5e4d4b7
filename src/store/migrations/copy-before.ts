/** Copies a SQLite database before it is migrated, and keeps only the newest copies. */
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { ApiError, internal } from '../../platform/errors.ts'
import { replaceWith } from '../../platform/files.ts'
import { copySqlite } from '../sqlite/copy.ts'
import type { MigrationState } from './migrate.ts'

/** Folder of the copies, in the data folder. */
export const COPIES_FOLDER = 'before-migration'
/** Number of copies to keep. Older ones are removed when a newer one is complete. */
const COPIES_KEPT = 3

/**
 * Returns the path of the copy. Throws internal_error if it cannot be made, because nothing may be migrated without
 * it.
 */
export async function copyBeforeMigration(dataDir: string, file: string, { applied }: MigrationState): Promise<string> {
  const folder = join(dataDir, COPIES_FOLDER)
  const time = new Date().toISOString().replace(/[-:]|\.\d+/g, '')
  const copy = join(folder, `${time}-${applied.at(-1)}.db`)
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    await replaceWith(copy, (draft) => copySqlite(file, draft))
    for (const name of superfluous(folder)) rmSync(join(folder, name))
    return copy
  } catch (error) {
    const why = error instanceof ApiError ? error.message : String((error as Error).message)
    throw internal(
      `the database must be migrated but could not be copied first: ${why}; or migrate without a copy: \`svc db migrate --skip-copy\``,
      { cause: error },
    )
  }
}

/** Names of the older copies, and of those that a stopped process left unfinished. */
function superfluous(folder: string): string[] {
  const names = readdirSync(folder).filter((name) => /^\d{8}T\d{6}Z-/.test(name))
  const whole = names.filter((name) => name.endsWith('.db')).sort()
  return [...names.filter((name) => !name.endsWith('.db')), ...whole.slice(0, -COPIES_KEPT)]
}
