/** Delivery queue: which event is sent to which subscription and when, who has claimed it, and how that ended. */

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
/** Most events of one subscription that a query returns. */
export const MOST_DUE = 32
/** While many older events are queued, one place in four is for the newest events. */
const NEWEST_PART = 4

/** Names of the values of a query for deliverable events. */
interface Look extends Moment {
  id: string
  cursor: number
}

interface Moment {
  now: number
  /** Later claims and attempts were written with a clock that was ahead. */
  strayClaim: number
  strayAttempt: number
}

const momentAt = (now: number): Moment => ({
  now,
  strayClaim: now + LONGEST_CLAIM_MS + CLOCK_SLACK_MS,
  strayAttempt: now + LONGEST_RETRY_MS + CLOCK_SLACK_MS,
})

type OfQueue = ExpressionBuilder<Tables & { q: Tables['webhook_queue'] }, 'q'>
type OfSubscription = ExpressionBuilder<Tables & { s: Tables['webhook_subscriptions'] }, 's'>

const isUnclaimed =
  ({ now, strayClaim }: Placeholders<Pick<Moment, 'now' | 'strayClaim'>>) =>
  (is: OfQueue) =>
    is.or([is('q.claimed_until', '<=', now), is('q.claimed_until', '>', strayClaim)])

/**
 * Returns deliverable events of one subscription in order: due retries, and first attempts without an untried earlier
 * event of the same resource. Some places are reserved for the newest. Replayed events beyond the cursor wait, because
 * earlier ones may not be queued yet.
 */
export async function sendable(
  reader: Reader,
  { id, cursor }: Pick<DueSubscription, 'id' | 'cursor'>,
  now: number,
  limit: number,
): Promise<Queued[]> {
  const newest = placesOfNewest(limit, now)
  const rows = await findDue.all(reader, { id, cursor, ...momentAt(now) })
  // The newest may be among the oldest.
  const due = [...new Map(rows.map((row) => [row.seq, row])).values()].sort((a, b) => a.sequence - b.sequence)
  return due.length <= limit ? due : [...due.slice(0, limit - newest), ...due.slice(due.length - newest)]
}

/**
 * Places that a replay with many old events leaves to new ones. If there are fewer than four places, new events get one
 * place every fourth millisecond.
 */
function placesOfNewest(limit: number, now: number): number {
  if (limit >= NEWEST_PART) return Math.floor(limit / NEWEST_PART)
  return now % NEWEST_PART === 0 ? 1 : 0
}

/** Each part has its own index and limit, so that a million queued retries are not scanned. */
const findDue = prepared((db, look: Placeholders<Look>) => {
  const limit = sql.lit(MOST_DUE)
  const waiting = db
    .selectFrom('webhook_queue as q')
    .select(QUEUED.map((column) => `q.${column}` as const))
    .where('q.subscription_id', '=', look.id)
    .where('q.state', '=', WAITING)
    .where('q.sequence', '<=', look.cursor)
    .where(isUnclaimed(look))
  const retries = waiting.where('q.attempts', '>', UNTRIED).orderBy('q.next_attempt_at').limit(limit)
  const firsts = waiting
    .where('q.attempts', '=', UNTRIED)
    .where((is) => is.or([is('q.next_attempt_at', '<=', look.now), is('q.next_attempt_at', '>', look.strayAttempt)]))
    .where(isFirstOfItsResource)
  const newest = sql.lit(Math.ceil(MOST_DUE / NEWEST_PART))
  const rowsOf = (part: typeof waiting) => db.selectFrom(part.as('part')).selectAll()
  return rowsOf(retries.where('q.next_attempt_at', '<=', look.now))
    .unionAll(rowsOf(retries.where('q.next_attempt_at', '>', look.strayAttempt)))
    .unionAll(rowsOf(firsts.orderBy('q.sequence').limit(limit)))
    .unionAll(rowsOf(firsts.orderBy('q.sequence', 'desc').limit(newest)))
})

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

/** Events waiting for their first attempt of a subscription `s`, as rows `q`. */
export const untriedOf = (is: OfSubscription) =>
  is
    .selectFrom('webhook_queue as q')
    .whereRef('q.subscription_id', '=', 's.id')
    .where('q.state', '=', WAITING)
    .where('q.attempts', '=', UNTRIED)

/** The fields of a subscription that a query of the queue needs. */
export type DueSubscription = Pick<Row<'webhook_subscriptions'>, 'id' | 'seq' | 'url' | 'cursor' | 'api_key_id'>

/**
 * Returns the active subscriptions, oldest first, that have an unclaimed event that may be due. The others need no
 * query.
 */
export const subscriptionsWithDue = async (reader: Reader, now: number): Promise<DueSubscription[]> =>
  findWithDue.all(reader, momentAt(now))

const findWithDue = prepared((db, moment: Placeholders<Moment>) =>
  db
    .selectFrom('webhook_subscriptions as s')
    .select(['s.id', 's.seq', 's.url', 's.cursor', 's.api_key_id'])
    .where('s.active', '=', 1)
    .where((is) => {
      const retries = is
        .selectFrom('webhook_queue as q')
        .select('q.seq')
        .whereRef('q.subscription_id', '=', 's.id')
        .where('q.state', '=', WAITING)
        .where('q.attempts', '>', UNTRIED)
        .where(isUnclaimed(moment))
      return is.or([
        is.exists(untriedOf(is).select('q.seq').where(isUnclaimed(moment))),
        is.exists(retries.where('q.next_attempt_at', '<=', moment.now)),
        is.exists(retries.where('q.next_attempt_at', '>', moment.strayAttempt)),
      ])
    })
    .orderBy('s.seq'),
)

/**
 * Claims queued events for one process; returns those that no other process has claimed and whose subscription still
 * exists.
 */
export async function claimQueued(
  tx: Tx,
  seqs: readonly number[],
  { now, until }: { now: number; until: number },
): Promise<Set<number>> {
  const claimed = await claimRows(tx, seqs, { now, until, strayClaim: momentAt(now).strayClaim })
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

/** A queued event that this process has claimed. */
export type Claim = Pick<Queued, 'seq' | 'claimed_until'>

/** Takes claimed events out of the queue; returns the numbers of those that this process still had claimed. */
export async function deleteQueued(tx: Tx, claims: readonly Claim[]): Promise<Set<number>> {
  const deleted = new Set<number>()
  // Events claimed together have the same time, so many events need few statements.
  for (const until of new Set(claims.map(({ claimed_until }) => claimed_until))) {
    const seqs = claims.filter(({ claimed_until }) => claimed_until === until).map(({ seq }) => seq)
    for (const { seq } of await deleteClaimed(tx, seqs, { until })) deleted.add(seq)
  }
  return deleted
}

const deleteClaimed = preparedForList(
  (db, seqs: readonly RawBuilder<number>[], { until }: Placeholders<{ until: number }>) =>
    db.deleteFrom('webhook_queue').where('seq', 'in', seqs).where('claimed_until', '=', until).returning('seq'),
)

/** Gives a claimed event back, changed by its attempt or as it was. Returns false if this process no longer has it claimed. */
export async function giveBack(
  tx: Tx,
  { seq, claimed_until }: Claim,
  changes: Partial<Pick<Row<'webhook_queue'>, 'state' | 'attempts' | 'next_attempt_at'>> = {},
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('webhook_queue')
    .set({ ...changes, claimed_until: 0 })
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
