/** Delivery attempts of webhooks, one row each. */
import { finding, inserting, listing, updating } from './records.ts'
import type { Tx } from './store.ts'

export const insertWebhookDelivery = inserting('webhook_deliveries')
export const findWebhookDelivery = finding('webhook_deliveries', 'id')
export const updateWebhookDelivery = updating('webhook_deliveries', 'id')
export const pageWebhookDeliveries = listing('webhook_deliveries', ['subscription_id'], {
  weights: { error: 1 },
  within: 'subscription_id',
})

/** Forgets attempts older than that; answers how many. */
export async function pruneDeliveries(tx: Tx, before: number): Promise<number> {
  const old = tx.deleteFrom('webhook_deliveries').where('created_at', '<', before)
  return Number((await old.executeTakeFirstOrThrow()).numDeletedRows)
}
