/** Tables of webhooks: subscriptions, the delivery queue, attempts, replays and removals. */
import type { SchemaDialect } from '../dialect.ts'

export const webhookTables = ({ sequence, blob }: SchemaDialect): string[] => [
  `create table webhook_subscriptions (
    seq ${sequence},
    id text not null unique,
    url text not null,
    enabled_events_json text not null,
    secret_preview text not null,
    active integer not null,
    secret ${blob} not null,
    disabled_reason text,
    cursor bigint not null default 0,
    previous_secrets_json text not null default '[]',
    receiver_revision integer not null default 0,
    api_key_id text,
    commitment text not null default 'confirmed',
    created_at bigint not null,
    updated_at bigint not null
  )`,
  'create index webhook_subscriptions_by_active on webhook_subscriptions (active, seq)',
  `create table webhook_queue (
    seq ${sequence},
    subscription_id text not null,
    event_id text not null,
    sequence bigint not null,
    resource text not null,
    state text not null,
    attempts integer not null,
    next_attempt_at bigint not null,
    claimed_until bigint not null,
    constraint webhook_queue_once unique (subscription_id, event_id)
  )`,
  // Retries alone: first attempts of a slow receiver can be many.
  `create index webhook_queue_by_due on webhook_queue (subscription_id, state, next_attempt_at, seq)
    where attempts > 0`,
  // First attempts: nearly all of the queue, each for a moment.
  `create index webhook_queue_by_first on webhook_queue (subscription_id, sequence)
    where state = 'waiting' and attempts = 0`,
  `create index webhook_queue_by_resource on webhook_queue (subscription_id, resource, sequence)
    where state = 'waiting' and attempts = 0`,
  'create index webhook_queue_by_sequence on webhook_queue (sequence) where attempts > 0',
  // Only deliveries that wait for their event to be final.
  `create index webhook_queue_by_unfinal on webhook_queue (sequence) where state = 'unfinal'`,
  `create table webhook_deliveries (
    seq ${sequence},
    id text not null unique,
    subscription_id text not null,
    event_id text not null,
    status text not null,
    attempt integer not null,
    response_code integer,
    duration_ms integer,
    error text,
    next_attempt_at bigint,
    created_at bigint not null
  )`,
  'create index webhook_deliveries_by_subscription_id on webhook_deliveries (subscription_id, seq)',
  'create index webhook_deliveries_by_event_id on webhook_deliveries (event_id)',
  'create index webhook_deliveries_by_created_at on webhook_deliveries (created_at)',
  `create table webhook_replays (
    seq ${sequence},
    subscription_id text not null,
    since bigint not null,
    types_json text,
    come_to bigint not null,
    through bigint not null,
    last bigint not null,
    created_at bigint not null
  )`,
  'create index webhook_replays_by_subscription on webhook_replays (subscription_id, seq)',
  `create table webhook_removals (
    seq ${sequence},
    subscription_id text not null unique,
    removed_at bigint not null
  )`,
]
