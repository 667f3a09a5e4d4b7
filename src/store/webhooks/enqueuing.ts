/** Fills the delivery queue: with the new events of each subscription, and with replayed ones. */
import {
  type ExpressionBuilder,
  type Insertable,
  type InsertQueryBuilder,
  type InsertResult,
  type RawBuilder,
  sql,
} from 'kysely'
import { partsOf } from '../queries/parts.ts'
import { inserting } from '../queries/records.ts'
import type { Row, Tables } from '../schema.ts'
import type { Reader, Tx } from '../store.ts'
import { ReadEvent, TEST_EVENT, wants } from './filter-match.ts'
import { untriedOf } from './queue.ts'

/** While this many first attempts of a subscription are pending, no further events are queued for it. */
const MOST_UNTRIED = 500

const ALL_TYPES = '["*"]'

/** Pairs of a subscription `s` and an event `e`, each of which may become a delivery. */
const pairsOf = (tx: Tx, ids: readonly string[]) =>
  tx.selectFrom(['webhook_subscriptions as s', 'events as e']).where('s.id', 'in', ids)

/** Whether the type of an event is in a stored list of types: in its JSON each stands between quotes. */
const isWanted = (typesJson: RawBuilder<string>) =>
  sql<boolean>`case when e.type = ${sql.lit(TEST_EVENT)} then e.resource_id = s.id
    else ${typesJson} like '%"*"%' or ${typesJson} like '%"' || e.type || '"%' end`

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

interface Enqueuing {
  now: number
  /**
   * Sequence up to which pairs that are already queued start again. Later ones do so unless they are claimed. With null
   * all stay unchanged.
   */
  againUpTo: number | null
}

/** Queues each pair for its first attempt, in the order of events; returns their number. */
async function enqueue(tx: Tx, pairs: ReturnType<typeof pairsOf>, enqueuing: Enqueuing): Promise<number> {
  const rows = pairs
    .select([
      's.id as subscription_id',
      'e.id as event_id',
      'e.sequence',
      sql<string>`e.resource_type || ':' || e.resource_id`.as('resource'),
      // An event that must be final is checked once more before its first attempt.
      sql<'unfinal'>`case s.commitment when 'finalized' then 'unfinal' else 'waiting' end`.as('state'),
      sql.lit(0).as('attempts'),
      sql<number>`cast(${enqueuing.now} as bigint)`.as('next_attempt_at'),
      sql.lit(0).as('claimed_until'),
    ])
    .orderBy('e.sequence')
  return insertOnce(tx.insertInto('webhook_queue').columns(COLUMNS).expression(rows), enqueuing)
}

/** What is queued already stays, or starts again. Returns the number of rows that were written. */
async function insertOnce(
  insertion: InsertQueryBuilder<Tables, 'webhook_queue', InsertResult>,
  { now, againUpTo }: Enqueuing,
): Promise<number> {
  const { numInsertedOrUpdatedRows } = await insertion
    .onConflict((conflict) => {
      const same = conflict.columns(['subscription_id', 'event_id'])
      if (againUpTo === null) return same.doNothing()
      return same
        .doUpdateSet(({ ref }) => ({
          state: ref('excluded.state'),
          attempts: 0,
          next_attempt_at: now,
          claimed_until: 0,
        }))
        .where((is) =>
          is.or([is('webhook_queue.sequence', '<=', againUpTo), is('webhook_queue.claimed_until', '<=', now)]),
        )
    })
    .executeTakeFirstOrThrow()
  return Number(numInsertedOrUpdatedRows ?? 0n)
}

/** Queues events of any type again with their attempts restarted; returns their number. */
export const requeueEvents = (tx: Tx, id: string, eventIds: readonly string[], now: number): Promise<number> =>
  enqueue(tx, pairsOf(tx, [id]).where('e.id', 'in', eventIds), { now, againUpTo: Number.MAX_SAFE_INTEGER })

/** Most subscriptions that one call returns. */
export const MOST_BEHIND = 200

/**
 * Returns active subscriptions that have not checked every event up to `last` and whose receiver keeps up: the next
 * ones after the one numbered `after`.
 */
export const subscriptionsBehind = (
  reader: Reader,
  { last, after }: { last: number; after: number },
): Promise<Pick<Row<'webhook_subscriptions'>, 'seq' | 'id' | 'cursor'>[]> =>
  reader
    .selectFrom('webhook_subscriptions as s')
    .select(['s.seq', 's.id', 's.cursor'])
    .where('s.active', '=', 1)
    .where('s.seq', '>', after)
    .where('s.cursor', '<', last)
    .where((is) => is.not(isFull(is)))
    .orderBy('s.seq')
    .limit(MOST_BEHIND)
    .execute()

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
 * Moves the cursors of the subscriptions that are still at `after`, and queues for each its enabled events up to `to`
 * that its filter wants, each once. It leaves out subscriptions that another process has moved, or that were removed or
 * deactivated.
 */
export async function enqueueNew(
  tx: Tx,
  ids: readonly string[],
  { after, to, now }: { after: number; to: number; now: number },
): Promise<void> {
  const moved = await tx
    .updateTable('webhook_subscriptions')
    .set({ cursor: to })
    .where('id', 'in', ids)
    .where('cursor', '=', after)
    .where('active', '=', 1)
    .returning(['id', 'commitment', 'enabled_events_json', 'filter_json'])
    .execute()
  const [filtered, others] = [moved.filter(isFiltered), moved.filter((each) => !isFiltered(each))]
  const enqueuing = { now, againUpTo: null }
  if (others.length > 0) {
    const ofOthers = others.map(({ id }) => id)
    const pairs = pairsOf(tx, ofOthers)
      .where('e.sequence', '>', after)
      .where('e.sequence', '<=', to)
      .where(isWanted(sql.ref('s.enabled_events_json')))
    await enqueue(tx, pairs, enqueuing)
  }
  if (filtered.length > 0) await enqueueMatching(tx, filtered, { after, to }, enqueuing)
}

const isFiltered = ({ filter_json }: Pick<Row<'webhook_subscriptions'>, 'filter_json'>) => filter_json !== null

type Filtered = Pick<Row<'webhook_subscriptions'>, 'id' | 'commitment' | 'enabled_events_json' | 'filter_json'>

/** Events that are read at a time to be compared with filters; each may have half a megabyte. */
const READ_AT_ONCE = 50

/** Queues for each subscription the events after `after` and up to `to` that its filter wants. */
async function enqueueMatching(
  tx: Tx,
  subscriptions: readonly Filtered[],
  { after, to }: { after: number; to: number },
  enqueuing: Enqueuing,
): Promise<void> {
  for (let from = after; from < to; from += READ_AT_ONCE) {
    const events = tx.selectFrom('events').selectAll().where('sequence', '>', from)
    const some = events.where('sequence', '<=', Math.min(to, from + READ_AT_ONCE)).orderBy('sequence')
    const rows: Insertable<Tables['webhook_queue']>[] = []
    for (const row of await some.execute()) {
      const event = new ReadEvent(row)
      for (const subscription of subscriptions)
        if (wants(subscription, event)) rows.push(firstAttempt(subscription, row, enqueuing.now))
    }
    for (const part of partsOf(rows)) await insertOnce(tx.insertInto('webhook_queue').values(part), enqueuing)
  }
}

const firstAttempt = (
  { id, commitment }: Filtered,
  event: Row<'events'>,
  now: number,
): Insertable<Tables['webhook_queue']> => ({
  subscription_id: id,
  event_id: event.id,
  sequence: event.sequence,
  resource: `${event.resource_type}:${event.resource_id}`,
  state: commitment === 'finalized' ? 'unfinal' : 'waiting',
  attempts: 0,
  next_attempt_at: now,
  claimed_until: 0,
})

type Replay = Row<'webhook_replays'>

export const insertReplay = inserting('webhook_replays')

/** Counts the open replays of a subscription, up to `limit`. */
export async function countReplays(reader: Reader, subscriptionId: string, limit: number): Promise<number> {
  const open = reader.selectFrom('webhook_replays').select('seq').where('subscription_id', '=', subscriptionId)
  return (await open.limit(limit).execute()).length
}

/** Events that one step of a replay examines, with a filter that reads them, and the most that it queues. */
const EXAMINED_PER_STEP = 2_000
const READ_PER_STEP = 500
const QUEUED_PER_STEP = 1_000

/**
 * Queues the next events of a replay, at most up to the sequence `until`. Events up to the subscription's cursor at the
 * request are queued again. Later ones are queued once, by the replay or by the fan-out. Returns their number, and the
 * sequence that was reached.
 */
export async function enqueueReplayed(
  tx: Tx,
  replay: Pick<Replay, 'subscription_id' | 'since' | 'types_json' | 'filter_json' | 'come_to' | 'through' | 'last'>,
  { now, until = replay.last }: { now: number; until?: number },
): Promise<{ queued: number; through: number }> {
  const { subscription_id: id, since, types_json, filter_json, come_to, through, last } = replay
  const isPast = through < come_to
  const examined = filter_json === null ? EXAMINED_PER_STEP : READ_PER_STEP
  const most = Math.min(through + examined, until, isPast ? come_to : last)
  const types = types_json ?? ALL_TYPES
  const events = pairsOf(tx, [id])
    .where('e.sequence', '>', through)
    .where('e.sequence', '<=', most)
    .where('e.created_at', '>=', since)
    .where(isWanted(sql`${types}`))
  const unattempted = events.where(({ not, exists, selectFrom }) => {
    const attempts = selectFrom('webhook_deliveries as d').select('d.seq').whereRef('d.event_id', '=', 'e.id')
    return not(exists(attempts.whereRef('d.subscription_id', '=', 's.id')))
  })
  const ofTypes = isPast ? events : unattempted
  const wanted =
    filter_json === null ? ofTypes : await matchingOf(ofTypes, { id, enabled_events_json: types, filter_json })
  const inOrder = wanted.select('e.sequence').orderBy('e.sequence')
  const lastOfMany = await inOrder
    .limit(1)
    .offset(QUEUED_PER_STEP - 1)
    .executeTakeFirst()
  const to = lastOfMany?.sequence ?? most
  const queued = await enqueue(tx, wanted.where('e.sequence', '<=', to), { now, againUpTo: come_to })
  return { queued, through: to }
}

/** The pairs of one subscription whose event its filter wants. */
async function matchingOf(
  pairs: ReturnType<typeof pairsOf>,
  subscription: Omit<Filtered, 'commitment'>,
): Promise<ReturnType<typeof pairsOf>> {
  const matching: number[] = []
  for (let after = 0, isMore = true; isMore; ) {
    const next = pairs.selectAll('e').where('e.sequence', '>', after).orderBy('e.sequence').limit(READ_AT_ONCE)
    const events = await next.execute()
    for (const event of events) if (wants(subscription, new ReadEvent(event))) matching.push(event.sequence)
    after = events.at(-1)?.sequence ?? after
    isMore = events.length === READ_AT_ONCE
  }
  // An empty list is not valid SQL on both databases; no event has the sequence 0.
  return pairs.where('e.sequence', 'in', [0, ...matching])
}

/** Returns the next replay after the one numbered `after` that its subscription and its receiver are ready for. */
export const nextReplay = (reader: Reader, after: number): Promise<Replay | undefined> =>
  reader
    .selectFrom('webhook_replays as r')
    .selectAll()
    .where('r.seq', '>', after)
    .where(({ exists, selectFrom, not }) =>
      exists(
        selectFrom('webhook_subscriptions as s')
          .select('s.seq')
          .whereRef('s.id', '=', 'r.subscription_id')
          .where('s.active', '=', 1)
          .whereRef('s.cursor', '>', 'r.through')
          .where((is) => not(isFull(is))),
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
