/** How often a job was done by whatever process: one that is always refused sees whether another gets on with it. */
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
