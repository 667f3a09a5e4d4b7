/** Delivery queue: which event is sent to which subscription and when, who has claimed it, and how that ended. */
import { type ExpressionBuilder, type RawBuilder, sql } from 'kysely'
import { DAY_MS } from '../../platform/timing.ts'
import { partsOf } from '../queries/parts.ts'
import { type Placeholders, prepared } from '../queries/prepared.ts'
import type { Row, Tables } from '../schema.ts'
import type { Reader, Tx } from '../store.ts'
import { CLOCK_SLACK_MS } from '../writing/future-moments.ts'

/** The fields of a queued event that a delivery needs. */
const QUEUED = ['seq', 'subscription_id', 'event_id', 'sequence', 'attempts', 'claimed_until'] as const
export type Queued = Pick<Row<'webhook_queue'>, (typeof QUEUED)[number]>

/** SQLite uses a partial index only for a literal, so these values are not bound. */
export const WAITING = sql.lit('waiting' as const)
export const UNTRIED = sql.lit(0)

/** The longest wait between two attempts. */
export const LONGEST_RETRY_MS = DAY_MS
/** Longer than an attempt and the write of its result, so an older claim belongs to a process that died. */
export const LONGEST_CLAIM_MS = 20_000
/** Most deliveries to one origin at a time; a query of due ones returns no more. */
export const DELIVERIES_PER_ORIGIN = 32
/** While many older events are queued, one place in four is for the newest events. */
const NEWEST_PART = 4

type OfQueue = ExpressionBuilder<Tables & { q: Tables['webhook_queue'] }, 'q'>
type OfSubscription = ExpressionBuilder<Tables & { s: Tables['webhook_subscriptions'] }, 's'>

/** After this, a time up to `longestMs` ahead was written with a clock that was ahead. */
const strayAfter = (now: RawBuilder<number>, longestMs: number) =>
  sql<number>`cast(${now} as bigint) + ${sql.lit(longestMs + CLOCK_SLACK_MS)}`

/** Whether the time in a column has come, or is a stray one. */
const hasCome = (column: string, now: RawBuilder<number>, longestMs: number) =>
  sql<boolean>`(${sql.ref(column)} <= ${now} or ${sql.ref(column)} > ${strayAfter(now, longestMs)})`

const isUnclaimed = (now: RawBuilder<number>, column = 'q.claimed_until') => hasCome(column, now, LONGEST_CLAIM_MS)

/**
 * Returns deliverable events of one subscription in order: due retries, and first attempts without an untried earlier
 * event of the same resource. Some places are reserved for the newest. Replayed events beyond the cursor wait, because
 * earlier ones may not be queued yet.
 */
export async function sendable(
  reader: Reader,
  { id, cursor }: Pick<Row<'webhook_subscriptions'>, 'id' | 'cursor'>,
  now: number,
  limit: number,
): Promise<Queued[]> {
  const newest = placesOfNewest(limit, now)
  const rows = await findDue.all(reader, { id, cursor, now })
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
const findDue = prepared((db, { id, cursor, now }: Placeholders<{ id: string; cursor: number; now: number }>) => {
  const limit = sql.lit(DELIVERIES_PER_ORIGIN)
  const waiting = db
    .selectFrom('webhook_queue as q')
    .select(QUEUED.map((column) => `q.${column}` as const))
    .where('q.subscription_id', '=', id)
    .where('q.state', '=', WAITING)
    .where('q.sequence', '<=', cursor)
    .where(isUnclaimed(now))
  const retries = waiting.where('q.attempts', '>', UNTRIED).orderBy('q.next_attempt_at').limit(limit)
  const firsts = waiting
    .where('q.attempts', '=', UNTRIED)
    .where(hasCome('q.next_attempt_at', now, LONGEST_RETRY_MS))
    .where(isFirstOfItsResource)
  const newest = sql.lit(Math.ceil(DELIVERIES_PER_ORIGIN / NEWEST_PART))
  const rowsOf = (part: typeof waiting) => db.selectFrom(part.as('part')).selectAll()
  return rowsOf(retries.where('q.next_attempt_at', '<=', now))
    .unionAll(rowsOf(retries.where('q.next_attempt_at', '>', strayAfter(now, LONGEST_RETRY_MS))))
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

/**
 * Returns the active subscriptions, oldest first, that have an unclaimed event that may be due. The others need no
 * query.
 */
export const subscriptionsWithDue = (reader: Reader, now: number): Promise<Row<'webhook_subscriptions'>[]> =>
  findWithDue.all(reader, { now })

const findWithDue = prepared((db, { now }: Placeholders<{ now: number }>) =>
  db
    .selectFrom('webhook_subscriptions as s')
    .selectAll()
    .where('s.active', '=', 1)
    .where((is) => {
      const retries = is
        .selectFrom('webhook_queue as q')
        .select('q.seq')
        .whereRef('q.subscription_id', '=', 's.id')
        .where('q.state', '=', WAITING)
        .where('q.attempts', '>', UNTRIED)
        .where(isUnclaimed(now))
      return is.or([
        is.exists(untriedOf(is).select('q.seq').where(isUnclaimed(now))),
        is.exists(retries.where('q.next_attempt_at', '<=', now)),
        is.exists(retries.where('q.next_attempt_at', '>', strayAfter(now, LONGEST_RETRY_MS))),
      ])
    })
    .orderBy('s.seq'),
)

/**
 * Claims queued events for one process; returns those that no other process has claimed and whose subscription is
 * still active.
 */
export async function claimQueued(
  tx: Tx,
  seqs: readonly number[],
  { now, until }: { now: number; until: number },
): Promise<Set<number>> {
  const claimed = new Set<number>()
  for (const part of partsOf(seqs)) {
    const rows = await tx
      .updateTable('webhook_queue')
      .set({ claimed_until: until })
      .where('seq', 'in', part)
      .where('state', '=', 'waiting')
      .where(isUnclaimed(sql`${now}`, 'claimed_until'))
      .where((is) =>
        is.exists(
          is
            .selectFrom('webhook_subscriptions')
            .select('webhook_subscriptions.seq')
            .whereRef('webhook_subscriptions.id', '=', 'webhook_queue.subscription_id')
            .where('webhook_subscriptions.active', '=', 1),
        ),
      )
      .returning('seq')
      .execute()
    for (const { seq } of rows) claimed.add(seq)
  }
  return claimed
}

/** A queued event that this process has claimed. */
export type Claim = Pick<Queued, 'seq' | 'claimed_until'>

/** Takes claimed events out of the queue; returns the numbers of those that this process still had claimed. */
export async function deleteQueued(tx: Tx, claims: readonly Claim[]): Promise<Set<number>> {
  const deleted = new Set<number>()
  // Events claimed together have the same time, so many events need few statements.
  for (const until of new Set(claims.map(({ claimed_until }) => claimed_until))) {
    const seqs = claims.filter(({ claimed_until }) => claimed_until === until).map(({ seq }) => seq)
    for (const part of partsOf(seqs)) {
      const claimed = tx.deleteFrom('webhook_queue').where('seq', 'in', part).where('claimed_until', '=', until)
      for (const { seq } of await claimed.returning('seq').execute()) deleted.add(seq)
    }
  }
  return deleted
}

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
