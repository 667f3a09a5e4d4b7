/** Adds columns for following a transaction: how it was submitted, and when to check it and send it again. */
import type { Kysely, Migration } from 'kysely'

export function following(): Migration {
  return {
    async up(db: Kysely<unknown>) {
      const table = () => db.schema.alterTable('transactions')
      for (const name of ['bundle_id', 'nonce_account']) await table().addColumn(name, 'text').execute()
      for (const name of ['since_slot', 'next_check_at', 'next_send_at']) {
        await table().addColumn(name, 'bigint').execute()
      }
      for (const name of ['blockhash', 'genesis']) {
        await table()
          .addColumn(name, 'text', (column) => column.notNull().defaultTo(''))
          .execute()
      }
      for (const name of ['max_retries', 'checked_at', 'sends']) {
        await table()
          .addColumn(name, 'bigint', (column) => column.notNull().defaultTo(0))
          .execute()
      }
      for (const name of ['next_check_at', 'next_send_at', 'bundle_id']) {
        await db.schema.createIndex(`transactions_by_${name}`).on('transactions').column(name).execute()
      }
    },
  }
}
