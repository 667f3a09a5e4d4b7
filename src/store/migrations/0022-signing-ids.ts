/** Renames the column for the id of a signing to match its content. */
import type { Kysely, Migration } from 'kysely'

export function signingIds(): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema.alterTable('idempotency_keys').renameColumn('signature', 'signing_id').execute()
    },
  }
}
