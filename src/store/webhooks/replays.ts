/** Replays: the past events still to be queued for a subscription, and each replay's progress. */
import { inserting } from '../queries/records.ts'
import type { Row } from '../schema.ts'
import type { Reader, Tx } from '../store.ts'

export type WebhookReplay = Row<'webhook_replays'>

export const insertReplay = inserting('webhook_replays')

/** Counts the open replays of a subscription, up to `limit`. */
export async function countReplays(reader: Reader, subscriptionId: string, limit: number): Promise<number> {
  const open = reader.selectFrom('webhook_replays').select('seq').where('subscription_id', '=', subscriptionId)
  return (await open.limit(limit).execute()).length
}

/** Returns replays after the one numbered `after`, oldest first. */
export function replaysAfter(reader: Reader, after: number, limit: number): Promise<WebhookReplay[]> {
  const open = reader.selectFrom('webhook_replays').selectAll().where('seq', '>', after)
  return open.orderBy('seq').limit(limit).execute()
}

/** Records the progress of a replay and deletes it at its end; false if another process has moved it, or it is gone. */
export async function moveReplay(tx: Tx, { seq, through, last }: WebhookReplay, to: number): Promise<boolean> {
  if (to >= last) {
    const done = tx.deleteFrom('webhook_replays').where('seq', '=', seq).where('through', '=', through)
    return (await done.executeTakeFirstOrThrow()).numDeletedRows > 0n
  }
  const moved = tx.updateTable('webhook_replays').set({ through: to }).where('seq', '=', seq)
  return (await moved.where('through', '=', through).executeTakeFirstOrThrow()).numUpdatedRows > 0n
}
