/** Delivers events again, by their ids or from a moment on; their attempts begin anew. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { notFound } from '../../errors.ts'
import type { Row } from '../../store/schema.ts'
import type { Reader } from '../../store/store.ts'
import { enqueueAgain, enqueueRange, lastSequence } from '../../store/webhook-queue.ts'
import { queuedOf, typesOf } from '../webhook-deliveries/fan-out.ts'
import { ownSubscription } from './owned.ts'

type Route = Api['webhookSubscriptions']['replay']

/**
 * `since` takes the events that the subscription wants; an id that is named is delivered whatever its type. What the
 * subscription has not come to yet waits in its queue until then.
 */
export async function replayEvents(context: Context, { id, event_ids, since }: Input<Route>): Promise<Result<Route>> {
  const now = context.clock.now()
  const answer = await context.commit(async (tx) => {
    const subscription = await ownSubscription(context, tx, id)
    if (event_ids === undefined) {
      const wanted = { subscriptionId: id, types: typesOf(subscription), againSince: since! }
      return { queued: await enqueueRange(tx, { ...wanted, after: 0, to: await lastSequence(tx), now }) }
    }
    const events = await named(tx, event_ids)
    await enqueueAgain(
      tx,
      events.map((event) => queuedOf(id, event, now)),
    )
    return { queued: events.length }
  })
  context.wake('webhook-delivery')
  return answer
}

async function named(reader: Reader, ids: readonly string[]): Promise<Row<'events'>[]> {
  const unique = [...new Set(ids)]
  const events = await reader.selectFrom('events').selectAll().where('id', 'in', unique).execute()
  const known = new Set(events.map((event) => event.id))
  const missing = unique.findIndex((id) => !known.has(id))
  if (missing < 0) return events
  throw notFound(`There is no event ${unique[missing]}`, { param: `event_ids.${missing}` })
}
