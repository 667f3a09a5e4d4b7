/** The queue of deliveries: what is to be sent to whom, and when. */
import { type ExpressionBuilder, sql } from 'kysely'
import { CLOCK_SLACK_MS } from './future-moments.ts'
import type { Row, Tables } from './schema.ts'
import type { Reader, Tx } from './store.ts'

export type Queued = Row<'webhook_queue'>

/** Until the last of the attempts (spec 6), and what a process takes for one: what lies further ahead is due. */
export const LONGEST_WAIT_MS = 86_400_000
export const LONGEST_CLAIM_MS = 15_000

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

export type NewQueued = Pick<Queued, 'subscription_id' | 'event_id' | 'sequence' | 'resource' | 'next_attempt_at'>

export interface Wanted {
  subscriptionId: string
  /** Null: every type. */
  types: readonly string[] | null
  /** Sequences, the first exclusive. */
  after: number
  to: number
  now: number
  /** Only what happened from this moment on, and anew where it was queued before: Unix milliseconds. */
  againSince?: number
}

/** What is put into the queue anew: whoever is at it has no say in it any more. */
const fresh = (now: number) => ({
  state: 'waiting' as const,
  attempts: 0,
  next_attempt_at: now,
  claimed_until: 0,
})

/** A test event is for the subscription that it is about, whatever that one has asked for. */
const TEST = 'webhook.test_event'

/** Which events a subscription has asked for; `types` null is all of them. */
const wantedBy =
  (subscriptionId: string, types: readonly string[] | null) => (is: ExpressionBuilder<Tables, 'events'>) =>
    is.or([
      is.and([is('type', '=', TEST), is('resource_id', '=', subscriptionId)]),
      ...(types === null ? [is('type', '!=', TEST)] : []),
      // `in ()` is no SQL.
      ...(types === null || types.length === 0 ? [] : [is.and([is('type', '!=', TEST), is('type', 'in', types)])]),
    ])

/** Puts the events that a subscription wants into its queue, each once; answers how many. */
export async function enqueueRange(
  tx: Tx,
  { subscriptionId, types, after, to, now, againSince }: Wanted,
): Promise<number> {
  const inserted = await tx
    .insertInto('webhook_queue')
    .columns([
      'subscription_id',
      'event_id',
      'sequence',
      'resource',
      'state',
      'attempts',
      'next_attempt_at',
      'claimed_until',
    ])
    .expression((from) =>
      from
        .selectFrom('events')
        .select((of) => [
          sql<string>`cast(${subscriptionId} as text)`.as('subscription_id'),
          of.ref('id').as('event_id'),
          'sequence',
          sql<string>`${of.ref('resource_type')} || ':' || ${of.ref('resource_id')}`.as('resource'),
          sql<'waiting'>`'waiting'`.as('state'),
          sql<number>`0`.as('attempts'),
          sql<number>`cast(${now} as bigint)`.as('next_attempt_at'),
          sql<number>`0`.as('claimed_until'),
        ])
        .where('sequence', '>', after)
        .where('sequence', '<=', to)
        .where('created_at', '>=', againSince ?? 0)
        .where(wantedBy(subscriptionId, types))
        .orderBy('sequence'),
    )
    .onConflict((conflict) => {
      const known = conflict.columns(['subscription_id', 'event_id'])
      return againSince === undefined ? known.doNothing() : known.doUpdateSet(fresh(now))
    })
    .executeTakeFirstOrThrow()
  return Number(inserted.numInsertedOrUpdatedRows ?? 0n)
}

/** Puts each into the queue anew: its attempts begin again. */
export async function enqueueAgain(tx: Tx, rows: readonly NewQueued[]): Promise<void> {
  for (const row of rows) {
    const again = fresh(row.next_attempt_at)
    await tx
      .insertInto('webhook_queue')
      .values({ ...row, ...again })
      .onConflict((conflict) => conflict.columns(['subscription_id', 'event_id']).doUpdateSet(again))
      .execute()
  }
}

/**
 * What can be sent to one subscription now, in the order of the events: retries that are due, and first attempts of
 * which no earlier one about the same thing has still to be made. What was replayed beyond the cursor waits for it: until
 * then the earlier ones are not all in the queue.
 */
export function sendable(
  reader: Reader,
  { id, cursor }: Pick<Row<'webhook_subscriptions'>, 'id' | 'cursor'>,
  now: number,
  limit: number,
): Promise<Queued[]> {
  return reader
    .selectFrom('webhook_queue as q')
    .selectAll('q')
    .where('q.subscription_id', '=', id)
    .where('q.sequence', '<=', cursor)
    .where('q.state', '=', 'waiting')
    .where((is) =>
      is.or([is('q.next_attempt_at', '<=', now), is('q.next_attempt_at', '>', now + LONGEST_WAIT_MS + CLOCK_SLACK_MS)]),
    )
    .where((is) =>
      is.or([is('q.claimed_until', '<=', now), is('q.claimed_until', '>', now + LONGEST_CLAIM_MS + CLOCK_SLACK_MS)]),
    )
    .where((is) =>
      is.or([
        is('q.attempts', '>', 0),
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
      ]),
    )
    .orderBy('q.sequence')
    .limit(limit)
    .execute()
}

/** Takes them for one process; answers those that no other has taken meanwhile. */
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

export async function deleteQueueOf(tx: Tx, subscriptionId: string): Promise<void> {
  await tx.deleteFrom('webhook_queue').where('subscription_id', '=', subscriptionId).execute()
}
