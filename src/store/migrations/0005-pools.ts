/** Adds columns for following a pool: its curve, its next check and its migration target. Also adds the table of used tickers. */
import type { Kysely, Migration } from 'kysely'

export function poolTables(): Migration {
  return {
    async up(db: Kysely<unknown>) {
      const table = () => db.schema.alterTable('pools')
      for (const name of ['preset', 'migrated_to', 'dbc_pool', 'crank_signing', 'crank_signature']) {
        await table().addColumn(name, 'text').execute()
      }
      await table()
        .addColumn('genesis', 'text', (column) => column.notNull().defaultTo(''))
        .execute()
      await table()
        .addColumn('crank_failures', 'bigint', (column) => column.notNull().defaultTo(0))
        .execute()
      await table().addColumn('next_check_at', 'bigint').execute()
      await db.schema.createIndex('pools_by_next_check_at').on('pools').column('next_check_at').execute()
      await db.schema
        .createTable('tickers')
        .addColumn('symbol', 'text', (column) => column.primaryKey())
        .addColumn('pool_address', 'text', (column) => column.notNull())
        .addColumn('taken_at', 'bigint', (column) => column.notNull())
        .execute()
      await db.schema.alterTable('transactions').addColumn('tracked_id', 'text').execute()
      await db.schema.createIndex('transactions_by_tracked_id').on('transactions').column('tracked_id').execute()
      await db.schema.createIndex('fee_claims_by_signature').on('fee_claims').column('signature').execute()
    },
  }
}
