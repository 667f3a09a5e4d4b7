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
      'alter table transactions add column retried_at bigint',
      // Only what failed, in the order of the list.
      `create index transactions_failed on transactions (created_at, signature) where lifecycle = 'failed'`,
      'create index pools_by_status_created_at on pools (status, created_at)',
      'create index merkle_trees_by_status_created_at on merkle_trees (status, created_at)',
      'create index sponsorships_by_enabled on sponsorships (enabled, airdrop_id)',
      'create index sponsored_claims_by_airdrop on sponsored_claims (airdrop_id, seq)',
      'create index attention_observations_by_since on attention_observations (since, kind, subject)',
    ]),
})
