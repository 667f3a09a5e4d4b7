/** Adds the position of the last known change of an NFT or a stake, so that older confirmations cannot undo newer ones. */
import type { Kysely, Migration } from 'kysely'

export function assetTables(): Migration {
  return {
    async up(db: Kysely<unknown>) {
      for (const table of ['nfts', 'stakes']) {
        for (const name of ['changed_slot', 'changed_order']) {
          await db.schema
            .alterTable(table)
            .addColumn(name, 'bigint', (column) => column.notNull().defaultTo(0))
            .execute()
        }
      }
    },
  }
}
