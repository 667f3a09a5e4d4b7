/** The sixth migration: indexes that find transactions by their bundle and by the caller's own id. */
import { runStatements, type SteppedMigration } from './dialect.ts'

export const transactionSearch = (): SteppedMigration => ({
  up: (db) =>
    runStatements(db, [
      'drop index transactions_by_bundle_id',
      'create index transactions_by_bundle on transactions (bundle_id, seq) where bundle_id is not null',
      `create index transactions_by_external_uid on transactions (external_uid, seq)
        where external_uid is not null`,
    ]),
})
