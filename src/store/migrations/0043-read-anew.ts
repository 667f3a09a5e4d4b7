/** Adds to transactions that were found on the chain which accounts were followed when each was read. */
import type { Kysely, Migration } from 'kysely'

export function readAnew(): Migration {
  return {
    async up(db: Kysely<unknown>) {
      // What was read before counts as read without any, so that an account that is followed from now on reads it anew.
      await db.schema
        .alterTable('chain_transactions')
        .addColumn('accounts_known', 'bigint', (column) => column.notNull().defaultTo(0))
        .execute()
    },
  }
}
