/** Adds events to the delivery queue: a subscription's new events, and replayed ones. */
import { type ExpressionBuilder, sql } from 'kysely'
import type { NewRow, Row, Tables } from '../schema.ts'
import type { Reader, Tx } from '../store.ts'

export type DeliveryCommitment = Row<'webhook_subscriptions'>['commitment']

export interface EventFilter {
  subscriptionId: string
  /** Enabled event types; null means every type. */
  types: readonly string[] | null
  /** Range of sequences: `after` is exclusive, `to` inclusive. */
  after: number
  to: number
  now: number
  /** Earliest event time in Unix milliseconds. */
  since?: number
  /**
   * Handling of events that are already queued; by default they are unchanged. `anew` restarts their attempts; `once`
   * skips those that were attempted or are being delivered.
   */
  repeat?: 'anew' | 'once'
  /** What an event's transaction must have reached before it is sent; `confirmed` by default. */
  commitment?: DeliveryCommitment
}

/** Columns of a queued event, in the order in which the insertions name them. */
export const QUEUED_COLUMNS = [
  'subscription_id',
  'event_id',
  'sequence',
  'resource',
  'state',
  'attempts',
  'next_attempt_at',
  'claimed_until',
] as const

/** Initial state of a queued event; for one that is already queued it also revokes a claim. */
export const waitingState = (now: number, commitment: DeliveryCommitment) => ({
  state: firstState(commitment),
  attempts: 0,
  next_attempt_at: now,
  claimed_until: 0,
})

/** An event that must be final is checked once more before it is sent. */
const firstState = (commitment: DeliveryCommitment): Row<'webhook_queue'>['state'] =>
  commitment === 'finalized' ? 'unfinal' : 'waiting'

/** A test event is delivered only to the subscription that it is about, regardless of its enabled types. */
const TEST = 'webhook.test_event'

/** Condition for the events that a subscription has enabled; `types` null means all. */
const enabledBy =
  (subscriptionId: string, types: readonly string[] | null) => (is: ExpressionBuilder<Tables, 'events'>) =>
    is.or([
      is.and([is('type', '=', TEST), is('resource_id', '=', subscriptionId)]),
      ...(types === null ? [is('type', '!=', TEST)] : []),
      // `in ()` is not valid SQL.
      ...(types === null || types.length === 0 ? [] : [is.and([is('type', '!=', TEST), is('type', 'in', types)])]),
    ])

/** The same condition for one event that was read. */
export const isEnabledFor = (
  subscriptionId: string,
  types: readonly string[] | null,
  { type, resource_id }: Pick<Row<'events'>, 'type' | 'resource_id'>,
): boolean => (type === TEST ? resource_id === subscriptionId : types === null || types.includes(type))

const attempted = (is: ExpressionBuilder<Tables, 'events'>, subscriptionId: string) =>
  is
    .selectFrom('webhook_deliveries')
    .select('webhook_deliveries.seq')
    .whereRef('webhook_deliveries.event_id', '=', 'events.id')
    .where('webhook_deliveries.subscription_id', '=', subscriptionId)

/** Returns the sequence of the `count`th enabled event in a range; null if there are fewer. */
export async function nthEnabled(
  reader: Reader,
  { subscriptionId, types, after, to, since }: EventFilter,
  count: number,
): Promise<number | null> {
  const enabled = reader
    .selectFrom('events')
    .select('sequence')
    .where('sequence', '>', after)
    .where('sequence', '<=', to)
    .where('created_at', '>=', since ?? 0)
    .where(enabledBy(subscriptionId, types))
  const row = await enabled
    .orderBy('sequence')
    .limit(1)
    .offset(count - 1)
    .executeTakeFirst()
  return row?.sequence ?? null
}

/** Adds the enabled events of a range to a subscription's queue, each once; returns the number of queued events. */
export async function enqueueRange(
  tx: Tx,
  { subscriptionId, types, after, to, now, since, repeat, commitment = 'confirmed' }: EventFilter,
): Promise<number> {
  const state = firstState(commitment)
  const inserted = await tx
    .insertInto('webhook_queue')
    .columns(QUEUED_COLUMNS)
    .expression((from) =>
      from
        .selectFrom('events')
        .select((of) => [
          sql<string>`cast(${subscriptionId} as text)`.as('subscription_id'),
          of.ref('id').as('event_id'),
          'sequence',
          sql<string>`${of.ref('resource_type')} || ':' || ${of.ref('resource_id')}`.as('resource'),
          sql<typeof state>`cast(${state} as text)`.as('state'),
          sql<number>`0`.as('attempts'),
          sql<number>`cast(${now} as bigint)`.as('next_attempt_at'),
          sql<number>`0`.as('claimed_until'),
        ])
        .where('sequence', '>', after)
        .where('sequence', '<=', to)
        .where('created_at', '>=', since ?? 0)
        .where(enabledBy(subscriptionId, types))
        .$if(repeat === 'once', (events) => events.where((is) => is.not(is.exists(attempted(is, subscriptionId)))))
        .orderBy('sequence'),
    )
    .onConflict((conflict) => {
      const known = conflict.columns(['subscription_id', 'event_id'])
      if (repeat === undefined) return known.doNothing()
      const requeued = known.doUpdateSet(waitingState(now, commitment))
      return repeat === 'anew' ? requeued : requeued.where('webhook_queue.claimed_until', '<=', now)
    })
    .executeTakeFirstOrThrow()
  return Number(inserted.numInsertedOrUpdatedRows ?? 0n)
}

export type NewlyQueued = Required<Pick<NewRow<'webhook_queue'>, (typeof QUEUED_COLUMNS)[number]>>
export type EventOfQueue = Pick<Row<'events'>, 'id' | 'sequence' | 'resource_type' | 'resource_id'>

/** The row of an event that waits for its first attempt. */
export const newlyQueued = (
  subscription_id: string,
  event: EventOfQueue,
  now: number,
  commitment: DeliveryCommitment,
): NewlyQueued => ({
  subscription_id,
  event_id: event.id,
  sequence: event.sequence,
  resource: `${event.resource_type}:${event.resource_id}`,
  ...waitingState(now, commitment),
})

/** Queues each event again with its attempts restarted. */
export async function requeueEvents(
  tx: Tx,
  { id, commitment }: Pick<Row<'webhook_subscriptions'>, 'id' | 'commitment'>,
  events: readonly EventOfQueue[],
  now: number,
): Promise<void> {
  for (const event of events) {
    await tx
      .insertInto('webhook_queue')
      .values(newlyQueued(id, event, now, commitment))
      .onConflict((conflict) =>
        conflict.columns(['subscription_id', 'event_id']).doUpdateSet(waitingState(now, commitment)),
      )
      .execute()
  }
}
