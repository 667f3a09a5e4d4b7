/** Delivery queue: which event is sent to which subscription, and when. */

import { sql } from 'kysely'
import { DAY_MS } from '../timing.ts'
import { CLOCK_SLACK_MS } from './future-moments.ts'
import type { Row } from './schema.ts'
import type { Reader, Tx } from './store.ts'

export type Queued = Row<'webhook_queue'>

/**
 * The longest wait from one attempt to the next. Together with the longest claim it bounds stored times; later ones
 * count as due.
 */
const LONGEST_RETRY_MS = DAY_MS
export const LONGEST_CLAIM_MS = 15_000
/** One in this many places is reserved for the newest events while many older ones are queued. */
const NEWEST_PART = 4

/** Returns the last event's sequence, after which a new subscription starts; 0 before the first. */
export async function lastSequence(reader: Reader): Promise<number> {
  const counter = reader.selectFrom('counters').select('value').where('name', '=', 'events')
  return (await counter.executeTakeFirst())?.value ?? 0
}

/** Returns active subscriptions that have not checked every event yet. */
export function subscriptionsBehind(reader: Reader, last: number): Promise<Row<'webhook_subscriptions'>[]> {
  return reader
    .selectFrom('webhook_subscriptions')
    .selectAll()
    .where('active', '=', 1)
    .where('cursor', '<', last)
    .orderBy('seq')
    .execute()
}

/** Moves the cursor; false when another process has moved it, or the subscription was removed or deactivated. */
export async function moveCursor(tx: Tx, id: string, from: number, to: number): Promise<boolean> {
  const moved = tx.updateTable('webhook_subscriptions').set({ cursor: to }).where('id', '=', id)
  const { numUpdatedRows } = await moved.where('cursor', '=', from).where('active', '=', 1).executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Whether at least `limit` events up to the cursor still await their first attempt. */
export async function hasBacklog(
  reader: Reader,
  { id, cursor }: Pick<Row<'webhook_subscriptions'>, 'id' | 'cursor'>,
  limit: number,
): Promise<boolean> {
  const untried = await reader
    .selectFrom('webhook_queue')
    .select('seq')
    .where('subscription_id', '=', id)
    .where('state', '=', 'waiting')
    .where('attempts', '=', 0)
    .where('sequence', '<=', cursor)
    .limit(limit)
    .execute()
  return untried.length >= limit
}

/**
 * Returns deliverable events of one subscription in their order: due retries, and first attempts without an untried
 * earlier event of the same resource; a part is reserved for the newest. Replayed events beyond the cursor wait, as
 * earlier ones may not be queued yet.
 */
export async function sendable(
  reader: Reader,
  { id, cursor }: Pick<Row<'webhook_subscriptions'>, 'id' | 'cursor'>,
  now: number,
  limit: number,
): Promise<Queued[]> {
  const waiting = reader
    .selectFrom('webhook_queue as q')
    .selectAll('q')
    .where('q.subscription_id', '=', id)
    .where('q.state', '=', 'waiting')
    .where((is) =>
      is.or([is('q.claimed_until', '<=', now), is('q.claimed_until', '>', now + LONGEST_CLAIM_MS + CLOCK_SLACK_MS)]),
    )
    .where('q.sequence', '<=', cursor)
  // Each query has its own index, so that a million queued retries are not scanned.
  const retries = waiting.where('q.attempts', '>', sql.lit(0)).orderBy('q.next_attempt_at').limit(limit)
  const due = await retries.where('q.next_attempt_at', '<=', now).execute()
  // Retries are never planned so far ahead; such a time was written with a clock that was ahead.
  const stray = await retries.where('q.next_attempt_at', '>', now + LONGEST_RETRY_MS + CLOCK_SLACK_MS).execute()
  const firsts = waiting
    .where('q.attempts', '=', 0)
    .where((is) =>
      is.or([
        is('q.next_attempt_at', '<=', now),
        is('q.next_attempt_at', '>', now + LONGEST_RETRY_MS + CLOCK_SLACK_MS),
      ]),
    )
    .where((is) =>
      is.not(
        is.exists(
          is
            .selectFrom('webhook_queue as earlier')
            .select('earlier.seq')
            .whereRef('earlier.subscription_id', '=', 'q.subscription_id')
            .whereRef('earlier.resource', '=', 'q.resource')
            .whereRef('earlier.sequence', '<', 'q.sequence')
            .where('earlier.state', '=', 'waiting')
            .where('earlier.attempts', '=', 0),
        ),
      ),
    )
  const oldest = await firsts.orderBy('q.sequence').limit(limit).execute()
  const line = [...due, ...stray, ...oldest].sort(bySequence)
  if (oldest.length < limit) return line.slice(0, limit)
  // During a replay with many old events, a part of the places is reserved for new events; with a single place, it is
  // used for them now and then.
  const part = Math.floor(limit / NEWEST_PART) || Number(now % NEWEST_PART === 0)
  const newest = part === 0 ? [] : await firsts.orderBy('q.sequence', 'desc').limit(part).execute()
  const chosen = new Set(newest.map(({ seq }) => seq))
  const others = line.filter(({ seq }) => !chosen.has(seq)).slice(0, limit - newest.length)
  return [...others, ...newest].sort(bySequence)
}

const bySequence = (one: Queued, other: Queued) => one.sequence - other.sequence

/**
 * Claims queued events for one process; returns those that no other process has claimed and whose subscription still
 * exists.
 */
export async function claimQueued(
  tx: Tx,
  seqs: readonly number[],
  { now, until }: { now: number; until: number },
): Promise<Set<number>> {
  if (seqs.length === 0) return new Set()
  const claimed = await tx
    .updateTable('webhook_queue')
    .set({ claimed_until: until })
    .where('seq', 'in', seqs)
    .where('state', '=', 'waiting')
    .where((is) =>
      is.or([is('claimed_until', '<=', now), is('claimed_until', '>', now + LONGEST_CLAIM_MS + CLOCK_SLACK_MS)]),
    )
    .where((is) =>
      is.exists(
        is
          .selectFrom('webhook_subscriptions')
          .select('webhook_subscriptions.seq')
          .whereRef('webhook_subscriptions.id', '=', 'webhook_queue.subscription_id'),
      ),
    )
    .returning('seq')
    .execute()
  return new Set(claimed.map(({ seq }) => seq))
}

/**
 * Records the outcome of an attempt and deletes delivered events. Returns false when the row is no longer claimed by
 * this process.
 */
export async function settleQueued(
  tx: Tx,
  { seq, claimed_until }: Pick<Queued, 'seq' | 'claimed_until'>,
  {
    state,
    ...changes
  }: Partial<Pick<Queued, 'attempts' | 'next_attempt_at'>> & { state?: Queued['state'] | 'delivered' },
): Promise<boolean> {
  if (state === 'delivered') {
    const deleted = tx.deleteFrom('webhook_queue').where('seq', '=', seq).where('claimed_until', '=', claimed_until)
    return (await deleted.executeTakeFirstOrThrow()).numDeletedRows > 0n
  }
  const { numUpdatedRows } = await tx
    .updateTable('webhook_queue')
    .set({ ...changes, ...(state === undefined ? {} : { state }), claimed_until: 0 })
    .where('seq', '=', seq)
    .where('claimed_until', '=', claimed_until)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Makes held events due immediately and restarts their attempts. */
export async function resumeHeld(tx: Tx, subscriptionId: string, now: number): Promise<void> {
  await tx
    .updateTable('webhook_queue')
    .set({ state: 'waiting', attempts: 0, next_attempt_at: now })
    .where('subscription_id', '=', subscriptionId)
    .where('state', '=', 'held')
    .execute()
}
