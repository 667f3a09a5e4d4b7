/** Events: a gapless sequence, each written in the transaction of the change it reports. */
import { type ListOrder, type PageRequest, pageOf, type StoredPage, weightOf } from './paging.ts'
import type { NewRow, Row } from './schema.ts'
import type { Reader, Tx } from './store.ts'

export type NewEvent = Omit<NewRow<'events'>, 'sequence' | 'latest_at'>

export interface EventFilters {
  type?: string | undefined
  resource_type?: string | undefined
  resource_id?: string | undefined
  /** Unix milliseconds, exclusive. */
  created_after?: number | undefined
}

/**
 * Appends an event with the next number, or answers null where its `dedupe_key` is known (no number is used up then).
 * The counter's row is locked until the commit, so that numbers become visible in order and a rollback leaves no gap.
 */
export async function appendEvent(tx: Tx, event: NewEvent): Promise<Row<'events'> | null> {
  if (await isAppended(tx, event.dedupe_key)) return null
  const { value } = await moveCounter(tx, 1)
  const latest_at = Math.max(await latestMoment(tx), event.created_at)
  const appended = await tx
    .insertInto('events')
    .values({ ...event, sequence: value, latest_at })
    .onConflict((conflict) => conflict.column('dedupe_key').doNothing())
    .returningAll()
    .executeTakeFirst()
  if (appended) return appended
  // Another process wrote the same event between the look and the lock.
  await moveCounter(tx, -1)
  return null
}

export async function isAppended(reader: Reader, dedupeKey: string): Promise<boolean> {
  const known = reader.selectFrom('events').select('sequence').where('dedupe_key', '=', dedupeKey)
  return (await known.executeTakeFirst()) !== undefined
}

/** Rows of one insert, below SQLite's limit of variables. */
const EVENTS_PER_INSERT = 500

/** Appends those of which the `dedupe_key` is not known, in order, the first of equal ones; the same guarantees in few queries. */
export async function appendEvents(tx: Tx, events: readonly NewEvent[]): Promise<void> {
  for (let at = 0; at < events.length; at += EVENTS_PER_INSERT) {
    const part = new Map<string, NewEvent>()
    for (const event of events.slice(at, at + EVENTS_PER_INSERT)) {
      if (!part.has(event.dedupe_key)) part.set(event.dedupe_key, event)
    }
    // Takes the counter's lock: nobody else appends between the look and the insert.
    const { value } = await moveCounter(tx, 0)
    const known = tx
      .selectFrom('events')
      .select('dedupe_key')
      .where('dedupe_key', 'in', [...part.keys()])
    for (const { dedupe_key } of await known.execute()) part.delete(dedupe_key)
    if (part.size === 0) continue
    let latest_at = await latestMoment(tx)
    const rows = [...part.values()].map((event, i) => {
      latest_at = Math.max(latest_at, event.created_at)
      return { ...event, sequence: value + 1 + i, latest_at }
    })
    await tx.insertInto('events').values(rows).execute()
    await moveCounter(tx, rows.length)
  }
}

function moveCounter(tx: Tx, by: number): Promise<{ value: number }> {
  return tx
    .updateTable('counters')
    .set((expression) => ({ value: expression('value', '+', by) }))
    .where('name', '=', 'events')
    .returning('value')
    .executeTakeFirstOrThrow()
}

/** Latest time of any event so far; whoever appends holds the counter's lock. */
async function latestMoment(tx: Tx): Promise<number> {
  const events = tx.selectFrom('events').select('latest_at').orderBy('sequence', 'desc').limit(1)
  return (await events.executeTakeFirst())?.latest_at ?? 0
}

/** Sequence of the first event at or after a moment (Unix milliseconds): no earlier one is; null where there is none. */
export async function firstSequenceSince(reader: Reader, moment: number): Promise<number | null> {
  const events = reader.selectFrom('events').select('sequence').where('latest_at', '>=', moment)
  return (await events.orderBy('latest_at').orderBy('sequence').limit(1).executeTakeFirst())?.sequence ?? null
}

/** What an event was about, and what its write sent along. */
const EVENT_WEIGHTS = { object_json: 1, metadata_json: 1 } as const
/** No event that is written today has as much text. */
const SMALL_BYTES = 512 * 1024

/** The event where it is of ordinary size; null where there is none, or it is of an earlier version and larger. */
export async function findSmallEvent(reader: Reader, id: string): Promise<Row<'events'> | null> {
  const event = reader.selectFrom('events').selectAll().where('id', '=', id)
  return (await event.where(weightOf(EVENT_WEIGHTS), '<=', SMALL_BYTES).executeTakeFirst()) ?? null
}

export async function findEvent(reader: Reader, id: string): Promise<Row<'events'> | null> {
  return (await reader.selectFrom('events').selectAll().where('id', '=', id).executeTakeFirst()) ?? null
}

/** Those that there are, in no order. */
export function findEvents(reader: Reader, ids: readonly string[]): Promise<Row<'events'>[]> {
  return reader.selectFrom('events').selectAll().where('id', 'in', ids).execute()
}

/** Newest first, or oldest first to follow the stream. */
export async function pageEvents(
  reader: Reader,
  request: PageRequest & EventFilters & { order?: ListOrder | undefined },
): Promise<StoredPage<Row<'events'>>> {
  let query = reader.selectFrom('events').selectAll()
  if (request.type !== undefined) query = query.where('type', '=', request.type)
  if (request.resource_type !== undefined) query = query.where('resource_type', '=', request.resource_type)
  if (request.resource_id !== undefined) query = query.where('resource_id', '=', request.resource_id)
  if (request.created_after !== undefined) {
    // The page begins where the moment is, instead of looking for it from either end.
    const first = await firstSequenceSince(reader, request.created_after + 1)
    query = query.where('sequence', '>=', first ?? Number.MAX_SAFE_INTEGER)
    query = query.where('created_at', '>', request.created_after)
  }
  const { limit, cursor, order } = request
  return pageOf({ query, list: 'events', place: 'sequence', weights: EVENT_WEIGHTS, limit, cursor, order })
}
