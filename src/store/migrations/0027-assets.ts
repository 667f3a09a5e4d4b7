/** Adds the tables of token images and metadata that are kept in the database, in pieces. */
import { type Kysely, type Migration, sql } from 'kysely'
import type { SchemaDialect } from './dialect.ts'

export function assetStorage({ blob }: SchemaDialect): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable('assets')
        .addColumn('cid', 'text', (column) => column.primaryKey())
        .addColumn('length', 'bigint', (column) => column.notNull())
        .addColumn('complete', 'integer', (column) => column.notNull().defaultTo(0))
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .execute()
      await db.schema
        .createTable('asset_pieces')
        .addColumn('cid', 'text', (column) => column.notNull())
        .addColumn('n', 'integer', (column) => column.notNull())
        .addColumn('bytes', blob, (column) => column.notNull())
        .addPrimaryKeyConstraint('asset_pieces_key', ['cid', 'n'])
        .execute()
      // Only uploads that were interrupted are looked for, by their age.
      await db.schema
        .createIndex('assets_by_unfinished')
        .on('assets')
        .columns(['complete', 'created_at'])
        .where(sql.ref('complete'), '=', sql.lit(0))
        .execute()
    },
  }
}
