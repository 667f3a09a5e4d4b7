/** Adds columns for following an airdrop: its account on chain, the chain on which it was found, and its next check. */
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
      // Existing trees are scheduled for a check, which derives their accounts.
      await sql`update merkle_trees set next_check_at = 0`.execute(db)
      for (const name of ['distributor', 'next_check_at']) {
        await db.schema.createIndex(`merkle_trees_by_${name}`).on('merkle_trees').column(name).execute()
      }
      await db.schema.createIndex('pools_by_base_mint').on('pools').column('base_mint').execute()
    },
  }
}
