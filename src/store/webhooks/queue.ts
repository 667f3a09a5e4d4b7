/** Delivery queue: which event is sent to which subscription, and when. */

import { type ExpressionBuilder, type RawBuilder, sql } from 'kysely'
import { DAY_MS } from '../../platform/timing.ts'
import { type Placeholders, prepared } from '../queries/prepared.ts'
import { preparedForList } from '../queries/prepared-lists.ts'
import type { Row, Tables } from '../schema.ts'
import type { Reader, Tx } from '../store.ts'
import { CLOCK_SLACK_MS } from '../writing/future-moments.ts'

/** The fields of a queued event that a delivery needs. */
const QUEUED = ['seq', 'subscription_id', 'event_id', 'sequence', 'attempts', 'claimed_until'] as const
export type Queued = Pick<Row<'webhook_queue'>, (typeof QUEUED)[number]>

/** SQLite uses a partial index only for a literal, so these values are not bound. */
export const WAITING = sql.lit('waiting' as const)
export const UNTRIED = sql.lit(0)

/**
 * The longest wait between two attempts. Together with the longest claim it limits stored times; later ones count as
 * due.
 */
export const LONGEST_RETRY_MS = DAY_MS
/** Longer than an attempt and the write of its result, so an older claim belongs to a process that died. */
export const LONGEST_CLAIM_MS = 20_000
/** While many older events are queued, one place in four is for the newest events. */
const NEWEST_PART = 4

/** Names of the values of a query for deliverable events. */
interface Look {
  id: string
  cursor: number
  now: number
  /** Later claims and attempts were written with a clock that was ahead. */
  strayClaim: number
  strayAttempt: number
  limit: number
}

const COLUMNS = QUEUED.map((column) => `q.${column}` as const)

const waitingRows = (db: Reader, { id, cursor, now, strayClaim, limit }: Placeholders<Look>) =>
  db
    .selectFrom('webhook_queue as q')
    .select(COLUMNS)
    .where('q.subscription_id', '=', id)
    .where('q.state', '=', WAITING)
    .where(isUnclaimed({ now, strayClaim }))
    .where('q.sequence', '<=', cursor)
    .limit(limit)

type OfQueue = ExpressionBuilder<Tables & { q: Tables['webhook_queue'] }, 'q'>

const isUnclaimed =
  ({ now, strayClaim }: Placeholders<Pick<Look, 'now' | 'strayClaim'>>) =>
  (is: OfQueue) =>
    is.or([is('q.claimed_until', '<=', now), is('q.claimed_until', '>', strayClaim)])

const isDue =
  ({ now, strayAttempt }: Placeholders<Pick<Look, 'now' | 'strayAttempt'>>) =>
  (is: OfQueue) =>
    is.or([is('q.next_attempt_at', '<=', now), is('q.next_attempt_at', '>', strayAttempt)])

const isFirstOfItsResource = (is: OfQueue) =>
  is.not(
    is.exists(
      is
        .selectFrom('webhook_queue as earlier')
        .select('earlier.seq')
        .whereRef('earlier.subscription_id', '=', 'q.subscription_id')
        .whereRef('earlier.resource', '=', 'q.resource')
        .whereRef('earlier.sequence', '<', 'q.sequence')
        .where('earlier.state', '=', WAITING)
        .where('earlier.attempts', '=', UNTRIED),
    ),
  )

// Each query has its own index, so a million queued retries are not scanned.
const retryRows = (db: Reader, look: Placeholders<Look>) =>
  waitingRows(db, look).where('q.attempts', '>', UNTRIED).orderBy('q.next_attempt_at')

const firstRows = (db: Reader, look: Placeholders<Look>) =>
  waitingRows(db, look).where('q.attempts', '=', UNTRIED).where(isDue(look)).where(isFirstOfItsResource)

const dueRetries = prepared((db, look: Placeholders<Look>) =>
  retryRows(db, look).where('q.next_attempt_at', '<=', look.now),
)
// Retries are never planned so far ahead; such a time came from a clock that was ahead.
const strayRetries = prepared((db, look: Placeholders<Look>) =>
  retryRows(db, look).where('q.next_attempt_at', '>', look.strayAttempt),
)
const oldestFirsts = prepared((db, look: Placeholders<Look>) => firstRows(db, look).orderBy('q.sequence'))
const newestFirsts = prepared((db, look: Placeholders<Look>) => firstRows(db, look).orderBy('q.sequence', 'desc'))

/**
 * Returns deliverable events of one subscription in order: due retries, and first attempts without an untried earlier
 * event of the same resource. Some places are reserved for the newest. Replayed events beyond the cursor wait, because
 * earlier ones may not be queued yet.
 */
export async function sendable(
  reader: Reader,
  { id, cursor, has_retries }: Pick<DueSubscription, 'id' | 'cursor' | 'has_retries'>,
  now: number,
  limit: number,
): Promise<Queued[]> {
  const look = { id, cursor, now, ...strayFrom(now), limit }
  // PostgreSQL answers the queries at the same time.
  const [oldest, due, stray] = await Promise.all([
    oldestFirsts.all(reader, look),
    has_retries === 1 ? dueRetries.all(reader, look) : [],
    has_retries === 1 ? strayRetries.all(reader, look) : [],
  ])
  const line = has_retries === 1 ? [...due, ...stray, ...oldest].sort(bySequence) : oldest
  if (oldest.length < limit) return line.slice(0, limit)
  const places = placesOfNewest(limit, now)
  const newest = places === 0 ? [] : await newestFirsts.all(reader, { ...look, limit: places })
  const chosen = new Set(newest.map(({ seq }) => seq))
  const others = line.filter(({ seq }) => !chosen.has(seq)).slice(0, limit - newest.length)
  return [...others, ...newest].sort(bySequence)
}

/**
 * Places that a replay with many old events leaves to new ones. If there are fewer than four places, new events get one
 * place every fourth millisecond.
 */
function placesOfNewest(limit: number, now: number): number {
  if (limit >= NEWEST_PART) return Math.floor(limit / NEWEST_PART)
  return now % NEWEST_PART === 0 ? 1 : 0
}

/**
 * Returns the deliverable event of each subscription that has one or none; those with more are left out. None may have
 * a due retry. With many subscriptions most have few events, and a query for each costs several times as much.
 */
export async function sendableAlone(
  reader: Reader,
  ids: readonly string[],
  now: number,
): Promise<ReadonlyMap<string, readonly Queued[]>> {
  const found = new Map<string, Queued[]>()
  const firsts: number[] = []
  for (const { id, first, second } of await findFirstTwo(reader, ids, { now, ...strayFrom(now) })) {
    if (second !== null) continue
    found.set(id, [])
    if (first !== null) firsts.push(first)
  }
  // Another process may have started a delivery meanwhile.
  for (const row of await findQueued(reader, firsts, {})) found.get(row.subscription_id)?.push(row)
  return found
}

const findFirstTwo = preparedForList((db, ids: readonly RawBuilder<string>[], moment: Placeholders<Moment>) =>
  db
    .selectFrom('webhook_subscriptions as s')
    .select((is) => [
      's.id',
      nthFirst(is, moment, sql.lit(0)).as('first'),
      nthFirst(is, moment, sql.lit(1)).as('second'),
    ])
    .where('s.id', 'in', ids),
)

/** Events waiting for their first attempt of a subscription `s`, as rows `q`. */
export const untriedOf = (is: OfSubscription) =>
  is
    .selectFrom('webhook_queue as q')
    .whereRef('q.subscription_id', '=', 's.id')
    .where('q.state', '=', WAITING)
    .where('q.attempts', '=', UNTRIED)

const nthFirst = (is: OfSubscription, moment: Placeholders<Moment>, before: RawBuilder<number>) =>
  untriedOf(is)
    .select('q.seq')
    .whereRef('q.sequence', '<=', 's.cursor')
    .where(isUnclaimed(moment))
    .where(isDue(moment))
    .where(isFirstOfItsResource)
    .orderBy('q.sequence')
    .limit(sql.lit(1))
    .offset(before)

const findQueued = preparedForList((db, seqs: readonly RawBuilder<number>[]) =>
  db.selectFrom('webhook_queue as q').select(COLUMNS).where('q.seq', 'in', seqs),
)

const bySequence = (one: Queued, other: Queued) => one.sequence - other.sequence

const strayFrom = (now: number) => ({
  strayClaim: now + LONGEST_CLAIM_MS + CLOCK_SLACK_MS,
  strayAttempt: now + LONGEST_RETRY_MS + CLOCK_SLACK_MS,
})

/** The fields of a subscription that a query of the queue needs. */
export interface DueSubscription
  extends Pick<Row<'webhook_subscriptions'>, 'id' | 'seq' | 'url' | 'cursor' | 'api_key_id'> {
  /** 1 if a retry is due. */
  has_retries: number
}

/**
 * Returns the active subscriptions, oldest first, that have an unclaimed event that may be due. The others need no
 * query.
 */
export const subscriptionsWithDue = async (reader: Reader, now: number): Promise<DueSubscription[]> =>
  findWithDue.all(reader, { now, ...strayFrom(now) })

type Moment = Pick<Look, 'now' | 'strayClaim' | 'strayAttempt'>

const findWithDue = prepared((db, moment: Placeholders<Moment>) =>
  db
    .selectFrom('webhook_subscriptions as s')
    .select(['s.id', 's.seq', 's.url', 's.cursor', 's.api_key_id'])
    .select((is) =>
      is.case().when(retriesOf(is, moment)).then(sql<number>`1`).else(sql<number>`0`).end().as('has_retries'),
    )
    .where('s.active', '=', 1)
    .where((is) => is.or([is.exists(unclaimedOf(is, moment).where('q.attempts', '=', UNTRIED)), retriesOf(is, moment)]))
    .orderBy('s.seq'),
)

export type OfSubscription = ExpressionBuilder<Tables & { s: Tables['webhook_subscriptions'] }, 's'>

const unclaimedOf = (is: OfSubscription, moment: Placeholders<Moment>) =>
  is
    .selectFrom('webhook_queue as q')
    .select('q.seq')
    .whereRef('q.subscription_id', '=', 's.id')
    .where('q.state', '=', WAITING)
    .where(isUnclaimed(moment))

function retriesOf(is: OfSubscription, moment: Placeholders<Moment>) {
  const retries = unclaimedOf(is, moment).where('q.attempts', '>', UNTRIED)
  return is.or([
    is.exists(retries.where('q.next_attempt_at', '<=', moment.now)),
    is.exists(retries.where('q.next_attempt_at', '>', moment.strayAttempt)),
  ])
}

/**
 * Claims queued events for one process; returns those that no other process has claimed and whose subscription still
 * exists.
 */
export async function claimQueued(
  tx: Tx,
  seqs: readonly number[],
  { now, until }: { now: number; until: number },
): Promise<Set<number>> {
  const claimed = await claimRows(tx, seqs, { now, until, strayClaim: strayFrom(now).strayClaim })
  return new Set(claimed.map(({ seq }) => seq))
}

const claimRows = preparedForList(
  (db, seqs: readonly RawBuilder<number>[], { now, until, strayClaim }: Placeholders<Record<ClaimTime, number>>) =>
    db
      .updateTable('webhook_queue')
      .set({ claimed_until: until })
      .where('seq', 'in', seqs)
      .where('state', '=', 'waiting')
      .where((is) => is.or([is('claimed_until', '<=', now), is('claimed_until', '>', strayClaim)]))
      .where((is) =>
        is.exists(
          is
            .selectFrom('webhook_subscriptions')
            .select('webhook_subscriptions.seq')
            .whereRef('webhook_subscriptions.id', '=', 'webhook_queue.subscription_id'),
        ),
      )
      .returning('seq'),
)
type ClaimTime = 'now' | 'until' | 'strayClaim'
