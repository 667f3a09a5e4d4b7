/** Delivery attempts of webhooks, one row each. */
import { preparedForRows } from '../queries/prepared-lists.ts'
import { listing } from '../queries/records.ts'
import type { NewRow } from '../schema.ts'
import type { Tx } from '../store.ts'

const COLUMNS = [
  'id',
  'subscription_id',
  'event_id',
  'attempt',
  'status',
  'response_code',
  'duration_ms',
  'error',
  'next_attempt_at',
  'created_at',
] as const
export type NewWebhookDelivery = Required<Pick<NewRow<'webhook_deliveries'>, (typeof COLUMNS)[number]>>

/** Inserts many attempts in one statement, in this order. */
export const insertWebhookDeliveries: (tx: Tx, rows: readonly NewWebhookDelivery[]) => Promise<unknown> =
  preparedForRows(COLUMNS, (db, rows) =>
    db.insertInto('webhook_deliveries').values(rows as unknown as NewWebhookDelivery[]),
  )
export const pageWebhookDeliveries = listing('webhook_deliveries', ['subscription_id'], {
  weights: { error: 1 },
})

/** Deletes up to `limit` attempts older than `before`; returns the number of deleted rows. */
export async function pruneDeliveries(tx: Tx, before: number, limit: number): Promise<number> {
  const old = tx.selectFrom('webhook_deliveries').select('seq').where('created_at', '<', before)
  const some = tx.deleteFrom('webhook_deliveries').where('seq', 'in', old.orderBy('created_at').limit(limit))
  return Number((await some.executeTakeFirstOrThrow()).numDeletedRows)
}
