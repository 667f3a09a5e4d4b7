/** Adds the delivery queue and each subscription's position in the sequence of events. */
import { type Kysely, type Migration, sql } from 'kysely'
import type { SchemaDialect } from './dialect.ts'

export function delivery({ sequence }: SchemaDialect): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema
        .alterTable('webhook_subscriptions')
        .addColumn('cursor', 'bigint', (column) => column.notNull().defaultTo(0))
        .execute()
      // A subscription does not receive events from before its creation.
      await sql`update webhook_subscriptions set cursor = coalesce(
        (select max(sequence) from events where events.created_at < webhook_subscriptions.created_at), 0)`.execute(db)
      await db.schema
        .createTable('webhook_queue')
        .addColumn('seq', sequence.type, sequence.build)
        .addColumn('subscription_id', 'text', (column) => column.notNull())
        .addColumn('event_id', 'text', (column) => column.notNull())
        .addColumn('sequence', 'bigint', (column) => column.notNull())
        .addColumn('resource', 'text', (column) => column.notNull())
        .addColumn('state', 'text', (column) => column.notNull())
        .addColumn('attempts', 'integer', (column) => column.notNull())
        .addColumn('next_attempt_at', 'bigint', (column) => column.notNull())
        .addColumn('claimed_until', 'bigint', (column) => column.notNull())
        .addUniqueConstraint('webhook_queue_once', ['subscription_id', 'event_id'])
        .execute()
      await db.schema
        .createIndex('webhook_queue_by_state')
        .on('webhook_queue')
        .columns(['subscription_id', 'state', 'sequence'])
        .execute()
      await db.schema
        .createIndex('webhook_queue_by_resource')
        .on('webhook_queue')
        .columns(['subscription_id', 'resource', 'state', 'attempts', 'sequence'])
        .execute()
    },
  }
}
