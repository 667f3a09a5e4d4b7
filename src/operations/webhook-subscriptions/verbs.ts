/** Webhook subscriptions: create, change, delete, read, list, test, replay, and rotate secrets. */
import type { Event } from '../../api/events.ts'
import type { Api, WebhookSubscription } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { WebhookFilter } from '../../api/webhook-filters.ts'
import type { Context } from '../../context.ts'
import { badRequest, forbidden } from '../../platform/errors.ts'
import { DAY_MS, HOUR_MS, isoTime } from '../../platform/timing.ts'
import { maskedHeaders } from '../../platform/webhook-signature.ts'
import { writeEvent } from '../../store/events/drafts.ts'
import { findEvent, findEvents, firstSequenceSince, lastSequence } from '../../store/events/events.ts'
import { lockFirstSequence, removedEvents } from '../../store/events/retention.ts'
import { newId } from '../../store/id.ts'
import type { Row } from '../../store/schema.ts'
import type { Reader, Tx } from '../../store/store.ts'
import { attemptsSince, findWebhookDelivery, pageWebhookDeliveries } from '../../store/webhooks/deliveries.ts'
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
  fromJson,
  fromJsonOrNull,
  recordPage,
  requireRecord,
  storedSubscription,
  webhookDeliveryRecord,
  webhookSubscriptionRecord,
  webhookSubscriptionRecords,
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
  const filter = input.filter ?? null
  const sample_event = (await samplesOf(filter))(input.enabled_events, filter, now)
  return context.commit(async (tx) => {
    await requireRoom(context, tx)
    const stored = await insertWebhookSubscription(tx, {
      id,
      api_key_id: context.actor.apiKeyId,
      url: input.url,
      enabled_events_json: enabledEventsJson(input.enabled_events),
      filter_json: filterJson(filter),
      active: 1,
      ...columns,
      disabled_reason: null,
      commitment: input.commitment,
      // A subscription starts with events from now on. Replays deliver earlier ones.
      cursor: await lastSequence(tx),
      created_at: now,
      updated_at: now,
    })
    return { ...(await webhookSubscriptionRecord(tx, stored)), secret, sample_event }
  })
}

/** An event that the filter matches; null without a filter. */
type Sampling = (enabled: readonly string[], filter: WebhookFilter | null, now: number) => Event | null

/** What events say is loaded only if there is a filter. */
async function samplesOf(filter: unknown): Promise<Sampling> {
  if (filter === null) return () => null
  const { sampleEvent } = await import('./filter-sample.ts')
  return (enabled, wanted, now) => (wanted === null ? null : sampleEvent(enabled, wanted, now))
}

const filterJson = (filter: WebhookFilter | null): string | null => (filter === null ? null : JSON.stringify(filter))

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

/** Changes a subscription, or switches it on or off. A request without a change writes nothing. */
export async function updateWebhookSubscriptionById(
  context: Context,
  input: Input<Routes['update']>,
): Promise<Result<Routes['update']>> {
  const { id, url, active, commitment } = input
  const own = await ownSubscription(context, context.store.db, id)
  if (url !== undefined) await checkReceiver(context, url)
  const sampled = await samplesOf(input.filter ?? own.filter_json)
  return context.commit(async (tx) => {
    const before = requireRecord(await lockWebhookSubscription(tx, id), 'webhook subscription', id)
    const moves = url !== undefined && url !== before.url
    const switches = active !== undefined && active !== (before.active === 1)
    const commits = commitment !== undefined && commitment !== before.commitment
    const wanted = wantedAfter(input, before)
    const sample_event = sampled(fromJson(wanted.enabled_events_json), filterOf(wanted), context.clock.now())
    const isWanted =
      wanted.enabled_events_json === before.enabled_events_json && wanted.filter_json === before.filter_json
    if (!moves && !switches && !commits && isWanted)
      return { ...(await webhookSubscriptionRecord(tx, before)), sample_event }
    const stored = await updateWebhookSubscription(tx, id, {
      ...(moves ? { url } : {}),
      ...(commits ? { commitment } : {}),
      ...(switches ? { active: active ? 1 : 0, disabled_reason: active ? null : BY_REQUEST } : {}),
      ...wanted,
      receiver_revision: before.receiver_revision + (moves || (switches && active) ? 1 : 0),
      updated_at: context.clock.now(),
    })
    // The subscription's row is locked, and ending attempts wait for it, so that no delivery is put on hold after
    // this.
    if (switches && active) await resumeHeld(tx, id, context.clock.now())
    const changed = requireRecord(stored, 'webhook subscription', id)
    return { ...(await webhookSubscriptionRecord(tx, changed)), sample_event }
  })
}

type Wanted = Pick<Row<'webhook_subscriptions'>, 'enabled_events_json' | 'filter_json'>

/** The types and the filter after a change; what it omits stays. */
const wantedAfter = ({ enabled_events, filter }: Input<Routes['update']>, before: Wanted): Wanted => ({
  enabled_events_json: enabled_events === undefined ? before.enabled_events_json : enabledEventsJson(enabled_events),
  filter_json: filter === undefined ? before.filter_json : filterJson(filter),
})

const filterOf = ({ filter_json }: Wanted) => fromJsonOrNull<WebhookFilter>(filter_json)

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

/** Reads one subscription. */
export async function getWebhookSubscription(
  { store: { db } }: Pick<Context, 'store'>,
  { id }: Input<Routes['get']>,
): Promise<Result<Routes['get']>> {
  return webhookSubscriptionRecord(db, await requireSubscription(db, id))
}

/** Lists subscriptions, newest first. */
export async function listWebhookSubscriptions(
  { store: { db } }: Pick<Context, 'store'>,
  { active, ...page }: Input<Routes['list']>,
): Promise<Result<Routes['list']>> {
  const { rows, next_cursor } = await pageWebhookSubscriptions(db, { ...page, ...flagFilter({ active }) })
  return { items: await webhookSubscriptionRecords(db, rows), next_cursor }
}

/** Lists every delivery attempt of one subscription, newest first. */
export async function listDeliveries(
  { store }: Pick<Context, 'store'>,
  { id, ...page }: Input<Routes['deliveries']>,
): Promise<Result<Routes['deliveries']>> {
  await requireSubscription(store.db, id)
  return recordPage(await pageWebhookDeliveries(store.db, { ...page, subscription_id: id }), webhookDeliveryRecord)
}

/** Reads one attempt with the event that was sent. */
export async function getDelivery(
  { store: { db } }: Pick<Context, 'store'>,
  { id, delivery_id }: Input<Routes['delivery']>,
): Promise<Result<Routes['delivery']>> {
  await requireSubscription(db, id)
  const found = await findWebhookDelivery(db, delivery_id)
  const own = found?.subscription_id === id ? found : null
  const row = requireRecord(own, `delivery of ${id}`, delivery_id)
  const event = await findEvent(db, row.event_id)
  const headers = maskedHeaders(row.event_id, row.created_at)
  return { ...webhookDeliveryRecord(row), request: { headers, body: event === null ? null : eventRecord(event) } }
}

/** Attempts that the figures of a receiver are made of. */
const MOST_COUNTED = 5_000

/** Counts the attempts of the last day, and how long the receiver took. */
export async function webhookStatsOf(
  { store: { db }, clock }: Pick<Context, 'store' | 'clock'>,
  { id }: Input<Routes['stats']>,
): Promise<Result<Routes['stats']>> {
  await requireSubscription(db, id)
  const since = clock.now() - DAY_MS
  const attempts = await attemptsSince(db, id, since, MOST_COUNTED)
  const succeeded = attempts.filter(({ status }) => status === 'succeeded').length
  // Without an answer there is only the time of the failure.
  const answered = attempts.flatMap(({ response_code, duration_ms }) =>
    response_code === null ? [] : (duration_ms ?? []),
  )
  answered.sort((a, b) => a - b)
  const within = (share: number) => answered[Math.max(0, Math.ceil(answered.length * share) - 1)] ?? null
  return {
    since: isoTime(since),
    attempts: attempts.length,
    succeeded,
    failed: attempts.length - succeeded,
    success_percent: attempts.length === 0 ? null : Math.floor((succeeded * 1_000) / attempts.length) / 10,
    p50_ms: within(0.5),
    p95_ms: within(0.95),
    truncated: attempts.length === MOST_COUNTED,
  }
}

const requireSubscription = async (reader: Reader, id: string): Promise<Row<'webhook_subscriptions'>> =>
  requireRecord(await findWebhookSubscription(reader, id), 'webhook subscription', id)

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
      object: storedSubscription(subscription),
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
 * `since` selects events of the subscription's types that its filter wants: the first ones at once, the others step by
 * step. An event named by id is delivered whatever its type and the filter. Events after the subscription's cursor wait
 * until it reaches them.
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
    filter_json: subscription.filter_json,
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
      ...(await webhookSubscriptionRecord(tx, requireRecord(stored, 'webhook subscription', id))),
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
  const row = await requireSubscription(reader, id)
  if (row.api_key_id === actor.apiKeyId || actor.scopes.includes('*')) return row
  throw forbidden(
    row.api_key_id === null
      ? `Webhook subscription ${id} has no owner: only a key with the scope * can change it`
      : `Webhook subscription ${id} was made by another API key: only that key, or one with the scope *, can change it`,
  )
}

/** A type that is listed twice is stored once. */
const enabledEventsJson = (types: WebhookSubscription['enabled_events']): string => JSON.stringify([...new Set(types)])
