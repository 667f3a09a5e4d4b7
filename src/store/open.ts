/** Opens the configured store and migrates it to this program's schema. */
import { internal } from '../platform/errors.ts'
import { type Config, renewSecrets } from '../settings/config.ts'
import { type PostgresSettings, postgresSettings } from './postgres/settings.ts'
import type { OnMigrated, OnMigrating, Store, Waiting } from './store.ts'

export interface StoreOptions {
  dataDir: string
  /** `postgres://…`; if absent, the database is a SQLite file in `dataDir`. */
  databaseUrl?: string | undefined
  /** Returns the URL as it is now, if its password may be renewed while the process runs. */
  renewedUrl?: (() => string | undefined) | undefined
  /** Pool, timeouts and TLS of PostgreSQL; by default those of the settings. */
  postgres?: PostgresSettings
  /** PostgreSQL only. */
  waiting?: Waiting | undefined
  onMigrating?: OnMigrating | undefined
  onMigrated?: OnMigrated | undefined
  /** Copies a SQLite database before it is migrated; true by default. */
  copyFirst?: boolean | undefined
}

/** The options of the configured store. */
export function storeOptions(config: Config): StoreOptions {
  const { dataDir, values, secretFiles } = config
  return {
    dataDir,
    databaseUrl: values['database-url'],
    ...(secretFiles['database-url'] !== undefined && {
      renewedUrl: () => {
        renewSecrets(config, 'database-url')
        return config.values['database-url']
      },
    }),
    postgres: postgresSettings(values),
  }
}

/**
 * Opens the store and migrates its database. Throws internal_error that says what to do.
 *
 * @example
 * const store = await openStore(storeOptions(config))
 * const key = await store.write((tx) => insertApiKey(tx, row))
 */
export async function openStore({
  dataDir,
  databaseUrl,
  renewedUrl,
  waiting,
  postgres,
  onMigrating,
  onMigrated,
  copyFirst,
}: StoreOptions): Promise<Store> {
  if (databaseUrl === undefined || databaseUrl === '') {
    const { openSqlite } = await import('./sqlite/store.ts')
    return openSqlite({ dataDir, onMigrating, onMigrated, copyFirst })
  }
  if (!/^postgres(ql)?:\/\//.test(databaseUrl)) {
    throw internal(
      'the database URL must begin with postgres:// or postgresql://; sqlite means SQLite in the data folder',
    )
  }
  const { openPostgres } = await import('./postgres/store.ts')
  return openPostgres({
    url: databaseUrl,
    renewedUrl,
    waiting,
    onMigrating,
    onMigrated,
    ...(postgres === undefined ? {} : { settings: postgres }),
  })
}
