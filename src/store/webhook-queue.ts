/** The queue of deliveries: what is to be sent to whom, and when. */

import { sql } from 'kysely'
import { DAY_MS } from '../timing.ts'
import { CLOCK_SLACK_MS } from './future-moments.ts'
import type { Row } from './schema.ts'
import type { Reader, Tx } from './store.ts'

export type Queued = Row<'webhook_queue'>

/** Until the last of the attempts (spec 6), and what a process takes for one: what lies further ahead is due. */
export const LONGEST_RETRY_MS = DAY_MS
export const LONGEST_CLAIM_MS = 15_000
/** One place in so many goes to the newest events where a long line of older ones waits. */
const NEWEST_PART = 4

/** The last event's sequence; 0 before the first. A subscription begins after it. */
export async function lastSequence(reader: Reader): Promise<number> {
  const counter = reader.selectFrom('counters').select('value').where('name', '=', 'events')
  return (await counter.executeTakeFirst())?.value ?? 0
}

/** Active subscriptions that have not looked at every event yet. */
export function subscriptionsBehind(reader: Reader, last: number): Promise<Row<'webhook_subscriptions'>[]> {
  return reader
    .selectFrom('webhook_subscriptions')
    .selectAll()
    .where('active', '=', 1)
    .where('cursor', '<', last)
    .orderBy('seq')
    .execute()
}

/** Moves the cursor; false where another process has moved it, or the subscription is gone or off. */
export async function moveCursor(tx: Tx, id: string, from: number, to: number): Promise<boolean> {
  const moved = tx.updateTable('webhook_subscriptions').set({ cursor: to }).where('id', '=', id)
  const { numUpdatedRows } = await moved.where('cursor', '=', from).where('active', '=', 1).executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Whether at least `most` first attempts are still to be made of what it has come to. */
export async function hasBacklog(
  reader: Reader,
  { id, cursor }: Pick<Row<'webhook_subscriptions'>, 'id' | 'cursor'>,
  most: number,
): Promise<boolean> {
  const untried = await reader
    .selectFrom('webhook_queue')
    .select('seq')
    .where('subscription_id', '=', id)
    .where('state', '=', 'waiting')
    .where('attempts', '=', 0)
    .where('sequence', '<=', cursor)
    .limit(most)
    .execute()
  return untried.length >= most
}

/**
 * What can be sent to one subscription now, in the order of the events: retries that are due, and first attempts of
 * which no earlier one about the same thing has still to be made; of a long line the newest are among them. What was
 * replayed beyond the cursor waits for it: until then the earlier ones are not all in the queue.
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
  // Each by an index of its own: a million that wait for their next attempt are not looked through.
  const retries = waiting.where('q.attempts', '>', sql.lit(0)).orderBy('q.next_attempt_at').limit(limit)
  const due = await retries.where('q.next_attempt_at', '<=', now).execute()
  // No retry is planned so far ahead: a clock that was ahead has written it.
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
  // A replay keeps a long line of old events waiting: what has just happened has a part of the room, of a single place
  // now and then.
  const part = Math.floor(limit / NEWEST_PART) || Number(now % NEWEST_PART === 0)
  const newest = part === 0 ? [] : await firsts.orderBy('q.sequence', 'desc').limit(part).execute()
  const chosen = new Set(newest.map(({ seq }) => seq))
  const others = line.filter(({ seq }) => !chosen.has(seq)).slice(0, limit - newest.length)
  return [...others, ...newest].sort(bySequence)
}

const bySequence = (one: Queued, other: Queued) => one.sequence - other.sequence

/** Takes them for one process; answers those that no other has taken meanwhile, and whose subscription still stands. */
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

/** What became of an attempt: what is delivered leaves the queue. False where the row is not this process's any more. */
export async function settleQueued(
  tx: Tx,
  { seq, claimed_until }: Pick<Queued, 'seq' | 'claimed_until'>,
  {
    state,
    ...changes
  }: Partial<Pick<Queued, 'attempts' | 'next_attempt_at'>> & { state?: Queued['state'] | 'delivered' },
): Promise<boolean> {
  if (state === 'delivered') {
    const gone = tx.deleteFrom('webhook_queue').where('seq', '=', seq).where('claimed_until', '=', claimed_until)
    return (await gone.executeTakeFirstOrThrow()).numDeletedRows > 0n
  }
  const { numUpdatedRows } = await tx
    .updateTable('webhook_queue')
    .set({ ...changes, ...(state === undefined ? {} : { state }), claimed_until: 0 })
    .where('seq', '=', seq)
    .where('claimed_until', '=', claimed_until)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** What was held back is due now, its attempts from the start. */
export async function resumeHeld(tx: Tx, subscriptionId: string, now: number): Promise<void> {
  await tx
    .updateTable('webhook_queue')
    .set({ state: 'waiting', attempts: 0, next_attempt_at: now })
    .where('subscription_id', '=', subscriptionId)
    .where('state', '=', 'held')
    .execute()
}
