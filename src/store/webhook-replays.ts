/** Replays: which events of the past are still to be put into the queue of a subscription, and how far each has come. */
import { inserting } from './records.ts'
import type { Row } from './schema.ts'
import type { Reader, Tx } from './store.ts'

export type WebhookReplay = Row<'webhook_replays'>

export const insertReplay = inserting('webhook_replays')

/** At most `most` are counted. */
export async function countReplays(reader: Reader, subscriptionId: string, most: number): Promise<number> {
  const open = reader.selectFrom('webhook_replays').select('seq').where('subscription_id', '=', subscriptionId)
  return (await open.limit(most).execute()).length
}

/** Replays after the one numbered `after`, oldest first. */
export function replaysAfter(reader: Reader, after: number, limit: number): Promise<WebhookReplay[]> {
  const open = reader.selectFrom('webhook_replays').selectAll().where('seq', '>', after)
  return open.orderBy('seq').limit(limit).execute()
}

/** Notes how far it has come, and forgets it at its end; false where another process has moved it, or it is gone. */
export async function moveReplay(tx: Tx, { seq, through, last }: WebhookReplay, to: number): Promise<boolean> {
  if (to >= last) {
    const done = tx.deleteFrom('webhook_replays').where('seq', '=', seq).where('through', '=', through)
    return (await done.executeTakeFirstOrThrow()).numDeletedRows > 0n
  }
  const moved = tx.updateTable('webhook_replays').set({ through: to }).where('seq', '=', seq)
  return (await moved.where('through', '=', through).executeTakeFirstOrThrow()).numUpdatedRows > 0n
}
