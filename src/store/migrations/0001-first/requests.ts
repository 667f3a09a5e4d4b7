/** Tables of requests: API keys, what each has used of its rate limits, and idempotency keys. */
import type { SchemaDialect } from '../dialect.ts'

export const requestTables = ({ sequence, blob }: SchemaDialect): string[] => [
  `create table api_keys (
    seq ${sequence},
    id text not null unique,
    name text not null,
    preview text not null,
    scopes_json text not null,
    status text not null,
    hash text not null unique,
    per_minute integer,
    per_day integer,
    revoked_at bigint,
    created_at bigint not null
  )`,
  `create table rate_hits (
    api_key_id text not null,
    at bigint not null,
    count bigint not null,
    total bigint not null,
    constraint rate_hits_pk primary key (api_key_id, at)
  )`,
  'create index rate_hits_by_at on rate_hits (at)',
  `create table idempotency_keys (
    api_key_id text not null,
    key text not null,
    request_hash text not null,
    state text not null,
    owner text not null,
    lease_until bigint not null,
    signing_id text,
    status integer,
    response ${blob},
    expires_at bigint not null,
    created_at bigint not null,
    constraint idempotency_keys_pk primary key (api_key_id, key)
  )`,
  'create index idempotency_keys_by_expires_at on idempotency_keys (expires_at)',
  'create index idempotency_keys_by_owner_state on idempotency_keys (owner, state)',
]
