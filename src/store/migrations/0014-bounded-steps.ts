/** Adds the tables and indexes for processing replays, removals, pruning and events since a time in small steps. */
import { type Kysely, sql } from 'kysely'
import type { SchemaDialect, SteppedMigration } from './dialect.ts'

export function boundedSteps({ sequence }: SchemaDialect): SteppedMigration {
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
    fill: fillMoments,
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

const EVENTS_PER_STEP = 2_000

/** The latest time so far of some events, which begins with that of the event before them. */
async function fillMoments(untyped: Kysely<never>, after: string): Promise<string | null> {
  const db = untyped as Kysely<{ events: { sequence: number; latest_at: number } }>
  const place = Number(after)
  const before = await db.selectFrom('events').select('latest_at').where('sequence', '=', place).executeTakeFirst()
  const events = db.selectFrom('events').select('sequence').where('sequence', '>', place).orderBy('sequence')
  const page = await events.limit(EVENTS_PER_STEP).execute()
  const [latest, last] = [Number(before?.latest_at ?? 0), Number(page.at(-1)?.sequence ?? place)]
  await sql`update events set latest_at = case when sofar.latest > ${latest} then sofar.latest else ${latest} end
    from (select sequence as place, max(created_at) over (order by sequence) as latest from events
      where sequence > ${place} and sequence <= ${last}) as sofar
    where sofar.place = events.sequence`.execute(db)
  return page.length === EVENTS_PER_STEP ? String(last) : null
}
