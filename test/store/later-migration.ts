/** A migration after the released ones, made up for tests: it adds a column and a table, and copies events into the table. */
import { sql } from 'kysely'
import { runStatements, type SteppedMigration } from '../../src/store/migrations/dialect.ts'
import { MIGRATIONS, migrationNames } from '../../src/store/schema.ts'

/** The last migration of this program. */
export const RELEASED = migrationNames().at(-1)!
export const LATER = '9000-made-up'
const EVENTS_PER_STEP = 100

/** With `stopsAfter`, the step after that many events never ends. */
const later = (stopsAfter: number): SteppedMigration => ({
  up: (db) =>
    runStatements(db, [
      'alter table tokens add column made_up text',
      'create table event_copies (sequence bigint primary key)',
    ]),
  async fill(db, after) {
    const place = Number(after)
    if (place >= stopsAfter) await new Promise(() => {})
    const last = place + EVENTS_PER_STEP
    // The primary key refuses a step that runs twice.
    await sql`insert into event_copies (sequence)
      select sequence from events where sequence > ${place} and sequence <= ${last}`.execute(db)
    const { rows } = await sql`select 1 from events where sequence > ${last} limit 1`.execute(db)
    return rows.length > 0 ? String(last) : null
  },
})

/** Adds the migration to this program; returns what takes it away again. */
export function addLaterMigration(stopsAfter = Number.POSITIVE_INFINITY): () => void {
  MIGRATIONS[LATER] = () => later(stopsAfter)
  return () => {
    delete MIGRATIONS[LATER]
  }
}
