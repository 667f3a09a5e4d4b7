/** Who can end a stake, and which stake its record repeats: the words of an older one never take the place of a newer one's. */
import type { Kysely, Migration } from 'kysely'

export function stakeTables(): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema.alterTable('stakes').addColumn('freeze_authority', 'text').execute()
      for (const name of ['said_slot', 'said_order']) {
        await db.schema
          .alterTable('stakes')
          .addColumn(name, 'bigint', (column) => column.notNull().defaultTo(0))
          .execute()
      }
    },
  }
}
