/** Adds the seal of audit entries. Existing entries are sealed when the vault, whose key this requires, is opened next. */
import type { Kysely, Migration } from 'kysely'

export function auditSeals(): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema.alterTable('audit_entries').addColumn('seal', 'text').execute()
    },
  }
}
