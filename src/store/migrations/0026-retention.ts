/** Adds what the removal of old rows needs: the first stored event, keys of removed events, marks of what was removed, and audit anchors. */
import { type Kysely, type Migration, sql } from 'kysely'
import type { SchemaDialect } from './dialect.ts'

export function retention({ blob }: SchemaDialect): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await events(db)
      await db.schema.alterTable('transactions').addColumn('raw_removed_at', 'bigint').execute()
      // Partial indexes cover only the rows that are still to be treated.
      await db.schema
        .createIndex('transactions_by_ended')
        .on('transactions')
        .columns(['next_check_at', 'created_at'])
        .where(sql.ref('next_check_at'), 'is', null)
        .where(sql.ref('raw_removed_at'), 'is', null)
        .execute()
      for (const column of ['drained_at', 'leaves_removed_at']) {
        await db.schema.alterTable('merkle_trees').addColumn(column, 'bigint').execute()
      }
      await db.schema
        .createIndex('merkle_trees_by_drained')
        .on('merkle_trees')
        .columns(['status', 'drained_at', 'leaves_removed_at'])
        .execute()
      await db.schema.createIndex('signings_by_created_at').on('signings').columns(['created_at']).execute()
      await db.schema
        .createTable('audit_anchors')
        .addColumn('sequence', 'bigint', (column) => column.primaryKey())
        .addColumn('hash', 'text', (column) => column.notNull())
        .addColumn('at', 'bigint', (column) => column.notNull())
        .addColumn('policies_json', 'text', (column) => column.notNull())
        .addColumn('cut_at', 'bigint', (column) => column.notNull())
        .addColumn('seal', 'text', (column) => column.notNull())
        .execute()
    },
  }

  async function events(db: Kysely<unknown>) {
    const counters = db as Kysely<{ counters: { name: string; value: number } }>
    await counters.insertInto('counters').values({ name: 'events_first', value: 1 }).execute()
    await db.schema
      .createTable('removed_event_keys')
      .addColumn('key_hash', blob, (column) => column.primaryKey())
      .execute()
    await db.schema.createIndex('webhook_queue_by_sequence').on('webhook_queue').columns(['sequence']).execute()
  }
}
