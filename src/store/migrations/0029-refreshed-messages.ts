/** Creates the table of messages that were given a fresh blockhash, and finds submitted transactions by theirs. */
import type { Kysely, Migration } from 'kysely'

export function refreshedMessages(): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable('refreshed_messages')
        .addColumn('message_sha256', 'text', (column) => column.primaryKey())
        .addColumn('first_sha256', 'text', (column) => column.notNull())
        .addColumn('blockhash', 'text', (column) => column.notNull())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .execute()
      for (const name of ['first_sha256', 'created_at']) {
        await db.schema.createIndex(`refreshed_messages_by_${name}`).on('refreshed_messages').column(name).execute()
      }
      await db.schema.createIndex('transactions_by_blockhash').on('transactions').column('blockhash').execute()
    },
  }
}
