/** Webhook subscriptions: create, change, delete, read, list, test, replay, and rotate secrets. */
import type { Api, WebhookSubscription } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { badRequest, forbidden } from '../../platform/errors.ts'
import { HOUR_MS } from '../../platform/timing.ts'
import { writeEvent } from '../../store/events/drafts.ts'
import { findEvents, firstSequenceSince, lastSequence } from '../../store/events/events.ts'
import { lockFirstSequence, removedEvents } from '../../store/events/retention.ts'
import { newId } from '../../store/id.ts'
import type { Row } from '../../store/schema.ts'
import type { Reader, Tx } from '../../store/store.ts'
import { pageWebhookDeliveries } from '../../store/webhooks/deliveries.ts'
import { countReplays, enqueueReplayed, insertReplay, requeueEvents } from '../../store/webhooks/enqueuing.ts'
import { resumeHeld } from '../../store/webhooks/queue.ts'
import {
  BY_REQUEST,
  countSubscriptions,
  deleteWebhookSubscription,
  findWebhookSubscription,
  insertWebhookSubscription,
  lockWebhookSubscription,
  pageWebhookSubscriptions,
  updateWebhookSubscription,
} from '../../store/webhooks/subscriptions.ts'
import {
  eventRecord,
  flagFilter,
  listOf,
  oneOf,
  recordPage,
  requireRecord,
  webhookDeliveryRecord,
  webhookSubscriptionRecord,
} from '../api-records.ts'
import { eventMissing, eventsRemoved } from '../events.ts'
import { checkReceiver } from './check-receiver.ts'
import { makeWebhookSecret, type PreviousSecret, previousSecrets, previousSecretsJson } from './secret.ts'

type Routes = Api['webhookSubscriptions']

/** Throws bad_request, also if there are too many subscriptions; the message names the setting. */
export async function createWebhookSubscription(
  context: Context,
  input: Input<Routes['create']>,
): Promise<Result<Routes['create']>> {
  await checkReceiver(context, input.url)
  const id = newId('whs')
  const { secret, columns } = makeWebhookSecret(context, id)
  const now = context.clock.now()
  return context.commit(async (tx) => {
    await requireRoom(context, tx)
    const stored = await insertWebhookSubscription(tx, {
      id,
      api_key_id: context.actor.apiKeyId,
      url: input.url,
      enabled_events_json: enabledEventsJson(input.enabled_events),
      active: 1,
      ...columns,
      disabled_reason: null,
      commitment: input.commitment,
      // A subscription starts with events from now on. Replays deliver earlier ones.
      cursor: await lastSequence(tx),
      created_at: now,
      updated_at: now,
    })
    return { ...webhookSubscriptionRecord(stored), secret }
  })
}

async function requireRoom({ actor, config: { values } }: Context, tx: Tx): Promise<void> {
  const { ofKey, ofAll } = await countSubscriptions(tx, actor.apiKeyId)
  const refuseFull = (whose: string, count: number, limit: 'webhooks.max-per-key' | 'webhooks.max') => {
    if (count < values[limit]) return
    throw badRequest(
      `${whose} has ${count} webhook subscriptions, the maximum of the setting ${limit}: delete one (DELETE /v2/webhook-subscriptions/{id}, \`svc webhooks delete\`), or ask the operator to raise the setting`,
      { details: { limit, most: values[limit] } },
    )
  }
  if (!actor.scopes.includes('*')) refuseFull('This API key', ofKey, 'webhooks.max-per-key')
  refuseFull('This installation', ofAll, 'webhooks.max')
}

/** Changes the URL or events of a subscription, or switches it on or off. A request without a change writes nothing. */
export async function updateWebhookSubscriptionById(
  context: Context,
  input: Input<Routes['update']>,
): Promise<Result<Routes['update']>> {
  const { id, url, enabled_events, active, commitment } = input
  await ownSubscription(context, context.store.db, id)
  if (url !== undefined) await checkReceiver(context, url)
  return context.commit(async (tx) => {
    const before = requireRecord(await lockWebhookSubscription(tx, id), 'webhook subscription', id)
    const moves = url !== undefined && url !== before.url
    const switches = active !== undefined && active !== (before.active === 1)
    const events = enabled_events === undefined ? before.enabled_events_json : enabledEventsJson(enabled_events)
    const commits = commitment !== undefined && commitment !== before.commitment
    if (!moves && !switches && !commits && events === before.enabled_events_json)
      return webhookSubscriptionRecord(before)
    const stored = await updateWebhookSubscription(tx, id, {
      ...(moves ? { url } : {}),
      ...(commits ? { commitment } : {}),
      ...(switches ? { active: active ? 1 : 0, disabled_reason: active ? null : BY_REQUEST } : {}),
      enabled_events_json: events,
      receiver_revision: before.receiver_revision + (moves || (switches && active) ? 1 : 0),
      updated_at: context.clock.now(),
    })
    // The subscription's row is locked, and ending attempts wait for it, so that no delivery is put on hold after
    // this.
    if (switches && active) await resumeHeld(tx, id, context.clock.now())
    return webhookSubscriptionRecord(requireRecord(stored, 'webhook subscription', id))
  })
}

/** Removes a webhook subscription. */
export async function deleteWebhookSubscriptionById(
  context: Context,
  { id }: Input<Routes['delete']>,
): Promise<Result<Routes['delete']>> {
  const answer = await context.commit(async (tx) => {
    await ownSubscription(context, tx, id)
    await deleteWebhookSubscription(tx, id, context.clock.now())
    return { id, deleted: true as const }
  })
  context.wake('webhook-delivery')
  return answer
}

export const getWebhookSubscription = oneOf<Routes['get'], Row<'webhook_subscriptions'>>(
  'webhook subscription',
  findWebhookSubscription,
  webhookSubscriptionRecord,
)

export const listWebhookSubscriptions = listOf<Routes['list'], Row<'webhook_subscriptions'>>(
  (reader, { active, ...page }) => pageWebhookSubscriptions(reader, { ...page, ...flagFilter({ active }) }),
  webhookSubscriptionRecord,
)

/** Lists every delivery attempt of one subscription, newest first. */
export async function listDeliveries(
  { store }: Pick<Context, 'store'>,
  { id, ...page }: Input<Routes['deliveries']>,
): Promise<Result<Routes['deliveries']>> {
  requireRecord(await findWebhookSubscription(store.db, id), 'webhook subscription', id)
  return recordPage(await pageWebhookDeliveries(store.db, { ...page, subscription_id: id }), webhookDeliveryRecord)
}

/** Writes a `webhook.test_event` for one subscription. */
export async function testWebhookSubscription(
  context: Context,
  { id }: Input<Routes['test']>,
): Promise<Result<Routes['test']>> {
  return context.commit(async (tx) => {
    const subscription = await ownSubscription(context, tx, id)
    const event = await writeEvent(tx, context.clock, {
      type: 'webhook.test_event',
      resource_type: 'webhook_subscription',
      resource_id: id,
      object: webhookSubscriptionRecord(subscription),
      dedupe_by: newId('test'),
      origin: {
        external_uid: context.externalUid ?? null,
        metadata_json: context.metadata === undefined ? null : JSON.stringify(context.metadata),
      },
    })
    if (event === null) throw new Error('an event with a new dedupe key already exists')
    return eventRecord(event)
  })
}

/** Replays of one subscription that may be in progress at a time. */
const MOST_REPLAYS = 10

/**
 * `since` selects events of the subscription's types: the first ones at once, the others step by step. An event named
 * by id is delivered whatever its type. Events after the subscription's cursor wait until it reaches them.
 */
export async function replayEvents(
  context: Context,
  { id, event_ids, since }: Input<Routes['replay']>,
): Promise<Result<Routes['replay']>> {
  const now = context.clock.now()
  const answer = await context.commit(async (tx) => {
    const subscription = await ownSubscription(context, tx, id)
    // The schema requires exactly one of the two.
    if (since !== undefined) return replaySince(tx, subscription, since, now)
    const events = await eventsById(tx, event_ids ?? [])
    const ids = events.map((event) => event.id)
    return { queued: await requeueEvents(tx, subscription.id, ids, now) }
  })
  context.wake('webhook-delivery')
  return answer
}

async function replaySince(
  tx: Tx,
  subscription: Row<'webhook_subscriptions'>,
  since: number,
  now: number,
): Promise<Result<Routes['replay']>> {
  const removed = await removedEvents(tx, await lockFirstSequence(tx))
  if (removed !== null && since < removed.since)
    throw eventsRemoved('Events since that time were removed', removed, 'replay from that time', 'since')
  const last = await lastSequence(tx)
  const first = (await firstSequenceSince(tx, since)) ?? last + 1
  const replay = {
    subscription_id: subscription.id,
    since,
    come_to: subscription.cursor,
    last,
    created_at: now,
    types_json: subscription.enabled_events_json,
  }
  let { queued, through } = await enqueueReplayed(tx, { ...replay, through: first - 1 }, { now })
  if (through === replay.come_to && through < last) {
    // A step ends at the subscription's cursor: events before it are queued again, those after it once.
    const more = await enqueueReplayed(tx, { ...replay, through }, { now })
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

/** Earlier secrets that may still sign. Each adds a signature to two headers of every delivery. */
const MOST_PREVIOUS_SECRETS = 5

/** Replaces a subscription's secret. Each earlier one keeps signing for the time requested at its replacement. */
export async function rotateSecret(
  context: Context,
  { id, overlap_hours }: Input<Routes['rotateSecret']>,
): Promise<Result<Routes['rotateSecret']>> {
  const now = context.clock.now()
  const until = overlap_hours === 0 ? null : now + overlap_hours * HOUR_MS
  await ownSubscription(context, context.store.db, id)
  const { secret, columns } = makeWebhookSecret(context, id)
  return context.commit(async (tx) => {
    const before = requireRecord(await lockWebhookSubscription(tx, id), 'webhook subscription', id)
    const earlier = previousSecrets(before, now)
    if (until !== null && earlier.length >= MOST_PREVIOUS_SECRETS) throw tooManySecrets(earlier)
    const previous = until === null ? [] : [{ secret: before.secret, until }, ...earlier]
    const stored = await updateWebhookSubscription(tx, id, {
      ...columns,
      previous_secrets_json: previousSecretsJson(previous),
      updated_at: now,
    })
    return {
      ...webhookSubscriptionRecord(requireRecord(stored, 'webhook subscription', id)),
      secret,
      previous_secret_expires_at: until === null ? null : new Date(until).toISOString(),
    }
  })
}

function tooManySecrets(earlier: readonly PreviousSecret[]) {
  const next = new Date(Math.min(...earlier.map(({ until }) => until))).toISOString()
  return badRequest(
    `overlap_hours: ${earlier.length} earlier secrets still sign, the first of them until ${next}. Rotate after that, or send overlap_hours: 0, which ends them all now`,
    { param: 'overlap_hours', details: { previous_secrets: earlier.length, next_expires_at: next } },
  )
}

/**
 * Throws not_found, and forbidden if another key created it, because a changed URL or secret would redirect its
 * deliveries.
 */
async function ownSubscription(
  { actor }: Pick<Context, 'actor'>,
  reader: Reader,
  id: string,
): Promise<Row<'webhook_subscriptions'>> {
  const row = requireRecord(await findWebhookSubscription(reader, id), 'webhook subscription', id)
  if (row.api_key_id === actor.apiKeyId || actor.scopes.includes('*')) return row
  throw forbidden(
    row.api_key_id === null
      ? `Webhook subscription ${id} has no owner: only a key with the scope * can change it`
      : `Webhook subscription ${id} was made by another API key: only that key, or one with the scope *, can change it`,
  )
}

/** A type that is listed twice is stored once. */
const enabledEventsJson = (types: WebhookSubscription['enabled_events']): string => JSON.stringify([...new Set(types)])
