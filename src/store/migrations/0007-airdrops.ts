/** What following an airdrop takes: its account on chain, the chain that it was seen on, and when to look at it again. */
import { type Kysely, type Migration, sql } from 'kysely'

export function airdropTables(): Migration {
  return {
    async up(db: Kysely<unknown>) {
      const table = () => db.schema.alterTable('merkle_trees')
      await table().addColumn('distributor', 'text').execute()
      await table()
        .addColumn('genesis', 'text', (column) => column.notNull().defaultTo(''))
        .execute()
      await table().addColumn('next_check_at', 'bigint').execute()
      // Trees that were stored before this: their accounts are derived when they are looked at.
      await sql`update merkle_trees set next_check_at = 0`.execute(db)
      for (const name of ['distributor', 'next_check_at']) {
        await db.schema.createIndex(`merkle_trees_by_${name}`).on('merkle_trees').column(name).execute()
      }
      await db.schema.createIndex('pools_by_base_mint').on('pools').column('base_mint').execute()
    },
  }
}
