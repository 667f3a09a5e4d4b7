/** Webhook subscriptions. */
import { finding, inserting, listing, updating } from './records.ts'
import type { Row } from './schema.ts'
import type { Reader, Tx } from './store.ts'
import { deleteQueueOf } from './webhook-queue.ts'

export const insertWebhookSubscription = inserting('webhook_subscriptions')
export const findWebhookSubscription = finding('webhook_subscriptions', 'id')
export const updateWebhookSubscription = updating('webhook_subscriptions', 'id')
export const pageWebhookSubscriptions = listing('webhook_subscriptions', ['active'], {
  weights: { enabled_events_json: 1, previous_secrets_json: 1 },
})

/** The row, locked until the commit: an update that changes nothing does that on both databases. */
export const lockWebhookSubscription = (tx: Tx, id: string) => updateWebhookSubscription(tx, id, { id })

/** Removes the subscription and the record of its deliveries; false where there is none. */
export async function deleteWebhookSubscription(tx: Tx, id: string): Promise<boolean> {
  // The subscription first: who writes for it at this moment waits, and then finds it gone.
  const { numDeletedRows } = await tx.deleteFrom('webhook_subscriptions').where('id', '=', id).executeTakeFirstOrThrow()
  await tx.deleteFrom('webhook_deliveries').where('subscription_id', '=', id).execute()
  await deleteQueueOf(tx, id)
  return numDeletedRows > 0n
}

export function activeSubscriptions(reader: Reader): Promise<Row<'webhook_subscriptions'>[]> {
  return reader.selectFrom('webhook_subscriptions').selectAll().where('active', '=', 1).orderBy('seq').execute()
}

/** Switches it off; false where it is off already, or its receiver was set anew since `revision`. */
export async function switchOff(
  tx: Tx,
  id: string,
  { reason, now, revision }: { reason: string; now: number; revision: number },
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('webhook_subscriptions')
    .set({ active: 0, disabled_reason: reason, updated_at: now })
    .where('id', '=', id)
    .where('active', '=', 1)
    .where('receiver_revision', '=', revision)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}
