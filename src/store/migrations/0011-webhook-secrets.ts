/** Stores all rotated secrets that are still used for signing instead of only the last, and counts changes of the receiver. */
import type { Kysely, Migration } from 'kysely'

interface Before {
  webhook_subscriptions: {
    id: string
    previous_secret: Buffer | null
    previous_secret_until: number | null
    previous_secrets_json: string
  }
}

export function webhookSecrets(): Migration {
  return {
    async up(untyped: Kysely<unknown>) {
      const db = untyped as Kysely<Before>
      await db.schema
        .alterTable('webhook_subscriptions')
        .addColumn('previous_secrets_json', 'text', (column) => column.notNull().defaultTo('[]'))
        .execute()
      await db.schema
        .alterTable('webhook_subscriptions')
        .addColumn('receiver_revision', 'integer', (column) => column.notNull().defaultTo(0))
        .execute()
      const columns = ['id', 'previous_secret', 'previous_secret_until'] as const
      for (const row of await db.selectFrom('webhook_subscriptions').select(columns).execute()) {
        if (row.previous_secret === null) continue
        const previous = [{ secret: row.previous_secret.toString('base64'), until: row.previous_secret_until ?? 0 }]
        await db
          .updateTable('webhook_subscriptions')
          .set({ previous_secrets_json: JSON.stringify(previous) })
          .where('id', '=', row.id)
          .execute()
      }
      for (const name of ['previous_secret', 'previous_secret_until']) {
        await db.schema.alterTable('webhook_subscriptions').dropColumn(name).execute()
      }
    },
  }
}
