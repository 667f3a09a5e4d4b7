/** Webhook subscriptions: receivers of events, their delivery attempts and their signing secrets. */
import { z } from '@hono/zod-openapi'
import { deletedSchema, listQuery, writeBody } from './envelope.ts'
import { EVENT_TYPES } from './event-types.ts'
import { event } from './events.ts'
import { moment, queryFlag } from './filters.ts'
import { defineRoute, type Tag } from './route.ts'
import { noControls, nullOr, recordId, timestamp } from './scalars.ts'
import { webhookFilter } from './webhook-filters.ts'

const DELIVERY_STATUSES = ['pending', 'succeeded', 'failed'] as const

const receiverUrl = z
  .url({ protocol: /^https?$/, hostname: /./, error: 'must be an HTTP or HTTPS URL', abort: true })
  .max(2048)
  .regex(...noControls)
  .refine(
    (text) => new URL(text).username === '' && new URL(text).password === '',
    'must not contain a user name or password',
  )
  .meta({ description: 'Where events are posted', example: 'https://example.com/hooks' })

/**
 * The most types in a list, about three times the number of event types; it is limited because each delivery reads the
 * list.
 */
const MAX_ENABLED_EVENTS = 100
const enabledEvents = z
  .array(z.enum([...EVENT_TYPES, '*']))
  .min(1)
  .max(MAX_ENABLED_EVENTS)
  .refine((types) => types.length === 1 || !types.includes('*'), '"*" must be the only type')
  .meta({ description: 'Event types, or `["*"]` for all', example: ['pool.live', 'airdrop.claimed'] })

export const COMMITMENTS = ['confirmed', 'finalized'] as const
const commitment = z.enum(COMMITMENTS).meta({
  description:
    'State that the transaction of an event must reach before it is delivered. `finalized` comes some seconds later, and never reports what a fork undoes',
})

const filter = nullOr(webhookFilter).meta({
  description: 'Which events of `enabled_events` are delivered; null for all. Without effect on `webhook.test_event`',
})

/** The subscription as its test event has it. */
export const storedSubscription = z.object({
  id: z.string(),
  url: z.url(),
  enabled_events: z.array(z.enum([...EVENT_TYPES, '*'])),
  filter,
  active: z.boolean(),
  commitment,
  secret_preview: z.string().meta({ description: 'Last 4 characters of the secret' }),
  disabled_reason: z.string().nullable().meta({ description: 'Why deliveries stopped; null while active' }),
  created_at: timestamp,
  updated_at: timestamp,
})

export const webhookSubscription = storedSubscription
  .extend({
    failing_since: timestamp
      .nullable()
      .meta({ description: 'First failed attempt since the last success; null if the last attempt to end succeeded' }),
    next_attempt_at: timestamp.nullable().meta({ description: 'When the next failed delivery is repeated' }),
    last_attempt_at: timestamp.nullable().meta({ description: 'Null before the first attempt' }),
    last_status: z.enum(['succeeded', 'failed']).nullable(),
    last_response_code: z.int().nullable().meta({ description: 'HTTP status; null if the receiver did not answer' }),
  })
  .openapi('WebhookSubscription')

const sampled = {
  sample_event: nullOr(event).meta({ description: 'An event that the filter matches, made up; null without a filter' }),
}

const secret = z.string().meta({ description: 'Signing secret, shown only this once' })

export const webhookSubscriptionCreated = webhookSubscription
  .extend({ secret, ...sampled })
  .openapi('WebhookSubscriptionCreated')
export const webhookSubscriptionChanged = webhookSubscription.extend(sampled).openapi('WebhookSubscriptionChanged')

export const webhookSecretRotated = webhookSubscription
  .extend({
    secret,
    previous_secret_expires_at: timestamp
      .nullable()
      .meta({ description: 'Until this time the old secret signs too; null without an overlap' }),
  })
  .openapi('WebhookSecretRotated')

export const webhookDelivery = z
  .object({
    id: z.string(),
    event_id: z.string(),
    attempt: z.int().min(1),
    status: z.enum(DELIVERY_STATUSES),
    response_code: z.int().nullable(),
    duration_ms: z.int().min(0).nullable(),
    error: z.string().nullable(),
    response_body: z.string().nullable().meta({
      description:
        'Beginning of the answer as printable text: 2 KiB of a failure, 256 bytes of a success. Secrets are masked; null if it was empty',
    }),
    next_attempt_at: timestamp.nullable(),
    created_at: timestamp,
  })
  .openapi('WebhookDelivery')

export const webhookDeliveryDetails = webhookDelivery
  .extend({
    request: z.object({
      headers: z
        .record(z.string(), z.string())
        .meta({ description: 'Headers that identify the attempt; its signatures are masked' }),
      body: nullOr(event).meta({ description: 'The event that was sent; null if it was removed since' }),
    }),
  })
  .openapi('WebhookDeliveryDetails')

export const webhookStats = z
  .object({
    since: timestamp.meta({ description: 'Attempts since then are counted: the last 24 hours' }),
    attempts: z.int().min(0),
    succeeded: z.int().min(0),
    failed: z.int().min(0),
    success_percent: z
      .number()
      .min(0)
      .max(100)
      .nullable()
      .meta({ description: 'With one decimal; null without attempts' }),
    p50_ms: z.int().min(0).nullable().meta({ description: 'Half of the answers came within this time' }),
    p95_ms: z.int().min(0).nullable(),
    truncated: z.boolean().meta({ description: 'Whether only the latest 5,000 attempts were counted' }),
  })
  .openapi('WebhookStats')

export const webhookReplay = z
  .object({
    queued: z.int().min(0).meta({ description: 'Events that are already queued to be delivered again' }),
    through_sequence: z
      .int()
      .min(0)
      .optional()
      .meta({ description: 'With `since`: all that is wanted of the events up to this sequence is queued' }),
    last_sequence: z.int().min(0).optional().meta({
      description:
        'With `since`: the replay ends with this event; where it is above `through_sequence`, the rest is queued in the background',
    }),
  })
  .openapi('WebhookReplay')

export type WebhookSubscription = z.output<typeof webhookSubscription>
export type WebhookSubscriptionCreated = z.output<typeof webhookSubscriptionCreated>
export type WebhookSecretRotated = z.output<typeof webhookSecretRotated>
export type WebhookDelivery = z.output<typeof webhookDelivery>
export type StoredSubscription = z.output<typeof storedSubscription>
export type WebhookStats = z.output<typeof webhookStats>

/** For the description of every write to a subscription. */
const OWN = 'Only for the key that made the subscription, or one with the scope `*`.'

const subscriptionParams = z.object({ id: recordId.meta({ example: 'whs_3kFz8NcR5uJq2XwTa9VbM7Hd' }) })
const FILTER =
  '`filter` is checked against the fields of the wanted events, and the answer shows an event that matches it.'

const WEBHOOK_SUBSCRIPTIONS_TAG: Tag = {
  name: 'Webhook subscriptions',
  description: 'Where events are delivered to: subscribe, test, look at deliveries, replay, rotate the secret.',
}

export const webhookSubscriptions = {
  create: defineRoute({
    at: ['post', '/v2/webhook-subscriptions'],
    tag: WEBHOOK_SUBSCRIPTIONS_TAG,
    atomic: true,
    summary: 'Subscribe a URL to events',
    description: `The answer contains the whole secret, only this once. ${FILTER}`,
    body: writeBody({
      url: receiverUrl,
      enabled_events: enabledEvents,
      filter: filter.optional(),
      commitment: commitment.default('confirmed'),
    }),
    data: webhookSubscriptionCreated,
    status: 201,
  }),
  list: defineRoute({
    at: ['get', '/v2/webhook-subscriptions'],
    tag: WEBHOOK_SUBSCRIPTIONS_TAG,
    summary: 'List subscriptions, newest first',
    description: 'All subscriptions of this installation, made with any key. Secrets are never shown again.',
    query: listQuery({ active: queryFlag.optional() }),
    data: webhookSubscription,
    list: true,
  }),
  get: defineRoute({
    at: ['get', '/v2/webhook-subscriptions/{id}'],
    tag: WEBHOOK_SUBSCRIPTIONS_TAG,
    summary: 'Read one subscription',
    description: 'With the reason where it was switched off after deliveries had failed.',
    params: subscriptionParams,
    data: webhookSubscription,
  }),
  update: defineRoute({
    at: ['patch', '/v2/webhook-subscriptions/{id}'],
    tag: WEBHOOK_SUBSCRIPTIONS_TAG,
    atomic: true,
    summary: 'Change the URL, events or filter of a subscription, or switch it on or off',
    description: `Omitted fields stay unchanged; \`filter: null\` removes the filter. ${FILTER} ${OWN}`,
    params: subscriptionParams,
    body: writeBody({
      url: receiverUrl.optional(),
      enabled_events: enabledEvents.optional(),
      filter: filter.optional(),
      active: z.boolean().optional(),
      commitment: commitment.optional(),
    }),
    example: { active: false },
    data: webhookSubscriptionChanged,
  }),
  delete: defineRoute({
    at: ['delete', '/v2/webhook-subscriptions/{id}'],
    tag: WEBHOOK_SUBSCRIPTIONS_TAG,
    atomic: true,
    summary: 'Remove a subscription',
    description: `Queued deliveries are dropped. ${OWN}`,
    params: subscriptionParams,
    body: writeBody({}),
    data: deletedSchema,
  }),
  test: defineRoute({
    at: ['post', '/v2/webhook-subscriptions/{id}/test'],
    tag: WEBHOOK_SUBSCRIPTIONS_TAG,
    atomic: true,
    summary: 'Send `webhook.test_event` to a subscription',
    description: `Delivers \`webhook.test_event\` only to this subscription. ${OWN}`,
    params: subscriptionParams,
    body: writeBody({}),
    data: event,
  }),
  deliveries: defineRoute({
    at: ['get', '/v2/webhook-subscriptions/{id}/deliveries'],
    tag: WEBHOOK_SUBSCRIPTIONS_TAG,
    summary: 'List every delivery attempt, newest first',
    description: 'Attempts are stored for 30 days.',
    params: subscriptionParams,
    query: listQuery({ status: z.enum(['succeeded', 'failed']).optional() }),
    data: webhookDelivery,
    list: true,
  }),
  delivery: defineRoute({
    at: ['get', '/v2/webhook-subscriptions/{id}/deliveries/{delivery_id}'],
    tag: WEBHOOK_SUBSCRIPTIONS_TAG,
    summary: 'Read one attempt, with what was sent and what was answered',
    description: 'The body is the event, as it was sent. Signatures and secrets are masked.',
    params: subscriptionParams.extend({ delivery_id: recordId.meta({ example: 'whd_0Mh4sPqY7tLx2RzKc9BvDn6G' }) }),
    data: webhookDeliveryDetails,
  }),
  stats: defineRoute({
    at: ['get', '/v2/webhook-subscriptions/{id}/stats'],
    tag: WEBHOOK_SUBSCRIPTIONS_TAG,
    summary: 'Count the attempts of the last 24 hours, and how long the receiver took',
    description: 'At most the latest 5,000 attempts are read.',
    params: subscriptionParams,
    data: webhookStats,
  }),
  replay: defineRoute({
    at: ['post', '/v2/webhook-subscriptions/{id}/replays'],
    tag: WEBHOOK_SUBSCRIPTIONS_TAG,
    summary: 'Deliver events again',
    description: `${OWN} The events in \`event_ids\` are queued at once. With \`since\` only the first events are queued at once; a stored replay queues the others step by step as fast as the receiver accepts them. A subscription can have at most 10 such replays at a time.`,
    params: subscriptionParams,
    body: writeBody({
      event_ids: z.array(recordId).min(1).max(100).optional(),
      since: moment.optional(),
    }).superRefine(({ event_ids, since }, context) => {
      if (event_ids === undefined && since === undefined) {
        context.addIssue({ code: 'custom', path: ['event_ids'], message: 'event_ids or since is required' })
      } else if (event_ids !== undefined && since !== undefined) {
        context.addIssue({ code: 'custom', path: ['since'], message: 'send either event_ids or since, not both' })
      }
    }),
    example: { since: '2026-11-21T00:00:00Z' },
    data: webhookReplay,
  }),
  rotateSecret: defineRoute({
    at: ['post', '/v2/webhook-subscriptions/{id}/secret-rotations'],
    tag: WEBHOOK_SUBSCRIPTIONS_TAG,
    atomic: true,
    summary: 'Replace the secret of a subscription',
    description: `The answer contains the new secret, only this once. The old one signs too for \`overlap_hours\`; with 0, no earlier secret signs. At most five earlier secrets sign at a time. ${OWN}`,
    params: subscriptionParams,
    body: writeBody({ overlap_hours: z.int().min(0).max(168).default(24) }),
    data: webhookSecretRotated,
  }),
}
