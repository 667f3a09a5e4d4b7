/** Adds the sum of the locked amounts to merkle trees; those that are stored already have none. */
import type { Kysely, Migration } from 'kysely'

export function lockedAmounts(): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema
        .alterTable('merkle_trees')
        .addColumn('total_locked', 'text', (column) => column.notNull().defaultTo('0'))
        .execute()
    },
  }
}
