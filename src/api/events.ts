/** Events as they are stored, listed and delivered to webhooks. */
import { z } from '@hono/zod-openapi'
import { listQuery, writeBody } from './envelope.ts'
import { DETECTIONS, eventType } from './event-types.ts'
import { moment } from './filters.ts'
import { storedMetadata } from './metadata.ts'
import { defineRoute, type Tag } from './route.ts'
import { line, recordId } from './scalars.ts'

export const eventTypeItem = z.object({ type: eventType, detection: z.enum(DETECTIONS) }).openapi('EventTypeItem')

const payloadShape = {
  id: z.string().meta({ description: 'The same on every delivery of this event' }),
  type: eventType,
  api_version: z.literal('2.0'),
  created: z.int().min(0).meta({ description: 'Unix seconds' }),
  data: z.object({
    object: z
      .looseObject({ resource_type: z.string(), resource_id: z.string() })
      .meta({ description: 'The resource: its type, its id and its own fields' }),
  }),
  external_uid: z.string().optional().meta({ description: '`externalUid` of the write that caused the event' }),
  metadata: storedMetadata.optional().meta({ description: '`metadata` of the write that caused the event' }),
}

const eventShape = {
  ...payloadShape,
  sequence: z.int().min(1).meta({ description: 'Position in the order of all events, without gaps' }),
}

/** Body of a webhook delivery, also used in OpenAPI's `webhooks` section. */
export const webhookPayload = z.object(eventShape).openapi('WebhookPayload')

/** Headers of a webhook delivery. */
export const deliveryHeaders = z.object({
  'X-Service-Signature': z.string().meta({
    description:
      '`t=<unix time>,v1=<hex>`: HMAC-SHA256 of `<t>.<raw body>`, keyed with the subscription secret; two `v1` during a rotation of the secret',
    example: 't=1795334400,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd',
  }),
})

export const event = z.object(eventShape).openapi('Event')

export type EventTypeItem = z.output<typeof eventTypeItem>
export type WebhookPayload = z.output<typeof webhookPayload>
export type Event = z.output<typeof event>

const comparedEvent = {
  type: eventType,
  resource_type: z.string(),
  resource_id: z.string(),
  signature: z.string(),
}

const eventVerification = z
  .object({
    accounts: z.int().min(0).meta({ description: 'Followed accounts whose history this step has finished' }),
    transactions: z.int().min(0).meta({ description: 'Transactions of the range that this step compared' }),
    events: z.int().min(0).meta({ description: 'Stored events of the range that this step compared' }),
    missing: z
      .array(z.object({ ...comparedEvent, slot: z.int().min(0) }))
      .meta({ description: 'What is on the chain and in no stored event' }),
    unread: z
      .array(z.object({ signature: z.string(), slot: z.int().min(0) }))
      .meta({ description: 'Transactions that were not compared, because the answer of the node cannot be read' }),
    extra: z
      .array(z.object({ id: z.string(), ...comparedEvent, reason: z.enum(['not_on_chain', 'failed']) }))
      .meta({ description: 'Stored events whose transaction the chain does not have, or shows as failed' }),
    next_cursor: z.string().nullable().meta({ description: 'Cursor of the next step; null at the end' }),
  })
  .openapi('EventVerification')

export type EventVerification = z.output<typeof eventVerification>

const eventRepair = eventVerification
  .extend({
    repaired: z
      .array(z.object({ ...comparedEvent, slot: z.int().min(0) }))
      .meta({ description: 'Events that were missing and are stored now, with their records and ledger entries' }),
  })
  .openapi('EventRepair')

export type EventRepair = z.output<typeof eventRepair>

/** A cursor names the next account and the signature to continue after, or the sequence of the last compared event. */
const verificationCursor = z
  .string()
  .regex(
    /^(?:accounts\.[0-9]{1,15}(?:\.[1-9A-HJ-NP-Za-km-z]{86,88})?|events\.[0-9]{1,15})$/,
    'must be a cursor of this list',
  )

const EVENTS_TAG: Tag = {
  name: 'Events',
  description: 'Everything that happened: each event is reported once, and can be checked against the chain.',
}

export const events = {
  verify: defineRoute({
    at: ['get', '/v2/event-verification'],
    tag: EVENTS_TAG,
    summary: 'Compare stored events with the chain',
    description:
      'Checks the transactions of followed accounts in a range of time, by the chain’s clock. It finds missing events, and stored events that the chain does not confirm. Each call is one step of at most 60 requests to the node; `next_cursor` continues.',
    query: z.strictObject({ since: moment, until: moment.optional(), cursor: verificationCursor.optional() }),
    data: eventVerification,
    scope: '*',
  }),
  repair: defineRoute({
    at: ['post', '/v2/event-repairs'],
    tag: EVENTS_TAG,
    summary: 'Store the events that are missing, with their records and ledger entries',
    description:
      'Compares like `GET /v2/event-verification`. Each transaction with a missing event is read again, and its records, events and ledger entries are written as if it had just been found, each once. `missing` names what is missing still. Each call is one step of at most 150 requests to the node; `next_cursor` continues. A repaired record can make later transactions count, so repeat until a whole pass repairs nothing.',
    body: writeBody({ since: moment, until: moment.optional(), cursor: verificationCursor.optional() }),
    data: eventRepair,
    scope: '*',
  }),
  list: defineRoute({
    at: ['get', '/v2/events'],
    tag: EVENTS_TAG,
    summary: 'List stored events',
    description: 'Newest first. With `order=asc` oldest first, so that the cursor can follow new events.',
    query: listQuery({
      type: eventType.optional(),
      resource_type: line(64).optional().meta({ example: 'pool' }),
      resource_id: line(256).optional(),
      created_after: moment.optional(),
      order: z.enum(['asc', 'desc']).default('desc'),
    }),
    data: event,
    list: true,
  }),
  get: defineRoute({
    at: ['get', '/v2/events/{id}'],
    tag: EVENTS_TAG,
    summary: 'Read one event',
    description: 'The same body that was delivered, for as long as events are stored.',
    params: z.object({ id: recordId.meta({ example: 'evt_0Mh4sPqY7tLx2RzKc9BvDn6G' }) }),
    data: event,
  }),
}
