/** Migrates a database to the schema of this program. */
import { type Kysely, Migrator, sql } from 'kysely'
import { internal } from '../../platform/errors.ts'
import { MIGRATIONS, migrationNames, type Tables } from '../schema.ts'
import type { SchemaDialect, SteppedMigration } from './dialect.ts'

/** Whether these are migrations of a development version. No migration leads from them to the released ones. */
export const areBeforeRelease = (names: readonly string[]): boolean => names.includes('0001-ground')

export interface AppliedMigrations {
  /** Names in the order in which they were applied. */
  applied: readonly string[]
  /** A migration that is still filling its tables is the first of them. */
  pending: readonly string[]
}

export interface MigrationState extends AppliedMigrations {
  /** The migration whose tables exist but whose rows are not all copied yet, or null. */
  filling: string | null
}

/** Setting with the migration that is filling its tables and its current place, as JSON. */
const FILLING = 'unfinished_migration'

interface Filling {
  migration: string
  after: string
}

/**
 * Returns the migrations of the database, with a single query for a fast start. Throws if this program does not know
 * one of them.
 */
export async function migrationState(db: Kysely<Tables>): Promise<MigrationState> {
  const { executed, filling } = await executedMigrations(db)
  if (areBeforeRelease(executed)) {
    throw internal(
      'the database was made by a development version of svc (before 0.1.0) and cannot be migrated: start with a new data folder (`--data-dir`) or an empty PostgreSQL database',
    )
  }
  const unknown = executed.find((name) => !Object.hasOwn(MIGRATIONS, name))
  if (unknown !== undefined) {
    throw internal(
      `the database is newer than this program (it has the migration ${unknown}): upgrade svc, or restore the backup made before the upgrade`,
    )
  }
  const has = new Set(executed.filter((name) => name !== filling))
  return {
    applied: migrationNames().filter((name) => has.has(name)),
    pending: migrationNames().filter((name) => !has.has(name)),
    filling,
  }
}

/** Runs pending migrations, up to and including `last` if set, in as many transactions as needed. */
export async function migrateDatabase(db: Kysely<Tables>, dialect: SchemaDialect, last?: string): Promise<void> {
  for (;;) {
    const state = await migrationState(db)
    if (!state.pending.some((name) => last === undefined || name <= last)) return
    if (state.filling === null) await applyMigrations(db, dialect, state, last)
    else {
      const transaction = db.transaction().setAccessMode('read write')
      await transaction.execute((tx) => fillNext(tx, dialect))
    }
  }
}

/**
 * Applies pending migrations up to the next one that copies rows, with its first step. On a new database there is
 * nothing to copy, so it applies all. The caller must exclude other processes if kysely's own lock does not.
 */
export async function applyMigrations(
  db: Kysely<Tables>,
  dialect: SchemaDialect,
  { applied, pending }: MigrationState,
  last?: string,
): Promise<void> {
  const made = Object.entries(MIGRATIONS).map(([name, make]) => [name, make(dialect)] as const)
  const migrations = Object.fromEntries(made.map(([name, migration]) => [name, withFirstStep(name, migration)]))
  const stops = applied.length === 0 ? [] : pending.filter((name) => migrations[name]?.fill !== undefined)
  const until = [...stops, last, migrationNames().at(-1)].filter((name) => name !== undefined).sort()[0]
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } })
  const { error, results } = await migrator.migrateTo(until ?? '')
  if (error === undefined) return
  const failed = results?.find((result) => result.status === 'Error')?.migrationName
  if (failed === undefined) throw error
  throw notMigrated(failed, error)
}

/** The first step runs in the transaction that makes the tables. If there is little to copy, it is the only one. */
function withFirstStep(name: string, migration: SteppedMigration): SteppedMigration {
  const { fill } = migration
  if (fill === undefined) return migration
  return {
    ...migration,
    async up(db: Kysely<never>) {
      await migration.up(db)
      const after = await fill(db, '')
      if (after === null) return
      const value = JSON.stringify({ migration: name, after } satisfies Filling)
      await (db as Kysely<Tables>).insertInto('settings').values({ name: FILLING, value }).execute()
    },
  }
}

/** Does the next step of the migration that is filling its tables, in the caller's transaction. */
export async function fillNext(db: Kysely<Tables>, dialect: SchemaDialect): Promise<void> {
  // An update without a change takes the row's lock, so that another process continues after this step.
  const marker = db.updateTable('settings').set({ name: FILLING }).where('name', '=', FILLING)
  const row = await marker.returning('value').executeTakeFirst()
  if (row === undefined) return
  const { migration, after } = JSON.parse(row.value) as Filling
  const next = await MIGRATIONS[migration]?.(dialect)
    .fill?.(db as never, after)
    .catch((error: unknown) => Promise.reject(notMigrated(migration, error)))
  if (typeof next === 'string') {
    const value = JSON.stringify({ migration, after: next } satisfies Filling)
    await db.updateTable('settings').set({ value }).where('name', '=', FILLING).execute()
  } else await db.deleteFrom('settings').where('name', '=', FILLING).execute()
}

const notMigrated = (name: string, error: unknown) =>
  internal(`the database could not be migrated (${name}): ${error instanceof Error ? error.message : error}`, {
    cause: error,
  })

async function executedMigrations(db: Kysely<Tables>): Promise<{ executed: string[]; filling: string | null }> {
  try {
    const { rows } = await sql<{ name: string; value: string }>`
      select name, '' as value from kysely_migration
      union all select name, value from settings where name = ${FILLING}`.execute(db)
    const filling = rows.find(({ name }) => name === FILLING)
    return {
      executed: rows.map(({ name }) => name).filter((name) => name !== FILLING),
      filling: filling === undefined ? null : (JSON.parse(filling.value) as Filling).migration,
    }
  } catch {
    // The table does not exist yet; if the database itself fails, the migrator reports the error next.
    return { executed: [], filling: null }
  }
}
