/** Removed subscriptions, whose remaining rows are deleted in bounded steps. */
import type { Row } from '../schema.ts'
import type { Reader, Tx } from '../store.ts'

export type Removal = Row<'webhook_removals'>

export async function insertRemoval(tx: Tx, subscriptionId: string, now: number): Promise<void> {
  await tx
    .insertInto('webhook_removals')
    .values({ subscription_id: subscriptionId, removed_at: now })
    .onConflict((conflict) => conflict.column('subscription_id').doNothing())
    .execute()
}

export function removalsAfter(reader: Reader, after: number, limit: number): Promise<Removal[]> {
  const rows = reader.selectFrom('webhook_removals').selectAll().where('seq', '>', after)
  return rows.orderBy('seq').limit(limit).execute()
}

/** Deletes up to `limit` rows of each kind of one removed subscription; returns the number of deleted rows. */
export async function removeRemains(tx: Tx, subscriptionId: string, limit: number): Promise<number> {
  let removed = 0n
  for (const table of ['webhook_queue', 'webhook_deliveries', 'webhook_replays'] as const) {
    const some = tx.selectFrom(table).select('seq').where('subscription_id', '=', subscriptionId).limit(limit)
    removed += (await tx.deleteFrom(table).where('seq', 'in', some).executeTakeFirstOrThrow()).numDeletedRows
  }
  return Number(removed)
}

export async function deleteRemoval(tx: Tx, seq: number): Promise<void> {
  await tx.deleteFrom('webhook_removals').where('seq', '=', seq).execute()
}
