/** The third migration: the transaction whose submission took a pool's ticker, and pools by the key of their config. */
import { runStatements, type SteppedMigration } from './dialect.ts'

export const submittedSignature = (): SteppedMigration => ({
  up: (db) =>
    runStatements(db, [
      'alter table pools add column submitted_signature text',
      'create index pools_by_config on pools (config)',
    ]),
})
