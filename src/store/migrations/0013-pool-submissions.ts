/** When a launch was submitted, and pools by ticker: of two with the same one, the second is refused. */
import { type Kysely, type Migration, sql } from 'kysely'

export function poolSubmissions(): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema.alterTable('pools').addColumn('submitted_at', 'bigint').execute()
      await db.schema.createIndex('pools_by_ticker').on('pools').expression(sql`upper(symbol)`).execute()
    },
  }
}
