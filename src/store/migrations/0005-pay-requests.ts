/** The fifth migration: builds that a wallet fetches after it has read a QR code. */
import { runStatements, type SchemaDialect, type SteppedMigration } from './dialect.ts'

export const payRequests = ({ sequence }: SchemaDialect): SteppedMigration => ({
  up: (db) =>
    runStatements(db, [
      `create table pay_requests (
        seq ${sequence},
        id text not null unique,
        api_key_id text not null,
        method text not null,
        path text not null,
        body_json text not null,
        account text,
        url text not null,
        reference text not null,
        genesis text not null,
        state text not null,
        signature text,
        tracked_resource_json text,
        builds integer not null,
        recent_builds_json text not null,
        held_by text,
        held_until bigint not null,
        seen_signature text,
        next_look_at bigint,
        expires_at bigint not null,
        external_uid text,
        metadata_json text,
        created_at bigint not null
      )`,
      'create index pay_requests_by_api_key_id on pay_requests (api_key_id, seq)',
      'create index pay_requests_by_next_look_at on pay_requests (next_look_at) where next_look_at is not null',
      'create index pay_requests_by_expires_at on pay_requests (expires_at)',
    ]),
})
