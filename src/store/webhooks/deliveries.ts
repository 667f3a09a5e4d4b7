/** Delivery attempts of webhooks, one row each. */
import { partsOf } from '../queries/parts.ts'
import { listing } from '../queries/records.ts'
import type { Row } from '../schema.ts'
import type { Tx } from '../store.ts'

export type NewWebhookDelivery = Omit<Row<'webhook_deliveries'>, 'seq'>

/** Inserts many attempts, in this order. */
export async function insertWebhookDeliveries(tx: Tx, rows: readonly NewWebhookDelivery[]): Promise<void> {
  for (const part of partsOf(rows)) await tx.insertInto('webhook_deliveries').values(part).execute()
}

export const pageWebhookDeliveries = listing('webhook_deliveries', ['subscription_id'], {
  weights: { error: 1 },
})

/** Deletes up to `limit` attempts older than `before`; returns the number of deleted rows. */
export async function pruneDeliveries(tx: Tx, before: number, limit: number): Promise<number> {
  const old = tx.selectFrom('webhook_deliveries').select('seq').where('created_at', '<', before)
  const some = tx.deleteFrom('webhook_deliveries').where('seq', 'in', old.orderBy('created_at').limit(limit))
  return Number((await some.executeTakeFirstOrThrow()).numDeletedRows)
}
