/** Adds the API key that created a webhook subscription. Earlier ones have none, so that only the scope `*` can change them. */
import type { Kysely, Migration } from 'kysely'

export function webhookOwners(): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema.alterTable('webhook_subscriptions').addColumn('api_key_id', 'text').execute()
    },
  }
}
