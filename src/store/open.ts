/** Opens the configured store and migrates it to the schema of this program. */
import { internal } from '../errors.ts'
import type { OnMigrated, Store } from './store.ts'

export interface StoreOptions {
  dataDir: string
  /** `postgres://…`; without one the database is a SQLite file in `dataDir`. */
  databaseUrl?: string | undefined
  onMigrated?: OnMigrated | undefined
  /** Copies a SQLite database before it is migrated; true by default. */
  copyFirst?: boolean | undefined
}

export async function openStore({ dataDir, databaseUrl, onMigrated, copyFirst }: StoreOptions): Promise<Store> {
  if (databaseUrl === undefined || databaseUrl === '') {
    const { openSqlite } = await import('./sqlite.ts')
    return openSqlite({ dataDir, onMigrated, copyFirst })
  }
  if (!/^postgres(ql)?:\/\//.test(databaseUrl)) {
    throw internal(
      'the database URL must begin with postgres:// or postgresql://; leave it out for SQLite in the data folder',
    )
  }
  const { openPostgres } = await import('./postgres.ts')
  return openPostgres({ url: databaseUrl, onMigrated })
}
