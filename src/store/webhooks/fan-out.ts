/** Queues new events for many subscriptions with few statements. */
import type { RawBuilder } from 'kysely'
import { type Placeholders, prepared } from '../queries/prepared.ts'
import { preparedForList, preparedForRows } from '../queries/prepared-lists.ts'
import type { Row } from '../schema.ts'
import type { Reader, Tx } from '../store.ts'
import { isEnabledFor, type NewlyQueued, newlyQueued, QUEUED_COLUMNS } from './enqueuing.ts'
import { untriedOf } from './queue.ts'

export type BehindSubscription = Pick<Row<'webhook_subscriptions'>, 'id' | 'cursor'>

/** Returns active subscriptions that have not checked every event up to `last`, oldest first. */
export const subscriptionsBehind = async (reader: Reader, last: number): Promise<BehindSubscription[]> =>
  findBehind.all(reader, { last })

const findBehind = prepared((db, { last }: Placeholders<{ last: number }>) =>
  db
    .selectFrom('webhook_subscriptions')
    .select(['id', 'cursor'])
    .where('active', '=', 1)
    .where('cursor', '<', last)
    .orderBy('seq'),
)

/** Returns the subscriptions that have at least `limit` events up to the cursor waiting for their first attempt. */
export async function withBacklog(reader: Reader, ids: readonly string[], limit: number): Promise<Set<string>> {
  const found = await findWithBacklog(reader, ids, { before: limit - 1 })
  return new Set(found.map(({ id }) => id))
}

const findWithBacklog = preparedForList(
  (db, ids: readonly RawBuilder<string>[], { before }: Placeholders<{ before: number }>) =>
    db
      .selectFrom('webhook_subscriptions as s')
      .select('s.id')
      .where('s.id', 'in', ids)
      .where((is) =>
        is.exists(untriedOf(is).select('q.seq').whereRef('q.sequence', '<=', 's.cursor').limit(1).offset(before)),
      ),
)

/**
 * Moves the cursors of the subscriptions that are still at `after`, and queues for each its enabled events up to `to`,
 * each once. It leaves out subscriptions that another process has moved, or that were removed or deactivated.
 */
export async function enqueueForAll(
  tx: Tx,
  ids: readonly string[],
  { after, to, now }: { after: number; to: number; now: number },
): Promise<void> {
  const moved = await moveCursors(tx, ids, { after, to })
  if (moved.length === 0) return
  const events = await findEvents.all(tx, { after, to })
  const rows: NewlyQueued[] = []
  for (const { id, enabled_events_json, commitment } of moved) {
    const types = enabledTypes(enabled_events_json)
    for (const event of events) if (isEnabledFor(id, types, event)) rows.push(newlyQueued(id, event, now, commitment))
  }
  await insertOnce(tx, rows)
}

const moveCursors = preparedForList(
  (db, ids: readonly RawBuilder<string>[], { after, to }: Placeholders<{ after: number; to: number }>) =>
    db
      .updateTable('webhook_subscriptions')
      .set({ cursor: to })
      .where('id', 'in', ids)
      .where('cursor', '=', after)
      .where('active', '=', 1)
      .returning(['id', 'enabled_events_json', 'commitment']),
)

const findEvents = prepared((db, { after, to }: Placeholders<{ after: number; to: number }>) =>
  db
    .selectFrom('events')
    .select(['id', 'sequence', 'type', 'resource_type', 'resource_id'])
    .where('sequence', '>', after)
    .where('sequence', '<=', to)
    .orderBy('sequence'),
)

/** Returns the event types that a subscription requested, or null for all. */
export function enabledTypes(enabledEventsJson: string): string[] | null {
  const types: string[] = JSON.parse(enabledEventsJson)
  return types.includes('*') ? null : types
}

/** An event that a replay has already queued stays unchanged. */
const insertOnce: (tx: Tx, rows: readonly NewlyQueued[]) => Promise<void> = preparedForRows(
  QUEUED_COLUMNS,
  (db, rows) =>
    db
      .insertInto('webhook_queue')
      .values(rows as unknown as NewlyQueued[])
      .onConflict((conflict) => conflict.columns(['subscription_id', 'event_id']).doNothing()),
)
