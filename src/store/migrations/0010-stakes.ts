/** Adds who can end a stake and the position of the stake that the record describes, so that an older stake never overwrites a newer one. */
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
