/** Delivers events again, by their ids or from a moment on; their attempts begin anew. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { notFound } from '../../errors.ts'
import { pageEvents } from '../../store/events.ts'
import type { Row } from '../../store/schema.ts'
import { enqueueAgain } from '../../store/webhook-queue.ts'
import { findWebhookSubscription } from '../../store/webhook-subscriptions.ts'
import { found } from '../found.ts'
import { queuedOf, wants } from '../webhook-deliveries/fan-out.ts'

type Route = Api['webhookSubscriptions']['replay']

const EVENTS_PER_READ = 100

/** `since` takes the events that the subscription wants; an id that is named is delivered whatever its type. */
export async function replayEvents(context: Context, input: Input<Route>): Promise<Result<Route>> {
  const { store, clock } = context
  const subscription = found(await findWebhookSubscription(store.db, input.id), 'webhook subscription', input.id)
  const events = input.event_ids
    ? await named(context, input.event_ids)
    : (await since(context, input.since!)).filter((event) => wants(subscription, event))
  const now = clock.now()
  const answer = await context.commit(async (tx) => {
    await enqueueAgain(
      tx,
      events.map((event) => queuedOf(subscription.id, event, now)),
    )
    return { queued: events.length }
  })
  context.wake('webhook-delivery')
  return answer
}

async function named({ store }: Context, ids: readonly string[]): Promise<Row<'events'>[]> {
  const unique = [...new Set(ids)]
  const events = await store.db.selectFrom('events').selectAll().where('id', 'in', unique).execute()
  const known = new Set(events.map(({ id }) => id))
  const missing = unique.findIndex((id) => !known.has(id))
  if (missing < 0) return events
  throw notFound(`There is no event ${unique[missing]}`, { param: `event_ids.${missing}` })
}

async function since({ store }: Context, moment: number): Promise<Row<'events'>[]> {
  const events: Row<'events'>[] = []
  let cursor: string | undefined
  do {
    const page = await pageEvents(store.db, {
      // From that moment on: the store takes it as exclusive.
      created_after: moment - 1,
      order: 'asc',
      limit: EVENTS_PER_READ,
      cursor,
    })
    events.push(...page.rows)
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
  return events
}
