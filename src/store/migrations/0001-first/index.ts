/** The first migration: the tables of 0.1.0. It never changes; later changes are separate migrations. */
import { runStatements, type SchemaDialect, type SteppedMigration } from '../dialect.ts'
import { airdropTables } from './airdrops.ts'
import { eventTables } from './events.ts'
import { feeTables } from './fees.ts'
import { ledgerTables } from './ledger.ts'
import { ADMIT_REQUESTS } from './rate-admission.ts'
import { requestTables } from './requests.ts'
import { resourceTables } from './resources.ts'
import { serviceTables } from './service.ts'
import { signingTables } from './signing.ts'
import { transactionTables } from './transactions.ts'
import { webhookTables } from './webhooks.ts'

/**
 * Indexes of lists end in `seq` or `sequence`, so that a page of a filtered list reads only its own rows. Times are
 * Unix milliseconds, booleans are 0 or 1, and `*_json` columns are JSON text.
 */
export const firstStatements = (dialect: SchemaDialect): string[] => [
  ...serviceTables(),
  ...requestTables(dialect),
  ...signingTables(dialect),
  ...eventTables(dialect),
  ...webhookTables(dialect),
  ...transactionTables(dialect),
  ...resourceTables(dialect),
  ...feeTables(dialect),
  ...airdropTables(dialect),
  ...ledgerTables(dialect),
  ...(dialect.rateAdmission ? [ADMIT_REQUESTS] : []),
  "insert into counters (name, value) values ('events', 0), ('events_first', 1), ('audit', 0), ('ledger', 0)",
]

export const first = (dialect: SchemaDialect): SteppedMigration => ({
  up: (db) => runStatements(db, firstStatements(dialect)),
})
