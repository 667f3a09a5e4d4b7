/** Refuses to migrate a database whose tables are not those that its recorded migrations leave. */

import { Kysely, SqliteDialect, sql } from 'kysely'
import { internal } from '../../platform/errors.ts'
import { loadSqlite } from '../../platform/native-modules.ts'
import type { Tables } from '../schema.ts'
import { sqliteSchema } from '../sqlite/connection.ts'
import { type MigrationState, migrateDatabase } from './migrate.ts'

/** Columns of each table by its name. */
type Shape = ReadonlyMap<string, ReadonlySet<string>>

/**
 * Throws internal_error when a table or column of an applied migration is missing, or one of a pending migration is
 * there: a migration was cut off by another program, a copy is incomplete, or the schema was changed by hand.
 */
export async function refuseHalfApplied(db: Kysely<Tables>, state: MigrationState): Promise<void> {
  const [found] = await schemaFaults(db, state)
  if (found === undefined) return
  const last = state.applied.at(-1)
  const recorded = last === undefined ? 'no migration is recorded' : `migration ${last} is the last one recorded`
  throw internal(
    `the database is not as its migrations leave it: ${recorded}, and ${found}; nothing was changed: restore a backup (\`svc db restore\`), or take back what was changed by hand`,
  )
}

/** Throws internal_error for triggers and views, which change or hide what is read and written. */
export function refuseAdditions(found: readonly string[]): void {
  const [first] = found
  if (first === undefined) return
  throw internal(
    `the database was changed by something else than svc: ${first}; drop it (a view can stand in another schema), or restore a backup (\`svc db restore\`)`,
  )
}

/** Returns each difference from the expected schema as a phrase. */
export async function schemaFaults(
  db: Kysely<Tables>,
  { applied, pending, filling }: MigrationState,
): Promise<string[]> {
  const actual = await shapeOf(db)
  // A new database has nothing that could be wrong, and most commands of a CI run meet a new one.
  if (actual.size === 0 && applied.length === 0) return []
  const [before, after] = await Promise.all([
    shapeAfter(filling ?? applied.at(-1)),
    shapeAfter(pending.at(-1) ?? applied.at(-1)),
  ])
  const missing = [...namesOfShape(before)].filter((name) => !hasName(actual, name)).map((name) => `${name} is missing`)
  const early = [...namesOfShape(after)]
    .filter((name) => !hasName(before, name) && hasName(actual, name))
    .map((name) => `${name} of a later one is there`)
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

async function shapeOf(db: Kysely<Tables>): Promise<Shape> {
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

/** The tables that the migrations up to `last` leave, found by running them in memory; names are the same everywhere. */
async function shapeAfter(last: string | undefined): Promise<Shape> {
  if (last === undefined) return new Map()
  const Driver = loadSqlite()
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: new Driver(':memory:') }) })
  try {
    await migrateDatabase(db, sqliteSchema, last)
    return await shapeOf(db)
  } finally {
    await db.destroy()
  }
}
