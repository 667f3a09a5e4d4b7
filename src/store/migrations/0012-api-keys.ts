/** The twelfth migration: API keys that expire, that are bound to addresses or were rotated, and their last use. */
import { runStatements, type SteppedMigration } from './dialect.ts'

export const apiKeyTerms = (): SteppedMigration => ({
  up: (db) =>
    runStatements(db, [
      'alter table api_keys add column expires_at bigint',
      'alter table api_keys add column allow_ips_json text',
      'create index api_keys_by_expires_at on api_keys (expires_at) where expires_at is not null',
      `create table previous_api_keys (
        hash text not null,
        api_key_id text not null,
        expires_at bigint not null,
        rotated_at bigint not null,
        constraint previous_api_keys_pk primary key (hash)
      )`,
      'create index previous_api_keys_by_api_key_id on previous_api_keys (api_key_id, expires_at, hash)',
      // Not columns of the key, whose row counting requests locks on PostgreSQL.
      `create table api_key_uses (
        api_key_id text not null,
        used_at bigint not null,
        used_from text not null,
        constraint api_key_uses_pk primary key (api_key_id)
      )`,
    ]),
})
