/** Fills the delivery queue: with the new events of each subscription, and with replayed ones. */
import { type ExpressionBuilder, type RawBuilder, sql } from 'kysely'
import { type Placeholders, prepared } from '../queries/prepared.ts'
import { preparedForList, preparedForRows } from '../queries/prepared-lists.ts'
import { inserting } from '../queries/records.ts'
import type { NewRow, Row, Tables } from '../schema.ts'
import type { Reader, Tx } from '../store.ts'
import { untriedOf } from './queue.ts'

/** While this many first attempts of a subscription are pending, no further events are queued for it. */
const MOST_UNTRIED = 500

/** A test event is delivered only to the subscription that it is about, regardless of its enabled types. */
const TEST = 'webhook.test_event'

type EventOfQueue = Pick<Row<'events'>, 'id' | 'sequence' | 'resource_type' | 'resource_id'>
type Subscriber = Pick<Row<'webhook_subscriptions'>, 'id' | 'commitment'>

/** Returns the event types that a subscription requested, or null for all. */
export function enabledTypes(enabledEventsJson: string): string[] | null {
  const types: string[] = JSON.parse(enabledEventsJson)
  return types.includes('*') ? null : types
}

/** Whether a subscription has enabled the event; `types` null means all. */
export const isEnabledFor = (
  subscriptionId: string,
  types: readonly string[] | null,
  { type, resource_id }: Pick<Row<'events'>, 'type' | 'resource_id'>,
): boolean => (type === TEST ? resource_id === subscriptionId : types === null || types.includes(type))

/** Returns the events after a sequence, up to another one, in order. */
export const eventsBetween = (tx: Tx, range: { after: number; to: number }) => findBetween.all(tx, range)

const findBetween = prepared((db, { after, to }: Placeholders<{ after: number; to: number }>) =>
  db
    .selectFrom('events')
    .select(['id', 'sequence', 'type', 'resource_type', 'resource_id', 'created_at'])
    .where('sequence', '>', after)
    .where('sequence', '<=', to)
    .orderBy('sequence'),
)

const COLUMNS = [
  'subscription_id',
  'event_id',
  'sequence',
  'resource',
  'state',
  'attempts',
  'next_attempt_at',
  'claimed_until',
] as const
type NewlyQueued = Required<Pick<NewRow<'webhook_queue'>, (typeof COLUMNS)[number]>>

/** The row of an event that waits for its first attempt; one that must be final is checked once more before it. */
const newlyQueued = ({ id, commitment }: Subscriber, event: EventOfQueue, now: number): NewlyQueued => ({
  subscription_id: id,
  event_id: event.id,
  sequence: event.sequence,
  resource: `${event.resource_type}:${event.resource_id}`,
  state: commitment === 'finalized' ? 'unfinal' : 'waiting',
  attempts: 0,
  next_attempt_at: now,
  claimed_until: 0,
})

/** Inserts rows. Those that are already queued stay as they are, start again, or do so unless they are claimed. */
const insertion = (known: 'stays' | 'starts again' | 'starts again unless claimed') =>
  preparedForRows(COLUMNS, (db, rows) =>
    db
      .insertInto('webhook_queue')
      .values(rows as unknown as NewlyQueued[])
      .onConflict((conflict) => {
        const same = conflict.columns(['subscription_id', 'event_id'])
        if (known === 'stays') return same.doNothing()
        const again = same.doUpdateSet(({ ref }) => ({
          state: ref('excluded.state'),
          attempts: ref('excluded.attempts'),
          next_attempt_at: ref('excluded.next_attempt_at'),
          claimed_until: ref('excluded.claimed_until'),
        }))
        if (known === 'starts again') return again
        return again.whereRef('webhook_queue.claimed_until', '<=', 'excluded.next_attempt_at')
      }),
  )
const insertOnce = insertion('stays')
const insertAnew = insertion('starts again')
const insertUnclaimed = insertion('starts again unless claimed')

/** Queues each event again with its attempts restarted; returns their number. */
export const requeueEvents = (
  tx: Tx,
  subscriber: Subscriber,
  events: readonly EventOfQueue[],
  now: number,
): Promise<number> =>
  insertAnew(
    tx,
    events.map((event) => newlyQueued(subscriber, event, now)),
  )

/** Queues the events that were never attempted and are not being delivered; returns their number. */
export async function queueUnattempted(
  tx: Tx,
  subscriber: Subscriber,
  events: readonly EventOfQueue[],
  now: number,
): Promise<number> {
  const ids = events.map(({ id }) => id)
  const attempted = new Set((await findAttempted(tx, ids, { id: subscriber.id })).map(({ event_id }) => event_id))
  const rows = events.filter(({ id }) => !attempted.has(id)).map((event) => newlyQueued(subscriber, event, now))
  return insertUnclaimed(tx, rows)
}

const findAttempted = preparedForList((db, ids: readonly RawBuilder<string>[], { id }: Placeholders<{ id: string }>) =>
  db.selectFrom('webhook_deliveries').select('event_id').where('event_id', 'in', ids).where('subscription_id', '=', id),
)

export type BehindSubscription = Pick<Row<'webhook_subscriptions'>, 'seq' | 'id' | 'cursor'>

/** Most subscriptions that one call returns. */
export const MOST_BEHIND = 200

/**
 * Returns active subscriptions that have not checked every event up to `last` and whose receiver keeps up: the next
 * ones after the one numbered `after`.
 */
export const subscriptionsBehind = (
  reader: Reader,
  range: { last: number; after: number },
): Promise<BehindSubscription[]> => findBehind.all(reader, range)

const findBehind = prepared((db, { last, after }: Placeholders<{ last: number; after: number }>) =>
  db
    .selectFrom('webhook_subscriptions as s')
    .select(['s.seq', 's.id', 's.cursor'])
    .where('s.active', '=', 1)
    .where('s.seq', '>', after)
    .where('s.cursor', '<', last)
    .where((is) => is.not(isFull(is)))
    .orderBy('s.seq')
    .limit(sql.lit(MOST_BEHIND)),
)

/** Whether too many events of a subscription `s` up to its cursor wait for their first attempt. */
const isFull = (is: ExpressionBuilder<Tables & { s: Tables['webhook_subscriptions'] }, 's'>) =>
  is.exists(
    untriedOf(is)
      .select('q.seq')
      .whereRef('q.sequence', '<=', 's.cursor')
      .limit(sql.lit(1))
      .offset(sql.lit(MOST_UNTRIED - 1)),
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
  const events = await eventsBetween(tx, { after, to })
  const rows = moved.flatMap((subscription) => {
    const types = enabledTypes(subscription.enabled_events_json)
    const enabled = events.filter((event) => isEnabledFor(subscription.id, types, event))
    return enabled.map((event) => newlyQueued(subscription, event, now))
  })
  // An event that a replay has already queued stays unchanged.
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

type Replay = Row<'webhook_replays'>

export const insertReplay = inserting('webhook_replays')

/** Counts the open replays of a subscription, up to `limit`. */
export async function countReplays(reader: Reader, subscriptionId: string, limit: number): Promise<number> {
  const open = reader.selectFrom('webhook_replays').select('seq').where('subscription_id', '=', subscriptionId)
  return (await open.limit(limit).execute()).length
}

/** Returns the next replay after the one numbered `after` that its subscription and its receiver are ready for. */
export const nextReplay = (reader: Reader, after: number): Promise<Replay | undefined> =>
  reader
    .selectFrom('webhook_replays as r')
    .selectAll()
    .where('r.seq', '>', after)
    .where((is) =>
      is.exists(
        is
          .selectFrom('webhook_subscriptions as s')
          .select('s.seq')
          .whereRef('s.id', '=', 'r.subscription_id')
          .where('s.active', '=', 1)
          .whereRef('s.cursor', '>', 'r.through')
          .where((of) => of.not(isFull(of))),
      ),
    )
    .orderBy('r.seq')
    .limit(1)
    .executeTakeFirst()

/** Records the progress of a replay and deletes it at its end; false if another process has moved it, or it is gone. */
export async function moveReplay(tx: Tx, { seq, through, last }: Replay, to: number): Promise<boolean> {
  if (to >= last) {
    const done = tx.deleteFrom('webhook_replays').where('seq', '=', seq).where('through', '=', through)
    return (await done.executeTakeFirstOrThrow()).numDeletedRows > 0n
  }
  const moved = tx.updateTable('webhook_replays').set({ through: to }).where('seq', '=', seq)
  return (await moved.where('through', '=', through).executeTakeFirstOrThrow()).numUpdatedRows > 0n
}
