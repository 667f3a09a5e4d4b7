/** Adds the snapshots of holders and the pieces that their rows are stored in. */
import type { Kysely, Migration } from 'kysely'
import type { SchemaDialect } from './dialect.ts'

export function holderSnapshotTables({ blob, sequence }: SchemaDialect): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable('holder_snapshots')
        .addColumn('seq', sequence.type, sequence.build)
        .addColumn('id', 'text', (column) => column.notNull().unique())
        .addColumn('address', 'text', (column) => column.notNull())
        .addColumn('mint', 'text')
        .addColumn('collection', 'text')
        .addColumn('token_program', 'text')
        .addColumn('decimals', 'integer')
        .addColumn('slot', 'bigint', (column) => column.notNull())
        .addColumn('block_time', 'bigint')
        .addColumn('supply', 'text', (column) => column.notNull())
        .addColumn('accounts', 'integer', (column) => column.notNull())
        .addColumn('holders', 'integer', (column) => column.notNull())
        .addColumn('withheld', 'text', (column) => column.notNull())
        .addColumn('confidential', 'text', (column) => column.notNull())
        .addColumn('owners', 'text', (column) => column.notNull())
        .addColumn('kinds_json', 'text', (column) => column.notNull())
        .addColumn('programs_json', 'text', (column) => column.notNull())
        .addColumn('pieces', 'integer', (column) => column.notNull())
        .addColumn('holders_sha256', 'text', (column) => column.notNull())
        .addColumn('external_uid', 'text')
        .addColumn('metadata_json', 'text')
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .execute()
      await db.schema
        .createIndex('holder_snapshots_by_address')
        .on('holder_snapshots')
        .columns(['address', 'seq'])
        .execute()
      await db.schema
        .createIndex('holder_snapshots_by_created_at')
        .on('holder_snapshots')
        .columns(['created_at'])
        .execute()
      await db.schema
        .createTable('holder_pieces')
        .addColumn('snapshot_id', 'text', (column) =>
          column.notNull().references('holder_snapshots.id').onDelete('cascade'),
        )
        .addColumn('n', 'integer', (column) => column.notNull())
        .addColumn('bytes', blob, (column) => column.notNull())
        .addPrimaryKeyConstraint('holder_pieces_pk', ['snapshot_id', 'n'])
        .execute()
    },
  }
}
