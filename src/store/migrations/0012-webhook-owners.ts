/** Which API key made a webhook subscription; those from before belong to none, so that only `*` changes them. */
import type { Kysely, Migration } from 'kysely'

export function webhookOwners(): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema.alterTable('webhook_subscriptions').addColumn('api_key_id', 'text').execute()
    },
  }
}
