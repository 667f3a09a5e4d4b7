/** Delivery attempts of webhooks, one row each. */
import { inserting, listing } from './records.ts'
import type { Tx } from './store.ts'

export const insertWebhookDelivery = inserting('webhook_deliveries')
export const pageWebhookDeliveries = listing('webhook_deliveries', ['subscription_id'], {
  weights: { error: 1 },
  within: 'subscription_id',
})

/** Deletes up to `limit` attempts older than `before`; returns the number of deleted rows. */
export async function pruneDeliveries(tx: Tx, before: number, limit: number): Promise<number> {
  const old = tx.selectFrom('webhook_deliveries').select('seq').where('created_at', '<', before)
  const some = tx.deleteFrom('webhook_deliveries').where('seq', 'in', old.orderBy('created_at').limit(limit))
  return Number((await some.executeTakeFirstOrThrow()).numDeletedRows)
}
