/** The ninth migration: links and sessions of the console. */
import { runStatements, type SchemaDialect, type SteppedMigration } from './dialect.ts'

export const consoleSessions = ({ sequence }: SchemaDialect): SteppedMigration => ({
  up: (db) =>
    runStatements(db, [
      `create table console_sessions (
        seq ${sequence},
        id text not null unique,
        secret_hash text not null unique,
        role text not null,
        api_key_id text not null,
        opened_at bigint,
        seen_at bigint,
        seen_from text,
        expires_at bigint not null,
        created_at bigint not null
      )`,
      'create index console_sessions_by_api_key_id on console_sessions (api_key_id)',
      'create index console_sessions_by_expires_at on console_sessions (expires_at)',
    ]),
})
