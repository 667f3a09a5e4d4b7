/** Tables of webhooks: subscriptions, the delivery queue, attempts, replays and removals. */
import type { Generated } from 'kysely'

interface WebhookSubscriptionsTable {
  seq: Generated<number>
  id: string
  /** API key that created it; null if it is not recorded. */
  api_key_id: string | null
  url: string
  enabled_events_json: string
  /** Filter of the events of these types; null for all. */
  filter_json: string | null
  active: number
  /** Sealed signing secret. */
  secret: Buffer
  secret_preview: string
  /** Rotated secrets as `[{ secret, until }]`, sealed and in base64, newest first; each also signs until its time. */
  previous_secrets_json: Generated<string>
  /** Number of URL changes and reactivations; failures from before the last one are ignored. */
  receiver_revision: Generated<number>
  disabled_reason: string | null
  /** What an event's transaction must have reached before the event is delivered. */
  commitment: Generated<'confirmed' | 'finalized'>
  /** Sequence up to which events have been checked for this subscription. */
  cursor: Generated<number>
  created_at: number
  updated_at: number
}

interface WebhookDeliveriesTable {
  seq: Generated<number>
  id: string
  subscription_id: string
  event_id: string
  attempt: number
  status: string
  response_code: number | null
  duration_ms: number | null
  error: string | null
  /** The first characters of the receiver's answer, printable and without secrets; null if it sent none. */
  response_body: string | null
  next_attempt_at: number | null
  created_at: number
}

/** One event for one subscription, stored until it is delivered. */
interface WebhookQueueTable {
  seq: Generated<number>
  subscription_id: string
  event_id: string
  /** Sequence of the event. */
  sequence: number
  /** Resource of the event; first attempts of one resource start in order. */
  resource: string
  /**
   * `held`: it failed seven times and waits until its subscription is reactivated. `unfinal`: its subscription wants
   * final events, and this one is not known to be final.
   */
  state: 'waiting' | 'held' | 'unfinal'
  /** Number of attempts since it was queued, replayed or resumed. */
  attempts: number
  next_attempt_at: number
  /** Time until which a process works on the delivery; after that, the process is considered dead. */
  claimed_until: number
}

/** Past events that are queued again for one subscription step by step; the row is deleted once all are queued. */
interface WebhookReplaysTable {
  seq: Generated<number>
  subscription_id: string
  /** Time from which events are replayed. */
  since: number
  /** Event types that the subscription had enabled at the time of the request; null means all. */
  types_json: string | null
  /** Filter of the subscription at the time of the request; null for all events of these types. */
  filter_json: string | null
  /**
   * The subscription's cursor at the time of the request; later events are delivered once, by the replay or by regular
   * delivery.
   */
  come_to: number
  /** Sequence up to which events are queued; the replay ends at `last`. */
  through: number
  last: number
  created_at: number
}

/** Removed subscriptions, stored until their queues and delivery records are deleted too. */
interface WebhookRemovalsTable {
  seq: Generated<number>
  subscription_id: string
  removed_at: number
}

export interface WebhookTables {
  webhook_subscriptions: WebhookSubscriptionsTable
  webhook_deliveries: WebhookDeliveriesTable
  webhook_queue: WebhookQueueTable
  webhook_replays: WebhookReplaysTable
  webhook_removals: WebhookRemovalsTable
}
