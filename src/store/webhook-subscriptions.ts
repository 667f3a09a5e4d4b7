/** Webhook subscriptions. */
import { ROWS_PER_STEP } from './in-steps.ts'
import { finding, inserting, listing, updating } from './records.ts'
import type { Row } from './schema.ts'
import type { Reader, Tx } from './store.ts'
import { insertRemoval, removeRemains } from './webhook-removals.ts'

export type SubscriptionRow = Row<'webhook_subscriptions'>

export const insertWebhookSubscription = inserting('webhook_subscriptions')
export const findWebhookSubscription = finding('webhook_subscriptions', 'id')
export const updateWebhookSubscription = updating('webhook_subscriptions', 'id')
export const pageWebhookSubscriptions = listing('webhook_subscriptions', ['active'], {
  weights: { enabled_events_json: 1, previous_secrets_json: 1 },
})

/** The row, locked until the commit: an update that changes nothing does that on both databases. */
export const lockWebhookSubscription = (tx: Tx, id: string) => updateWebhookSubscription(tx, id, { id })

/** Removes the subscription, with a first part of its queue and the records of its deliveries; false where there is none. */
export async function deleteWebhookSubscription(tx: Tx, id: string, now: number): Promise<boolean> {
  // The subscription first: who writes for it at this moment waits, and then finds it gone.
  const { numDeletedRows } = await tx.deleteFrom('webhook_subscriptions').where('id', '=', id).executeTakeFirstOrThrow()
  if (numDeletedRows === 0n) return false
  await insertRemoval(tx, id, now)
  await removeRemains(tx, id, ROWS_PER_STEP)
  return true
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
