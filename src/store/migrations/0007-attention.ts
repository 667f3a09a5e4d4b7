/** The seventh migration: what needs a person, as far as no other table shows it, and what is snoozed. */
import { runStatements, type SchemaDialect, type SteppedMigration } from './dialect.ts'

export const attention = (_: SchemaDialect): SteppedMigration => ({
  up: (db) =>
    runStatements(db, [
      `create table attention_snoozes (
        kind text not null,
        subject text not null,
        until bigint not null,
        reason text not null,
        snoozed_at bigint not null,
        snoozed_by text not null,
        constraint attention_snoozes_key primary key (kind, subject)
      )`,
      'create index attention_snoozes_by_until on attention_snoozes (until)',
      `create table attention_observations (
        kind text not null,
        subject text not null,
        since bigint not null,
        facts_json text not null,
        observed_at bigint not null,
        constraint attention_observations_key primary key (kind, subject)
      )`,
      'alter table pools add column crank_failed_at bigint',
      'create index attention_observations_by_since on attention_observations (since, kind, subject)',
    ]),
})
