/** Tables of events. */
import type { SchemaDialect } from '../dialect.ts'

export const eventTables = ({ blob, number }: SchemaDialect): string[] => [
  // Only `latest_at` increases with the sequence when clocks jump, so events are searched by it.
  `create table events (
    sequence ${number} primary key,
    id text not null unique,
    type text not null,
    resource_type text not null,
    resource_id text not null,
    object_json text not null,
    dedupe_key text not null unique,
    latest_at bigint not null default 0,
    external_uid text,
    metadata_json text,
    created_at bigint not null
  )`,
  'create index events_by_type_sequence on events (type, sequence)',
  'create index events_by_resource_type_resource_id_sequence on events (resource_type, resource_id, sequence)',
  'create index events_by_resource_id_sequence on events (resource_id, sequence)',
  'create index events_by_latest_at on events (latest_at, sequence)',
  'create index events_by_resource_type on events (resource_type, sequence)',
  'create index events_by_type_resource_type on events (type, resource_type, sequence)',
  'create index events_by_type_resource_id on events (type, resource_id, sequence)',
  'create index events_by_type_resource_type_resource_id on events (type, resource_type, resource_id, sequence)',
  `create table removed_event_keys (
    key_hash ${blob} primary key
  )`,
]
