/** Adds the tables and indexes for processing replays, removals, pruning and events since a time in small steps. */
import { type Kysely, type Migration, sql } from 'kysely'
import type { SchemaDialect } from './dialect.ts'

export function boundedSteps({ sequence }: SchemaDialect): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await moments(db)
      await db.schema
        .createTable('webhook_replays')
        .addColumn('seq', sequence.type, sequence.build)
        .addColumn('subscription_id', 'text', (column) => column.notNull())
        .addColumn('since', 'bigint', (column) => column.notNull())
        .addColumn('types_json', 'text')
        .addColumn('come_to', 'bigint', (column) => column.notNull())
        .addColumn('through', 'bigint', (column) => column.notNull())
        .addColumn('last', 'bigint', (column) => column.notNull())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .execute()
      await db.schema
        .createTable('webhook_removals')
        .addColumn('seq', sequence.type, sequence.build)
        .addColumn('subscription_id', 'text', (column) => column.notNull().unique())
        .addColumn('removed_at', 'bigint', (column) => column.notNull())
        .execute()
      for (const [name, table, ...columns] of BOUNDED_STEP_INDEXES) {
        await db.schema.createIndex(name).on(table).columns(columns).execute()
      }
    },
  }

  /**
   * Adds `latest_at`, because clocks can jump: only the latest time so far increases with the sequence and can be
   * searched by time.
   */
  async function moments(db: Kysely<unknown>) {
    await db.schema
      .alterTable('events')
      .addColumn('latest_at', 'bigint', (column) => column.notNull().defaultTo(0))
      .execute()
    await sql`update events set latest_at = sofar.latest
      from (select sequence as place, max(created_at) over (order by sequence) as latest from events) as sofar
      where sofar.place = events.sequence`.execute(db)
    await db.schema.dropIndex('events_by_created_at').execute()
  }
}

const BOUNDED_STEP_INDEXES: readonly [name: string, table: string, ...columns: string[]][] = [
  ['events_by_latest_at', 'events', 'latest_at', 'sequence'],
  ['webhook_replays_by_subscription', 'webhook_replays', 'subscription_id', 'seq'],
  ['webhook_deliveries_by_created_at', 'webhook_deliveries', 'created_at'],
  ['webhook_queue_by_first', 'webhook_queue', 'subscription_id', 'state', 'attempts', 'sequence'],
  ['webhook_queue_by_due', 'webhook_queue', 'subscription_id', 'state', 'next_attempt_at', 'seq'],
]
