/** The databases that the store's suites run on: each gives fresh ones, and opens them as often as asked. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { Kysely, PostgresDialect, SqliteDialect } from 'kysely'
import pg from 'pg'
import { onTestFinished } from 'vitest'
import { DATABASE_FILE } from '../../src/settings/config.ts'
import { migrateDatabase } from '../../src/store/migrations/migrate.ts'
import { openStore, type StoreOptions } from '../../src/store/open.ts'
import { postgresSettings } from '../../src/store/postgres/settings.ts'
import { postgresSchema } from '../../src/store/postgres/store.ts'
import type { Tables } from '../../src/store/schema.ts'
import { sqliteSchema } from '../../src/store/sqlite/connection.ts'
import type { Store } from '../../src/store/store.ts'
import { addLaterMigration, RELEASED } from './later-migration.ts'
import { copyMigrated } from './migrated.ts'
import type { PostgresServer } from './postgres-server.ts'

export interface TestDatabase {
  kind: Store['kind']
  /** Options of a database at the latest schema, without rows. */
  migrated(): Promise<StoreOptions>
  /** Options of a database that holds nothing yet; its files end with the test that asked. */
  fresh(): Promise<StoreOptions>
}

export const sqlite: TestDatabase = {
  kind: 'sqlite',
  async migrated() {
    const dataDir = temporaryFolder()
    await copyMigrated(dataDir)
    return { dataDir }
  },
  fresh: async () => ({ dataDir: temporaryFolder() }),
}

export const postgres = (server: PostgresServer): TestDatabase => ({
  kind: 'postgres',
  migrated: async () => ({ ...patient(), databaseUrl: await server.createMigratedDatabase() }),
  fresh: async () => ({ ...patient(), databaseUrl: await server.createDatabase() }),
})

/** Hundreds of writes at once wait long for a connection on a busy machine, which is not what these suites are about. */
const patient = () => ({
  dataDir: temporaryFolder(),
  postgres: { ...postgresSettings(), poolTimeoutMs: 60_000, connectMs: 60_000 },
})

/** A store that closes when the test ends. */
export async function opened(options: StoreOptions): Promise<Store> {
  const store = await openStore(options)
  onTestFinished(() => store.close())
  return store
}

export const freshStore = async (database: TestDatabase): Promise<Store> => opened(await database.migrated())

/** Two stores on one fresh database, as two processes have them, with every connection open: what races, races at once. */
export async function twoStores(database: TestDatabase): Promise<[Store, Store]> {
  const options = await database.migrated()
  const stores: [Store, Store] = [await opened(options), await opened(options)]
  await Promise.all(stores.flatMap((store) => numbers(10).map(() => store.ping())))
  return stores
}

/**
 * Brings an empty database to the released schema, fills it there, and adds a migration to this program until the test
 * ends: the database is then that of an earlier version.
 */
export async function earlier(
  options: StoreOptions,
  fill: (db: Kysely<Tables>) => Promise<unknown> = async () => undefined,
): Promise<void> {
  await migratedUpTo(options, RELEASED, fill)
  onTestFinished(addLaterMigration())
}

/** Brings an empty database to the schema of a migration, and fills it there. */
export async function migratedUpTo(
  { dataDir, databaseUrl }: StoreOptions,
  last: string,
  fill: (db: Kysely<Tables>) => Promise<unknown>,
): Promise<void> {
  const db = new Kysely<Tables>({
    dialect:
      databaseUrl === undefined
        ? new SqliteDialect({ database: new Database(join(dataDir, DATABASE_FILE)) })
        : new PostgresDialect({ pool: new pg.Pool({ connectionString: databaseUrl }) }),
  })
  await migrateDatabase(db, databaseUrl === undefined ? sqliteSchema : postgresSchema, last)
  await fill(db)
  await db.destroy()
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-store-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** The numbers from 0 to `count - 1`. */
export const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n)
