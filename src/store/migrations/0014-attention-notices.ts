/** The fourteenth migration: what the receivers of notices were told. */
import { runStatements, type SteppedMigration } from './dialect.ts'

export const attentionNotices = (): SteppedMigration => ({
  up: (db) =>
    runStatements(db, [
      `create table attention_notices (
        receiver text not null,
        kind text not null,
        subject text not null,
        item_json text not null,
        noticed_at bigint not null,
        told_at bigint,
        ended_at bigint,
        constraint attention_notices_key primary key (receiver, kind, subject)
      )`,
      `create table attention_receivers (
        receiver text not null primary key,
        minute_at bigint not null,
        sent integer not null,
        failures integer not null,
        next_attempt_at bigint not null
      )`,
    ]),
})
