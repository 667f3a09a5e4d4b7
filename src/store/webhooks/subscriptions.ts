/** Storage of webhook subscriptions. */
import type { RawBuilder } from 'kysely'
import { preparedForList } from '../queries/prepared-lists.ts'
import { finding, inserting, listing, updating } from '../queries/records.ts'
import type { Row } from '../schema.ts'
import type { Reader, Tx } from '../store.ts'
import { ROWS_PER_STEP } from '../writing/in-steps.ts'
import { insertRemoval, removeRemains } from './removals.ts'
import { tellOfChange } from './subscription-changes.ts'

export type SubscriptionRow = Row<'webhook_subscriptions'>

export const insertWebhookSubscription = inserting('webhook_subscriptions')
export const findWebhookSubscription = finding('webhook_subscriptions', 'id')
const update = updating('webhook_subscriptions', 'id')
export const pageWebhookSubscriptions = listing('webhook_subscriptions', ['active'], {
  weights: { enabled_events_json: 1, previous_secrets_json: 1 },
})

/** Returns those of the subscriptions that exist, in no particular order. */
export const findWebhookSubscriptions = (reader: Reader, ids: readonly string[]): Promise<SubscriptionRow[]> =>
  findByIds(reader, ids, {})

const findByIds = preparedForList((db, ids: readonly RawBuilder<string>[]) =>
  db.selectFrom('webhook_subscriptions').selectAll().where('id', 'in', ids),
)

/**
 * Counts the subscriptions of a key, which is null for those of an earlier version, and of all, and keeps others from
 * adding one until the commit.
 */
export async function countSubscriptions(tx: Tx, apiKeyId: string): Promise<{ ofKey: number; ofAll: number }> {
  // Every commit that writes an event takes this row too; a table lock would be of one database alone.
  await tx.updateTable('counters').set({ name: 'events' }).where('name', '=', 'events').execute()
  const { ofKey, ofAll } = await tx
    .selectFrom('webhook_subscriptions')
    .select(({ fn, case: when }) => [
      fn.countAll<number | string>().as('ofAll'),
      fn.count<number | string>(when().when('api_key_id', '=', apiKeyId).then(1).end()).as('ofKey'),
    ])
    .executeTakeFirstOrThrow()
  return { ofKey: Number(ofKey), ofAll: Number(ofAll) }
}

/** Returns the row and locks it until the commit; an update that changes nothing does so on both databases. */
export const lockWebhookSubscription = (tx: Tx, id: string) => update(tx, id, { id })

/** Returns the changed row, or null where there is none. Deliveries that were claimed before the change do not begin after it. */
export const updateWebhookSubscription: typeof update = (tx, id, changes) => {
  tellOfChange(id)
  return update(tx, id, changes)
}

/** Removes the subscription and a first part of its queue and delivery records; false when it does not exist. */
export async function deleteWebhookSubscription(tx: Tx, id: string, now: number): Promise<boolean> {
  // The subscription is deleted first, so that concurrent writes for it wait and then find it gone.
  const { numDeletedRows } = await tx.deleteFrom('webhook_subscriptions').where('id', '=', id).executeTakeFirstOrThrow()
  if (numDeletedRows === 0n) return false
  tellOfChange(id)
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
  if (numUpdatedRows === 0n) return false
  tellOfChange(id)
  return true
}
