/** Refuses to migrate a database whose tables do not match its recorded migrations. */

import { Kysely, SqliteDialect, sql } from 'kysely'
import { internal } from '../../platform/errors.ts'
import { loadSqlite } from '../../platform/native-modules.ts'
import type { Tables } from '../schema.ts'
import { sqliteSchema } from '../sqlite/connection.ts'
import { type MigrationState, migrateDatabase } from './migrate.ts'

/** Columns of each table by its name. */
type Shape = ReadonlyMap<string, ReadonlySet<string>>

/**
 * Throws internal_error if a table or column of an applied migration is missing, or one of a pending migration exists.
 * Then another program interrupted a migration, a copy is incomplete, or the schema was changed by hand.
 */
export async function refuseHalfApplied(db: Kysely<Tables>, state: MigrationState): Promise<void> {
  const [found] = await schemaFaults(db, state)
  if (found === undefined) return
  const last = state.applied.at(-1)
  const recorded = last === undefined ? 'no migration is recorded' : `migration ${last} is the last one recorded`
  throw internal(
    `the database does not match its migrations: ${recorded}, but ${found}; nothing was changed: restore a backup (\`svc db restore\`), or undo manual changes`,
  )
}

/** Throws internal_error for triggers and views, which change or hide rows. */
export function refuseAdditions(found: readonly string[]): void {
  const [first] = found
  if (first === undefined) return
  throw internal(
    `the database was changed by something other than svc: ${first}; drop it (a view may be in another schema), or restore a backup (\`svc db restore\`)`,
  )
}

/** Returns each difference from the expected schema as a phrase. */
export async function schemaFaults(
  db: Kysely<Tables>,
  { applied, pending, filling }: MigrationState,
): Promise<string[]> {
  const actual = await readShape(db)
  // A new database needs no check, and most commands in CI use a new one.
  if (actual.size === 0 && applied.length === 0) return []
  const [before, after] = await Promise.all([
    shapeAfter(filling ?? applied.at(-1)),
    shapeAfter(pending.at(-1) ?? applied.at(-1)),
  ])
  const missing = [...namesOfShape(before)].filter((name) => !hasName(actual, name)).map((name) => `${name} is missing`)
  const early = [...namesOfShape(after)]
    .filter((name) => !hasName(before, name) && hasName(actual, name))
    .map((name) => `${name} of a later one exists`)
  return [...missing, ...early]
}

/** The names `table` and `table.column`. */
function* namesOfShape(shape: Shape): Generator<string> {
  for (const [table, columns] of shape) {
    yield table
    for (const column of columns) yield `${table}.${column}`
  }
}

function hasName(shape: Shape, name: string): boolean {
  const [table = '', column] = name.split('.')
  const columns = shape.get(table)
  return columns !== undefined && (column === undefined || columns.has(column))
}

async function readShape(db: Kysely<Tables>): Promise<Shape> {
  const tables = await db.introspection.getTables()
  const schema = tables.some((table) => table.schema !== undefined) ? await currentSchema(db) : undefined
  return new Map(
    tables
      .filter((table) => table.schema === schema)
      .map(({ name, columns }) => [name, new Set(columns.map((column) => column.name))]),
  )
}

async function currentSchema(db: Kysely<Tables>): Promise<string | undefined> {
  const { rows } = await sql<{ name: string }>`select current_schema() as name`.execute(db)
  return rows[0]?.name
}

/**
 * Returns the tables after the migrations up to `last`, by running them in memory. Names are the same in both
 * databases.
 */
async function shapeAfter(last: string | undefined): Promise<Shape> {
  if (last === undefined) return new Map()
  const Driver = loadSqlite()
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: new Driver(':memory:') }) })
  try {
    await migrateDatabase(db, sqliteSchema, last)
    return await readShape(db)
  } finally {
    await db.destroy()
  }
}
