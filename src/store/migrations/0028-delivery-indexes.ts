/** Narrows the indexes of the delivery queue to the rows that are looked for by them, as every delivery writes them twice. */
import { type Kysely, type Migration, sql } from 'kysely'

export function deliveryIndexes(): Migration {
  return {
    async up(db: Kysely<unknown>) {
      for (const name of ['by_state', 'by_first', 'by_resource', 'by_sequence']) {
        await db.schema.dropIndex(`webhook_queue_${name}`).execute()
      }
      await firstAttempts(db, 'webhook_queue_by_first', ['subscription_id', 'sequence'])
      await firstAttempts(db, 'webhook_queue_by_resource', ['subscription_id', 'resource', 'sequence'])
      // The others by their events; the oldest first attempts are found for each subscription.
      await db.schema
        .createIndex('webhook_queue_by_sequence')
        .on('webhook_queue')
        .columns(['sequence'])
        .where(sql.ref('attempts'), '>', sql.lit(0))
        .execute()
    },
  }
}

/** Deliveries that were never tried: nearly all of the queue, and each for a moment. */
async function firstAttempts(db: Kysely<unknown>, name: string, columns: readonly string[]): Promise<void> {
  await db.schema
    .createIndex(name)
    .on('webhook_queue')
    .columns([...columns])
    .where(sql.ref('state'), '=', sql.lit('waiting'))
    .where(sql.ref('attempts'), '=', sql.lit(0))
    .execute()
}
