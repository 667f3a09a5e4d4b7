/** Adds the time at which a launch was submitted, and an index by ticker, as the second pool with the same ticker is refused. */
import { type Kysely, type Migration, sql } from 'kysely'

export function poolSubmissions(): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema.alterTable('pools').addColumn('submitted_at', 'bigint').execute()
      await db.schema.createIndex('pools_by_ticker').on('pools').expression(sql`upper(symbol)`).execute()
    },
  }
}
