/** Counts how often any process completed a job, so that a process that never gets the lease can see progress. */
import type { Kysely, Migration } from 'kysely'

export function leaseProgress(): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema
        .alterTable('leases')
        .addColumn('done', 'bigint', (column) => column.notNull().defaultTo(0))
        .execute()
    },
  }
}
