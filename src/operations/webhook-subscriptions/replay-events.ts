/** Delivers events again, by their ids or since a time. Their attempts start from zero. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { findEvents, firstSequenceSince } from '../../store/events/events.ts'
import { lockFirstSequence, removedEvents } from '../../store/events/retention.ts'
import type { Row } from '../../store/schema.ts'
import type { Tx } from '../../store/store.ts'
import { lastSequence } from '../../store/webhooks/cursors.ts'
import { requeueEvents } from '../../store/webhooks/enqueuing.ts'
import { enabledTypes } from '../../store/webhooks/fan-out.ts'
import { countReplays, insertReplay } from '../../store/webhooks/replays.ts'
import { eventMissing, eventsRemoved } from '../events.ts'
import { replayStep } from '../webhook-deliveries/replay.ts'
import { ownSubscription } from './owned.ts'

type ReplayEventsRoute = Api['webhookSubscriptions']['replay']

/** Replays of one subscription that may be in progress at a time. */
const MOST_REPLAYS = 10

/**
 * `since` selects events of the subscription's types: the first ones at once, the others step by step. An event named
 * by id is delivered whatever its type. Events after the subscription's cursor wait until it reaches them.
 */
export async function replayEvents(
  context: Context,
  { id, event_ids, since }: Input<ReplayEventsRoute>,
): Promise<Result<ReplayEventsRoute>> {
  const now = context.clock.now()
  const answer = await context.commit(async (tx) => {
    const subscription = await ownSubscription(context, tx, id)
    // The schema requires exactly one of the two.
    if (since !== undefined) return replaySince(tx, subscription, since, now)
    const events = await eventsById(tx, event_ids ?? [])
    await requeueEvents(tx, subscription, events, now)
    return { queued: events.length }
  })
  context.wake('webhook-delivery')
  return answer
}

async function replaySince(
  tx: Tx,
  subscription: Row<'webhook_subscriptions'>,
  since: number,
  now: number,
): Promise<Result<ReplayEventsRoute>> {
  const removed = await removedEvents(tx, await lockFirstSequence(tx))
  if (removed !== null && since < removed.since)
    throw eventsRemoved('Events since that time were removed', removed, 'replay from that time', 'since')
  const last = await lastSequence(tx)
  const first = (await firstSequenceSince(tx, since)) ?? last + 1
  const types = enabledTypes(subscription.enabled_events_json)
  const replay = {
    ...{ subscription_id: subscription.id, since, come_to: subscription.cursor, last, created_at: now },
    types_json: types === null ? null : JSON.stringify(types),
  }
  const { commitment } = subscription
  let { queued, through } = await replayStep(tx, { ...replay, commitment, through: first - 1 }, { now })
  if (through === replay.come_to && through < last) {
    // A step ends at the subscription's cursor: events before it are queued again, those after it once.
    const more = await replayStep(tx, { ...replay, commitment, through }, { now })
    ;[queued, through] = [queued + more.queued, more.through]
  }
  if (through < last) {
    if ((await countReplays(tx, subscription.id, MOST_REPLAYS)) === MOST_REPLAYS) throw tooManyReplays(subscription.id)
    await insertReplay(tx, { ...replay, through })
  }
  return { queued, through_sequence: through, last_sequence: last }
}

const tooManyReplays = (id: string) =>
  badRequest(`${MOST_REPLAYS} replays of ${id} are already running: wait until one of them has ended`, {
    param: 'since',
  })

async function eventsById(tx: Tx, ids: readonly string[]): Promise<Row<'events'>[]> {
  // An event that was found cannot be removed before it is queued.
  await lockFirstSequence(tx)
  const unique = [...new Set(ids)]
  const events = await findEvents(tx, unique)
  const known = new Set(events.map((event) => event.id))
  const missing = unique.findIndex((id) => !known.has(id))
  if (missing < 0) return events
  throw await eventMissing(tx, unique[missing] ?? '', { param: `event_ids.${missing}` })
}
