/** The thirteenth migration: filters of subscriptions, answers of receivers, and an index for the state of a receiver. */
import { runStatements, type SteppedMigration } from './dialect.ts'

export const webhookFilters = (): SteppedMigration => ({
  up: (db) =>
    runStatements(db, [
      'alter table webhook_subscriptions add column filter_json text',
      'alter table webhook_replays add column filter_json text',
      'alter table webhook_deliveries add column response_body text',
      'create index webhook_deliveries_by_status on webhook_deliveries (subscription_id, status, seq)',
    ]),
})
