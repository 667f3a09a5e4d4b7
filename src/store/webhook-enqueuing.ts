/** Puts events into the queue of deliveries: what comes to a subscription, and what it gets again. */
import { type ExpressionBuilder, sql } from 'kysely'
import type { Row, Tables } from './schema.ts'
import type { Reader, Tx } from './store.ts'

export type NewQueued = Pick<
  Row<'webhook_queue'>,
  'subscription_id' | 'event_id' | 'sequence' | 'resource' | 'next_attempt_at'
>

export interface EventFilter {
  subscriptionId: string
  /** Null: every type. */
  types: readonly string[] | null
  /** Sequences, the first exclusive. */
  after: number
  to: number
  now: number
  /** Only what happened from this moment on: Unix milliseconds. */
  since?: number
  /**
   * What is in the queue already is left alone unless given. `anew`: its attempts begin again. `once`: what was tried,
   * or is under way, is left out.
   */
  repeat?: 'anew' | 'once'
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

const attempted = (is: ExpressionBuilder<Tables, 'events'>, subscriptionId: string) =>
  is
    .selectFrom('webhook_deliveries')
    .select('webhook_deliveries.seq')
    .whereRef('webhook_deliveries.event_id', '=', 'events.id')
    .where('webhook_deliveries.subscription_id', '=', subscriptionId)

/** Sequence of the `count`th event that is wanted of a range; null where there are fewer. */
export async function nthWanted(
  reader: Reader,
  { subscriptionId, types, after, to, since }: EventFilter,
  count: number,
): Promise<number | null> {
  const wanted = reader
    .selectFrom('events')
    .select('sequence')
    .where('sequence', '>', after)
    .where('sequence', '<=', to)
    .where('created_at', '>=', since ?? 0)
    .where(wantedBy(subscriptionId, types))
  const row = await wanted
    .orderBy('sequence')
    .limit(1)
    .offset(count - 1)
    .executeTakeFirst()
  return row?.sequence ?? null
}

/** Puts the events that a subscription wants into its queue, each once; answers how many. */
export async function enqueueRange(
  tx: Tx,
  { subscriptionId, types, after, to, now, since, repeat }: EventFilter,
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
        .where('created_at', '>=', since ?? 0)
        .where(wantedBy(subscriptionId, types))
        .$if(repeat === 'once', (events) => events.where((is) => is.not(is.exists(attempted(is, subscriptionId)))))
        .orderBy('sequence'),
    )
    .onConflict((conflict) => {
      const known = conflict.columns(['subscription_id', 'event_id'])
      if (repeat === undefined) return known.doNothing()
      const again = known.doUpdateSet(fresh(now))
      return repeat === 'anew' ? again : again.where('webhook_queue.claimed_until', '<=', now)
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
