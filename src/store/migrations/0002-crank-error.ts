/** The second migration: why the platform wallet could not send a pool's migration. */
import { runStatements, type SteppedMigration } from './dialect.ts'

export const crankError = (): SteppedMigration => ({
  up: (db) => runStatements(db, ['alter table pools add column crank_error text']),
})
