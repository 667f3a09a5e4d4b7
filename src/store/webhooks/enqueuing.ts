/** Fills the delivery queue: with the new events of each subscription, and with replayed ones. */
import { type ExpressionBuilder, type RawBuilder, sql } from 'kysely'
import { inserting } from '../queries/records.ts'
import type { Row, Tables } from '../schema.ts'
import type { Reader, Tx } from '../store.ts'
import { untriedOf } from './queue.ts'

/** While this many first attempts of a subscription are pending, no further events are queued for it. */
const MOST_UNTRIED = 500

/** A test event is delivered only to the subscription that it is about, regardless of its enabled types. */
const TEST = 'webhook.test_event'
const ALL_TYPES = '["*"]'

/** Pairs of a subscription `s` and an event `e`, each of which may become a delivery. */
const pairsOf = (tx: Tx, ids: readonly string[]) =>
  tx.selectFrom(['webhook_subscriptions as s', 'events as e']).where('s.id', 'in', ids)

/** Whether the type of an event is in a stored list of types: in its JSON each stands between quotes. */
const isWanted = (typesJson: RawBuilder<string>) =>
  sql<boolean>`case when e.type = ${sql.lit(TEST)} then e.resource_id = s.id
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
async function enqueue(tx: Tx, pairs: ReturnType<typeof pairsOf>, { now, againUpTo }: Enqueuing): Promise<number> {
  const rows = pairs
    .select([
      's.id as subscription_id',
      'e.id as event_id',
      'e.sequence',
      sql<string>`e.resource_type || ':' || e.resource_id`.as('resource'),
      // An event that must be final is checked once more before its first attempt.
      sql<'unfinal'>`case s.commitment when 'finalized' then 'unfinal' else 'waiting' end`.as('state'),
      sql.lit(0).as('attempts'),
      sql<number>`cast(${now} as bigint)`.as('next_attempt_at'),
      sql.lit(0).as('claimed_until'),
    ])
    .orderBy('e.sequence')
  const insertion = tx.insertInto('webhook_queue').columns(COLUMNS).expression(rows)
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
 * Moves the cursors of the subscriptions that are still at `after`, and queues for each its enabled events up to `to`,
 * each once. It leaves out subscriptions that another process has moved, or that were removed or deactivated.
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
    .returning('id')
    .execute()
  if (moved.length === 0) return
  const movedIds = moved.map(({ id }) => id)
  const pairs = pairsOf(tx, movedIds)
    .where('e.sequence', '>', after)
    .where('e.sequence', '<=', to)
    .where(isWanted(sql.ref('s.enabled_events_json')))
  await enqueue(tx, pairs, { now, againUpTo: null })
}

type Replay = Row<'webhook_replays'>

export const insertReplay = inserting('webhook_replays')

/** Counts the open replays of a subscription, up to `limit`. */
export async function countReplays(reader: Reader, subscriptionId: string, limit: number): Promise<number> {
  const open = reader.selectFrom('webhook_replays').select('seq').where('subscription_id', '=', subscriptionId)
  return (await open.limit(limit).execute()).length
}

/** Events that one step of a replay examines, and the most that it queues. */
const EXAMINED_PER_STEP = 2_000
const QUEUED_PER_STEP = 1_000

/**
 * Queues the next events of a replay, at most up to the sequence `until`. Events up to the subscription's cursor at the
 * request are queued again. Later ones are queued once, by the replay or by the fan-out. Returns their number, and the
 * sequence that was reached.
 */
export async function enqueueReplayed(
  tx: Tx,
  replay: Pick<Replay, 'subscription_id' | 'since' | 'types_json' | 'come_to' | 'through' | 'last'>,
  { now, until = replay.last }: { now: number; until?: number },
): Promise<{ queued: number; through: number }> {
  const { subscription_id: id, since, types_json, come_to, through, last } = replay
  const isPast = through < come_to
  const most = Math.min(through + EXAMINED_PER_STEP, until, isPast ? come_to : last)
  const events = pairsOf(tx, [id])
    .where('e.sequence', '>', through)
    .where('e.sequence', '<=', most)
    .where('e.created_at', '>=', since)
    .where(isWanted(sql`${types_json ?? ALL_TYPES}`))
  const unattempted = events.where(({ not, exists, selectFrom }) => {
    const attempts = selectFrom('webhook_deliveries as d').select('d.seq').whereRef('d.event_id', '=', 'e.id')
    return not(exists(attempts.whereRef('d.subscription_id', '=', 's.id')))
  })
  const wanted = isPast ? events : unattempted
  const inOrder = wanted.select('e.sequence').orderBy('e.sequence')
  const lastOfMany = await inOrder
    .limit(1)
    .offset(QUEUED_PER_STEP - 1)
    .executeTakeFirst()
  const to = lastOfMany?.sequence ?? most
  const queued = await enqueue(tx, wanted.where('e.sequence', '<=', to), { now, againUpTo: come_to })
  return { queued, through: to }
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
