/** Removes the events of a type that is no longer in the catalogue, `fee_claim.scheduled_run`: the runs themselves say the same. */
import type { Kysely, Migration } from 'kysely'

const REMOVED = 'fee_claim.scheduled_run'
/** What a subscription to nothing else gets instead: the claims that runs make. */
const CLAIMS = ['fee_claim.executed', 'fee_claim.split_executed']

interface Changed {
  events: { id: string; sequence: number; type: string }
  counters: { name: string; value: number }
  webhook_queue: { event_id: string }
  webhook_subscriptions: { id: string; enabled_events_json: string }
}

export const closedEventTypes = (): Migration => ({
  async up(untyped: Kysely<unknown>) {
    const db = untyped as Kysely<Changed>
    const removed = db.selectFrom('events').select('id').where('type', '=', REMOVED)
    await db.deleteFrom('webhook_queue').where('event_id', 'in', removed).execute()
    await db.deleteFrom('events').where('type', '=', REMOVED).execute()
    const first = await db.selectFrom('events').select('sequence').orderBy('sequence').limit(1).executeTakeFirst()
    const counter = await db
      .selectFrom('counters')
      .select('value')
      .where('name', '=', 'events_first')
      .executeTakeFirst()
    // Whoever removes old events, or asks since when there are some, reads the event at this place.
    if (first !== undefined && counter !== undefined && Number(counter.value) > 1 && first.sequence > counter.value)
      await db.updateTable('counters').set({ value: first.sequence }).where('name', '=', 'events_first').execute()
    const subscriptions = db.selectFrom('webhook_subscriptions').select(['id', 'enabled_events_json'])
    for (const { id, enabled_events_json } of await subscriptions
      .where('enabled_events_json', 'like', `%${REMOVED}%`)
      .execute()) {
      const others = (JSON.parse(enabled_events_json) as string[]).filter((type) => type !== REMOVED)
      await db
        .updateTable('webhook_subscriptions')
        .set({ enabled_events_json: JSON.stringify(others.length > 0 ? others : CLAIMS) })
        .where('id', '=', id)
        .execute()
    }
  },
})
