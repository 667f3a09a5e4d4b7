/** A row for every note, with an index for the list and one for its filter. */
import type { Kysely, Migration } from 'kysely'
import type { SchemaDialect } from './dialect.ts'

export function notes({ sequence }: SchemaDialect): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable('notes')
        .addColumn('seq', sequence.type, sequence.build)
        .addColumn('id', 'text', (column) => column.notNull().unique())
        .addColumn('author', 'text', (column) => column.notNull())
        .addColumn('text', 'text', (column) => column.notNull())
        .addColumn('status', 'text', (column) => column.notNull())
        .addColumn('external_uid', 'text')
        .addColumn('metadata_json', 'text')
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .execute()
      await db.schema.createIndex('notes_by_author').on('notes').columns(['author', 'seq']).execute()
    },
  }
}
