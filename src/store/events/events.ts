/** Events: a sequence without gaps. Each event is written in the database transaction of the change that it reports. */
import { hash } from 'node:crypto'
import { type RawBuilder, sql } from 'kysely'
import {
  decodeCursor,
  filteredList,
  type ListOrder,
  type PageRequest,
  readPage,
  type StoredPage,
  weightOf,
} from '../queries/paging.ts'
import { partsOf } from '../queries/parts.ts'
import { type Placeholders, prepared } from '../queries/prepared.ts'
import type { NewRow, Row } from '../schema.ts'
import type { Reader, Tx } from '../store.ts'
import { wakeOnCommit } from '../writing/work.ts'

export type NewEvent = Omit<NewRow<'events'>, 'sequence' | 'latest_at'>

/** An event that was just appended. */
export type AppendedEvent = Omit<Row<'events'>, 'latest_at'>

interface EventFilters {
  type?: string | undefined
  resource_type?: string | undefined
  resource_id?: string | undefined
  /** Creation time in Unix milliseconds, exclusive. */
  created_after?: number | undefined
}

/**
 * Appends an event with the next number; null, without using a number, when its `dedupe_key` is already stored. The
 * counter's row is locked until the commit, so that numbers become visible in order and a rollback leaves no gap.
 */
export async function appendEvent(tx: Tx, event: NewEvent): Promise<AppendedEvent | null> {
  if (await isAppended(tx, event.dedupe_key)) return null
  const sequence = await moveCounter(tx, 1)
  const appended: AppendedEvent = {
    sequence,
    id: event.id,
    type: event.type,
    resource_type: event.resource_type,
    resource_id: event.resource_id,
    object_json: event.object_json,
    external_uid: event.external_uid ?? null,
    metadata_json: event.metadata_json ?? null,
    dedupe_key: event.dedupe_key,
    created_at: event.created_at,
  }
  if ((await insertEvent.run(tx, appended)) === 0) {
    // Another process wrote the same event between the check and the lock.
    await moveCounter(tx, -1)
    return null
  }
  wakeOnCommit('webhook-delivery')
  return appended
}

/** Whether the event was ever written. Its key stays stored when the event is removed. */
export async function isAppended(reader: Reader, dedupeKey: string): Promise<boolean> {
  return (await findAppended.first(reader, { key: dedupeKey, keyHash: eventKeyHash(dedupeKey) })) !== undefined
}

export const eventKeyHash = (dedupeKey: string): Buffer => hash('sha256', dedupeKey, 'buffer')

const findAppended = prepared((db, { key, keyHash }: Placeholders<{ key: string; keyHash: Buffer }>) =>
  // This is one statement, because an event may be removed between two.
  db
    .selectFrom('events')
    .select('sequence')
    .where('dedupe_key', '=', key)
    .unionAll(
      db.selectFrom('removed_event_keys').select(sql<number>`0`.as('sequence')).where('key_hash', '=', keyHash),
    ),
)

/** The event is not read back, because that would cost SQLite more than the insert. */
const insertEvent = prepared((db, event: Placeholders<AppendedEvent>) =>
  db
    .insertInto('events')
    .values({
      sequence: event.sequence,
      id: event.id,
      type: event.type,
      resource_type: event.resource_type,
      resource_id: event.resource_id,
      object_json: event.object_json,
      external_uid: event.external_uid,
      metadata_json: event.metadata_json,
      dedupe_key: event.dedupe_key,
      created_at: event.created_at,
      latest_at: latestWith(event.created_at),
    })
    .onConflict((conflict) => conflict.column('dedupe_key').doNothing()),
)

/** Number of rows per insert, below SQLite's limit of variables. */
const EVENTS_PER_INSERT = 500
/**
 * Up to this many, the insert itself finds the latest time. With more, planning that takes longer than a separate
 * query.
 */
const FEW_EVENTS = 8

/**
 * Appends events whose `dedupe_key` is not stored yet, in order, and keeps the first of duplicates. Same guarantees,
 * fewer queries.
 */
export async function appendEvents(tx: Tx, events: readonly NewEvent[]): Promise<void> {
  for (let at = 0; at < events.length; at += EVENTS_PER_INSERT) {
    const part = new Map<string, NewEvent>()
    for (const event of events.slice(at, at + EVENTS_PER_INSERT)) {
      if (!part.has(event.dedupe_key)) part.set(event.dedupe_key, event)
    }
    // Stored events are looked for before the counter is locked, because all daemons wait for that lock.
    await leaveOutAppended(tx, part)
    if (part.size > 0 && !(await insertAll(tx, [...part.values()]))) {
      // Another process wrote one of them before the lock. While this process has the lock, none can.
      await leaveOutAppended(tx, part)
      if (part.size > 0 && !(await insertAll(tx, [...part.values()])))
        throw new Error('events are stored but cannot be found')
    }
  }
}

/** Inserts all of them with the next numbers, or none if one is already stored. Keeps the counter locked. */
async function insertAll(tx: Tx, events: readonly NewEvent[]): Promise<boolean> {
  const value = await moveCounter(tx, events.length)
  const first = value - events.length + 1
  let latest = events.length <= FEW_EVENTS ? null : await latestMoment(tx)
  let latestHere = 0
  const rows = events.map((event, i) => {
    latestHere = Math.max(latestHere, event.created_at)
    if (latest !== null) latest = Math.max(latest, event.created_at)
    return { ...event, sequence: first + i, latest_at: latest ?? latestWith(latestHere) }
  })
  const inserted = await tx
    .insertInto('events')
    .values(rows)
    .onConflict((conflict) => conflict.column('dedupe_key').doNothing())
    .executeTakeFirstOrThrow()
  if (Number(inserted.numInsertedOrUpdatedRows) === rows.length) {
    wakeOnCommit('webhook-delivery')
    return true
  }
  await tx.deleteFrom('events').where('sequence', '>=', first).where('sequence', '<=', value).execute()
  await moveCounter(tx, -events.length)
  return false
}

/** Deletes from `part` all events that were ever written, including removed ones, whose keys stay stored. */
async function leaveOutAppended(tx: Tx, part: Map<string, NewEvent>): Promise<void> {
  const known = tx
    .selectFrom('events')
    .select('dedupe_key')
    .where('dedupe_key', 'in', [...part.keys()])
  for (const { dedupe_key } of await known.execute()) part.delete(dedupe_key)
  // This order matters: if an event is removed between the two, the second finds it.
  if (part.size === 0) return
  const hashes = new Map([...part.keys()].map((key) => [eventKeyHash(key).toString('hex'), key]))
  const removed = tx
    .selectFrom('removed_event_keys')
    .select('key_hash')
    .where('key_hash', 'in', [...part.keys()].map(eventKeyHash))
  for (const { key_hash } of await removed.execute()) part.delete(hashes.get(key_hash.toString('hex')) ?? '')
}

/** Returns the counter's new value, and keeps its row locked until the commit. */
async function moveCounter(tx: Tx, by: number): Promise<number> {
  const moved = await addToCounter.first(tx, { by })
  if (moved === undefined) throw new Error('the counter of events is missing')
  return moved.value
}

const addToCounter = prepared((db, { by }: Placeholders<{ by: number }>) =>
  db
    .updateTable('counters')
    .set((expression) => ({ value: expression('value', '+', by) }))
    .where('name', '=', 'events')
    .returning('value'),
)

/** Returns the last event's sequence, after which a new subscription starts; 0 before the first. */
export async function lastSequence(reader: Reader): Promise<number> {
  const counter = reader.selectFrom('counters').select('value').where('name', '=', 'events')
  return (await counter.executeTakeFirst())?.value ?? 0
}

/** Returns the latest time of any event so far; the caller must hold the counter's lock. */
async function latestMoment(tx: Tx): Promise<number> {
  const events = tx.selectFrom('events').select('latest_at').orderBy('sequence', 'desc').limit(1)
  return (await events.executeTakeFirst())?.latest_at ?? 0
}

/** The same as an expression within the insert, which saves a query while the counter is locked. */
const latestWith = (created_at: number | RawBuilder<number>) =>
  sql<number>`coalesce((select case when latest_at > ${created_at} then latest_at else cast(${created_at} as bigint) end
    from events order by sequence desc limit 1), ${created_at})`

/** Returns the sequence of the first event at or after a time in Unix milliseconds; null when there is none. */
export async function firstSequenceSince(reader: Reader, moment: number): Promise<number | null> {
  const events = reader.selectFrom('events').select('sequence').where('latest_at', '>=', moment)
  return (await events.orderBy('latest_at').orderBy('sequence').limit(1).executeTakeFirst())?.sequence ?? null
}

/** Columns of unbounded size: the event's object and the metadata of the originating request. */
const EVENT_WEIGHTS = { object_json: 1, metadata_json: 1 } as const
/** Size limit in bytes that no event of the current version reaches. */
const SMALL_BYTES = 512 * 1024

/** Finds an event of ordinary size; null if it does not exist or is larger. */
export async function findSmallEvent(reader: Reader, id: string): Promise<Row<'events'> | null> {
  const event = reader.selectFrom('events').selectAll().where('id', '=', id)
  return (await event.where(weightOf(EVENT_WEIGHTS), '<=', SMALL_BYTES).executeTakeFirst()) ?? null
}

export async function findEvent(reader: Reader, id: string): Promise<Row<'events'> | null> {
  return (await reader.selectFrom('events').selectAll().where('id', '=', id).executeTakeFirst()) ?? null
}

/** Bytes of unbounded columns; up to this size, hundreds of events together take little memory. */
const ORDINARY_BYTES = 16 * 1024

/** Returns the events that exist and have an ordinary size, in no particular order. */
export async function findOrdinaryEvents(reader: Reader, sequences: readonly number[]): Promise<Row<'events'>[]> {
  const found: Row<'events'>[] = []
  for (const part of partsOf(sequences)) {
    const events = reader.selectFrom('events').selectAll().where('sequence', 'in', part)
    found.push(...(await events.where(weightOf(EVENT_WEIGHTS), '<=', ORDINARY_BYTES).execute()))
  }
  return found
}

/** Returns the events with these ids in no particular order; missing ones are skipped. */
export function findEvents(reader: Reader, ids: readonly string[]): Promise<Row<'events'>[]> {
  return reader.selectFrom('events').selectAll().where('id', 'in', ids).execute()
}

/**
 * The name of the list in its cursors. If the oldest come first, a time only determines the start, so a cursor is
 * valid without it.
 */
function listOf(
  { type, resource_type, resource_id, created_after }: EventFilters,
  order: ListOrder | undefined,
): string {
  const after = order === 'asc' ? undefined : created_after
  return filteredList('events', { type, resource_type, resource_id, created_after: after })
}

/** Returns the sequence after which the cursor of an ascending page continues. */
export const eventPlace = (cursor: string, filters: EventFilters): number =>
  decodeCursor(`${listOf(filters, 'asc')}:asc`, cursor)

/** Returns a page of events, newest first, or oldest first to follow the stream. */
export async function pageEvents(
  reader: Reader,
  request: PageRequest & EventFilters & { order?: ListOrder | undefined },
): Promise<StoredPage<Row<'events'>>> {
  let query = reader.selectFrom('events').selectAll()
  if (request.type !== undefined) query = query.where('type', '=', request.type)
  if (request.resource_type !== undefined) query = query.where('resource_type', '=', request.resource_type)
  if (request.resource_id !== undefined) query = query.where('resource_id', '=', request.resource_id)
  if (request.created_after !== undefined) {
    // The index finds the start of the page directly, instead of scanning from either end.
    const first = await firstSequenceSince(reader, request.created_after + 1)
    query = query.where('sequence', '>=', first ?? Number.MAX_SAFE_INTEGER)
    query = query.where('created_at', '>', request.created_after)
  }
  const { limit, cursor, order } = request
  return readPage({
    query,
    list: listOf(request, order),
    place: 'sequence',
    weights: EVENT_WEIGHTS,
    limit,
    cursor,
    order,
  })
}
