/** Webhook subscriptions, their changes by this process, and what is left of removed ones. */
import { finding, inserting, listing, updating } from '../queries/records.ts'
import type { Row } from '../schema.ts'
import type { Reader, Tx } from '../store.ts'
import { ROWS_PER_STEP } from '../writing/in-steps.ts'
import { onCommit } from '../writing/work.ts'

export type SubscriptionRow = Row<'webhook_subscriptions'>

export const insertWebhookSubscription = inserting('webhook_subscriptions')
export const findWebhookSubscription = finding('webhook_subscriptions', 'id')
const update = updating('webhook_subscriptions', 'id')
export const pageWebhookSubscriptions = listing('webhook_subscriptions', ['active'], {
  weights: { enabled_events_json: 1, previous_secrets_json: 1 },
})

/** Counts the subscriptions of a key and of all keys, and keeps other requests from adding one until the commit. */
export async function countSubscriptions(tx: Tx, apiKeyId: string): Promise<{ ofKey: number; ofAll: number }> {
  // Every commit that writes an event locks this row too; a table lock would work on one database only.
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

/**
 * Returns the row and locks it until the commit, with an update that changes nothing, which works on both databases.
 */
export const lockWebhookSubscription = (tx: Tx, id: string) => update(tx, id, { id })

/**
 * Returns the changed row, or null if it does not exist. Deliveries claimed before the change do not start after it.
 */
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

/** What `disabled_reason` says if a person switched the subscription off. */
export const BY_REQUEST = 'switched off by request'

/** Returns subscriptions with earlier secrets, some of which may still sign, the last changed first. */
export function rotatingSubscriptions(reader: Reader, limit: number): Promise<SubscriptionRow[]> {
  return reader
    .selectFrom('webhook_subscriptions')
    .selectAll()
    .where('previous_secrets_json', '!=', '[]')
    .orderBy('updated_at', 'desc')
    .limit(limit)
    .execute()
}

/** Deactivates the subscription; false if it is already inactive, or if its receiver was changed since `revision`. */
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

type Removal = Row<'webhook_removals'>

export async function insertRemoval(tx: Tx, subscriptionId: string, now: number): Promise<void> {
  await tx
    .insertInto('webhook_removals')
    .values({ subscription_id: subscriptionId, removed_at: now })
    .onConflict((conflict) => conflict.column('subscription_id').doNothing())
    .execute()
}

export function removalsAfter(reader: Reader, after: number, limit: number): Promise<Removal[]> {
  const rows = reader.selectFrom('webhook_removals').selectAll().where('seq', '>', after)
  return rows.orderBy('seq').limit(limit).execute()
}

/** Deletes up to `limit` rows of each kind of one removed subscription; returns the number of deleted rows. */
export async function removeRemains(tx: Tx, subscriptionId: string, limit: number): Promise<number> {
  let removed = 0n
  for (const table of ['webhook_queue', 'webhook_deliveries', 'webhook_replays'] as const) {
    const some = tx.selectFrom(table).select('seq').where('subscription_id', '=', subscriptionId).limit(limit)
    removed += (await tx.deleteFrom(table).where('seq', 'in', some).executeTakeFirstOrThrow()).numDeletedRows
  }
  return Number(removed)
}

export async function deleteRemoval(tx: Tx, seq: number): Promise<void> {
  await tx.deleteFrom('webhook_removals').where('seq', '=', seq).execute()
}

/** Subscriptions whose last change is remembered. Of older changes only the number is known. */
const MOST_REMEMBERED = 10_000

const changedAt = new Map<string, number>()
let changes = 0
let forgottenUpTo = 0

/** The number of changes of subscriptions by this process. Read it before subscriptions. */
export const changesSoFar = (): number => changes

/**
 * Whether this process may have changed the subscription since that number of changes. Ask before a delivery, so that
 * nothing more is sent to a former receiver.
 */
export const hasChangedSince = (id: string, count: number): boolean =>
  count < forgottenUpTo || (changedAt.get(id) ?? 0) > count

/** Counts a change when the running write commits, before the caller gets its answer. */
const tellOfChange = (id: string): void =>
  onCommit(() => {
    if (changedAt.size >= MOST_REMEMBERED) {
      changedAt.clear()
      forgottenUpTo = changes
    }
    changedAt.set(id, ++changes)
  })
