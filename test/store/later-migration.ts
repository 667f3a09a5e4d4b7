/** A migration after the released ones, made up for tests: it adds a column and a table, and copies events into the table. */
import { sql } from 'kysely'
import { runStatements, type SteppedMigration } from '../../src/store/migrations/dialect.ts'
import { MIGRATIONS, migrationNames } from '../../src/store/schema.ts'

/** The migrations of this program, and the last of them. */
export const ALL_RELEASED = migrationNames()
export const RELEASED = ALL_RELEASED.at(-1)!
export const LATER = '9000-made-up'
const EVENTS_PER_STEP = 100

/** With `stopsAfter`, the step after that many events does what `stop` does. */
const later = (stopsAfter: number, stop: () => Promise<never>): SteppedMigration => ({
  up: (db) =>
    runStatements(db, [
      'alter table tokens add column made_up text',
      'create table event_copies (sequence bigint primary key)',
    ]),
  async fill(db, after) {
    const place = Number(after)
    if (place >= stopsAfter) await stop()
    const last = place + EVENTS_PER_STEP
    // The primary key refuses a step that runs twice.
    await sql`insert into event_copies (sequence)
      select sequence from events where sequence > ${place} and sequence <= ${last}`.execute(db)
    const { rows } = await sql`select 1 from events where sequence > ${last} limit 1`.execute(db)
    return rows.length > 0 ? String(last) : null
  },
})

const never = () => new Promise<never>(() => {})

/** Adds the migration to this program; returns what takes it away again. */
export function addLaterMigration(stopsAfter = Number.POSITIVE_INFINITY, stop = never): () => void {
  MIGRATIONS[LATER] = () => later(stopsAfter, stop)
  return () => {
    delete MIGRATIONS[LATER]
  }
}
