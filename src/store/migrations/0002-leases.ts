/** Adds leases, which assign each background job to one process. */
import type { Kysely, Migration } from 'kysely'

export function leases(): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable('leases')
        .addColumn('name', 'text', (column) => column.primaryKey())
        .addColumn('owner', 'text', (column) => column.notNull())
        .addColumn('until', 'bigint', (column) => column.notNull())
        .addColumn('slot', 'bigint', (column) => column.notNull())
        .execute()
    },
  }
}
