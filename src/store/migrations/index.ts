/** The migrations in order. From 0.1.0 on, one that was released is never changed, removed or moved. */
import { first } from './0001-first/index.ts'
import type { SchemaDialect, SteppedMigration } from './dialect.ts'

export const MIGRATIONS: Record<string, (dialect: SchemaDialect) => SteppedMigration> = {
  '0001-first': first,
}

/** Names of all migrations of this program, in order. */
export const migrationNames = (): string[] => Object.keys(MIGRATIONS)
