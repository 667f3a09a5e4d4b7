/** Room for the seal of each audit entry; those from before are sealed when the vault, whose key it takes, opens next. */
import type { Kysely, Migration } from 'kysely'

export function auditSeals(): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema.alterTable('audit_entries').addColumn('seal', 'text').execute()
    },
  }
}
