/** Runs work in one transaction on the whole of the configured database. */
import { join } from 'node:path'
import { DATABASE_FILE } from '../../settings/config.ts'
import type { StoreOptions } from '../open.ts'
import type { Whole, WholeMode } from './whole.ts'

/** Runs `work` in one transaction, which is committed when it resolves and rolled back when it throws. */
export async function withWhole<T>(
  { dataDir, databaseUrl, postgres }: StoreOptions,
  mode: WholeMode,
  work: (whole: Whole) => Promise<T>,
): Promise<T> {
  if (databaseUrl === undefined || databaseUrl === '') {
    const { withWholeSqlite } = await import('../sqlite/whole.ts')
    return withWholeSqlite(join(dataDir, DATABASE_FILE), mode, work)
  }
  const { withWholePostgres } = await import('../postgres/whole.ts')
  return withWholePostgres({ url: databaseUrl, settings: postgres }, mode, work)
}
