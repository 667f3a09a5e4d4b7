/** Indexes for what workers look for each minute: gold locks planned too far ahead, and retries apart from first attempts. */
import { type Kysely, type Migration, sql } from 'kysely'

export function workerIndexes(): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema.createIndex('gold_locks_by_moment').on('gold_locks').columns(['next_check_at']).execute()
      await db.schema.dropIndex('webhook_queue_by_due').execute()
      // Whoever looks for a retry does not read past the first attempts that a slow receiver leaves waiting.
      await db.schema
        .createIndex('webhook_queue_by_due')
        .on('webhook_queue')
        .columns(['subscription_id', 'state', 'next_attempt_at', 'seq'])
        .where(sql.ref('attempts'), '>', sql.lit(0))
        .execute()
    },
  }
}
