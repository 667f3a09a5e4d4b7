/** Storage of webhook subscriptions. */
import { ROWS_PER_STEP } from './in-steps.ts'
import { finding, inserting, listing, updating } from './records.ts'
import type { Row } from './schema.ts'
import type { Tx } from './store.ts'
import { insertRemoval, removeRemains } from './webhook-removals.ts'

export type SubscriptionRow = Row<'webhook_subscriptions'>

export const insertWebhookSubscription = inserting('webhook_subscriptions')
export const findWebhookSubscription = finding('webhook_subscriptions', 'id')
export const updateWebhookSubscription = updating('webhook_subscriptions', 'id')
export const pageWebhookSubscriptions = listing('webhook_subscriptions', ['active'], {
  weights: { enabled_events_json: 1, previous_secrets_json: 1 },
})

/** Returns the row and locks it until the commit; an update that changes nothing does so on both databases. */
export const lockWebhookSubscription = (tx: Tx, id: string) => updateWebhookSubscription(tx, id, { id })

/** Removes the subscription and a first part of its queue and delivery records; false when it does not exist. */
export async function deleteWebhookSubscription(tx: Tx, id: string, now: number): Promise<boolean> {
  // The subscription is deleted first, so that concurrent writes for it wait and then find it gone.
  const { numDeletedRows } = await tx.deleteFrom('webhook_subscriptions').where('id', '=', id).executeTakeFirstOrThrow()
  if (numDeletedRows === 0n) return false
  await insertRemoval(tx, id, now)
  await removeRemains(tx, id, ROWS_PER_STEP)
  return true
}

/** Deactivates the subscription; false when it is inactive already, or its receiver was changed since `revision`. */
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
