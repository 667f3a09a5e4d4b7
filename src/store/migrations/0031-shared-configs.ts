/** Adds the table of the config accounts that the launches of a preset share. */
import type { Kysely, Migration } from 'kysely'
import type { SchemaDialect } from './dialect.ts'

export function sharedConfigs({ blob }: SchemaDialect): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable('shared_configs')
        .addColumn('genesis', 'text', (column) => column.notNull())
        .addColumn('preset', 'text', (column) => column.notNull())
        .addColumn('content_sha256', 'text', (column) => column.notNull())
        .addColumn('address', 'text', (column) => column.notNull())
        .addColumn('secret', blob, (column) => column.notNull())
        .addColumn('data_sha256', 'text', (column) => column.notNull())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addPrimaryKeyConstraint('shared_configs_key', ['genesis', 'preset', 'content_sha256'])
        .execute()
    },
  }
}
