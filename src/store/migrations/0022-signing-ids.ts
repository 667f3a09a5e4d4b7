/** What an idempotency key is bound to is the id of a signing, and the column says so. */
import type { Kysely, Migration } from 'kysely'

export function signingIds(): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema.alterTable('idempotency_keys').renameColumn('signature', 'signing_id').execute()
    },
  }
}
