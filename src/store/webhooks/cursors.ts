/** How far each subscription has checked the events, and whether its receiver keeps up. */
import { type Placeholders, prepared } from '../queries/prepared.ts'
import type { Row } from '../schema.ts'
import type { Reader } from '../store.ts'
import { UNTRIED, WAITING } from './queue.ts'

/** Returns the last event's sequence, after which a new subscription starts; 0 before the first. */
export async function lastSequence(reader: Reader): Promise<number> {
  const counter = reader.selectFrom('counters').select('value').where('name', '=', 'events')
  return (await counter.executeTakeFirst())?.value ?? 0
}

/** Whether at least `limit` events up to the cursor still wait for their first attempt. */
export async function hasBacklog(
  reader: Reader,
  { id, cursor }: Pick<Row<'webhook_subscriptions'>, 'id' | 'cursor'>,
  limit: number,
): Promise<boolean> {
  return (await lastOfBacklog.first(reader, { id, cursor, before: limit - 1 })) !== undefined
}

const lastOfBacklog = prepared(
  (db, { id, cursor, before }: Placeholders<{ id: string; cursor: number; before: number }>) =>
    db
      .selectFrom('webhook_queue')
      .select('seq')
      .where('subscription_id', '=', id)
      .where('state', '=', WAITING)
      .where('attempts', '=', UNTRIED)
      .where('sequence', '<=', cursor)
      .limit(1)
      .offset(before),
)
