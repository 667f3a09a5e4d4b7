/** Removes the oldest events in bounded steps, and reports the first stored sequence. */
import type { SelectQueryBuilder } from 'kysely'
import type { Row, Tables } from '../schema.ts'
import type { Reader, Tx } from '../store.ts'
import { UNTRIED, untriedOf, WAITING } from '../webhooks/queue.ts'
import { eventKeyHash, firstSequenceSince, lastSequence } from './events.ts'

const FIRST = 'events_first'
/** Number of keys per insert, below SQLite's limit of variables. */
const KEYS_PER_INSERT = 500

/** Returns the sequence of the first stored event, or 1 if nothing was removed. */
async function firstStoredSequence(reader: Reader): Promise<number> {
  const counter = reader.selectFrom('counters').select('value').where('name', '=', FIRST)
  return (await counter.executeTakeFirst())?.value ?? 1
}

/** Returns the first stored sequence, and prevents the removal of events until the commit. */
export async function lockFirstSequence(tx: Tx): Promise<number> {
  const locked = tx.updateTable('counters').set({ name: FIRST }).where('name', '=', FIRST).returning('value')
  return (await locked.executeTakeFirst())?.value ?? 1
}

export interface RemovedEvents {
  /** Sequence of the first stored event. */
  first: number
  /** Time of that event in Unix milliseconds. */
  since: number
}

/** Returns the first stored event, or null if none was removed. */
export async function removedEvents(reader: Reader, first?: number): Promise<RemovedEvents | null> {
  const sequence = first ?? (await firstStoredSequence(reader))
  if (sequence === 1) return null
  const event = reader.selectFrom('events').select('created_at').where('sequence', '=', sequence)
  return { first: sequence, since: (await event.executeTakeFirst())?.created_at ?? 0 }
}

/**
 * Removes up to `limit` of the oldest events before `before`, in order. Returns their number. Events that an active
 * subscription or its replay still has to deliver stay, and so does the last event.
 */
export async function pruneEvents(tx: Tx, before: number, limit: number): Promise<number> {
  const first = await lockFirstSequence(tx)
  // `latest_at` never decreases, so the events that are too old are the beginning of the sequence.
  const past = ((await firstSequenceSince(tx, before)) ?? (await lastSequence(tx))) - 1
  const through = await deliveredThrough(tx, Math.min(past, first + limit - 1))
  if (through < first) return 0
  const part = tx.selectFrom('events').select('dedupe_key').where('sequence', '>=', first)
  await rememberKeys(tx, await part.where('sequence', '<=', through).execute())
  await tx.deleteFrom('events').where('sequence', '>=', first).where('sequence', '<=', through).execute()
  await tx
    .updateTable('counters')
    .set({ value: through + 1 })
    .where('name', '=', FIRST)
    .execute()
  return through + 1 - first
}

async function rememberKeys(tx: Tx, events: readonly Pick<Row<'events'>, 'dedupe_key'>[]): Promise<void> {
  for (let at = 0; at < events.length; at += KEYS_PER_INSERT) {
    const rows = events
      .slice(at, at + KEYS_PER_INSERT)
      .map(({ dedupe_key }) => ({ key_hash: eventKeyHash(dedupe_key) }))
    const insertion = tx.insertInto('removed_event_keys').values(rows)
    await insertion.onConflict((conflict) => conflict.column('key_hash').doNothing()).execute()
  }
}

/**
 * Returns the last sequence up to `most` that every active subscription has finished. Cursors and replays are read
 * before the queue, because their events move into the queue and never back.
 */
async function deliveredThrough(tx: Tx, most: number): Promise<number> {
  const { cursor } = await tx
    .selectFrom('webhook_subscriptions')
    .select((of) => of.fn.min('cursor').as('cursor'))
    .where('active', '=', 1)
    .executeTakeFirstOrThrow()
  const active = tx.selectFrom('webhook_subscriptions').select('id').where('active', '=', 1)
  const replay = await tx
    .selectFrom('webhook_replays')
    .select((of) => of.fn.min('through').as('through'))
    .where('subscription_id', 'in', active)
    .executeTakeFirstOrThrow()
  const through = Math.min(most, cursor ?? most, replay.through ?? most)
  const { untried, tried } = await firstQueued(tx, through)
  return Math.min(through, ...[untried, tried].filter((first) => first !== null).map((first) => Number(first) - 1))
}

/**
 * Returns the lowest sequences that active subscriptions still wait for, and that are to be sent again up to
 * `through`. This is one statement, because a delivery may start again meanwhile. The former is looked up in the queue
 * of each subscription.
 */
const firstQueued = (tx: Tx, through: number) =>
  tx
    .selectNoFrom((is) => [
      is
        .selectFrom('webhook_subscriptions as s')
        .select((of) =>
          of.fn
            .min<number | null>(untriedOf(of).select(({ fn }) => fn.min('q.sequence').as('sequence')))
            .as('sequence'),
        )
        .where('s.active', '=', 1)
        .as('untried'),
      is
        .selectFrom('webhook_queue as q')
        .select('q.sequence')
        .where('q.attempts', '>', UNTRIED)
        .where('q.sequence', '<=', through)
        .where((of) =>
          of.exists(
            of
              .selectFrom('webhook_subscriptions as s')
              .select('s.seq')
              .whereRef('s.id', '=', 'q.subscription_id')
              .where('s.active', '=', 1),
          ),
        )
        .orderBy('q.sequence')
        .limit(1)
        .as('tried'),
    ])
    .executeTakeFirstOrThrow()

/**
 * Removes up to `limit` deliveries of removed events, which only inactive subscriptions have. Returns their number.
 * Deliveries of a removed subscription are removed with it.
 */
export async function pruneQueued(tx: Tx, limit: number): Promise<number> {
  const first = await lockFirstSequence(tx)
  const late = tx.selectFrom('webhook_queue').select('seq').where('sequence', '<', first)
  const tried = late.where('attempts', '>', UNTRIED).orderBy('sequence').limit(limit)
  const removed = await deleteQueued(tx, tried)
  if (removed === limit) return removed
  const untried = late
    .where('subscription_id', 'in', (of) => of.selectFrom('webhook_subscriptions').select('id'))
    .where('state', '=', WAITING)
    .where('attempts', '=', UNTRIED)
    .limit(limit - removed)
  return removed + (await deleteQueued(tx, untried))
}

async function deleteQueued(
  tx: Tx,
  seqs: SelectQueryBuilder<Tables, 'webhook_queue', { seq: number }>,
): Promise<number> {
  const { numDeletedRows } = await tx.deleteFrom('webhook_queue').where('seq', 'in', seqs).executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
