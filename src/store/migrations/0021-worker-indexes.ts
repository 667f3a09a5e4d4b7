/** Indexes for queries that workers run each minute: gold locks scheduled too far ahead, and retries without first attempts. */
import { type Kysely, type Migration, sql } from 'kysely'

export function workerIndexes(): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema.createIndex('gold_locks_by_moment').on('gold_locks').columns(['next_check_at']).execute()
      await db.schema.dropIndex('webhook_queue_by_due').execute()
      // A query for retries must not read all first attempts that are queued for a slow receiver.
      await db.schema
        .createIndex('webhook_queue_by_due')
        .on('webhook_queue')
        .columns(['subscription_id', 'state', 'next_attempt_at', 'seq'])
        .where(sql.ref('attempts'), '>', sql.lit(0))
        .execute()
    },
  }
}
