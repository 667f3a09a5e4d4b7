/** Stored moments that lie too far ahead: found by their index, and pulled back in steps that hold up no other write. */
import { sql } from 'kysely'
import type { Tables } from './schema.ts'
import type { Store } from './store.ts'

/** Clocks of daemons that share a database may differ by so much, without one undoing the plans of another. */
export const CLOCK_SLACK_MS = 60_000
/** Rows of one commit. */
const STEP = 500

export interface FutureMoments {
  table: keyof Tables & string
  /** Column that tells the rows apart. */
  key: string
  column: string
  /** How far ahead of the clock that wrote it a moment may lie, in milliseconds. */
  reachMs: number
}

/** Sets up to 500 moments that are later than `after` to `to`, both Unix milliseconds; answers how many rows that were. */
export async function pullBack(
  store: Store,
  { table, key, column }: FutureMoments,
  { after, to }: { after: number; to: number },
): Promise<number> {
  const [rows, id, moment] = [sql.table(table), sql.ref(key), sql.ref(column)]
  const late = sql`${moment} > ${after}`
  const found = await sql<{ id: string | number }>`select ${id} as id from ${rows} where ${late} limit ${STEP}`.execute(
    store.db,
  )
  if (found.rows.length === 0) return 0
  const ids = sql.join([...new Set(found.rows.map((row) => row.id))])
  // Inside `case` it leads no planner to all that is late: a million of them would be read at every step.
  const stillLate = sql`case when ${late} then 1 else 0 end = 1`
  const { numAffectedRows } = await store.write((tx) =>
    sql`update ${rows} set ${moment} = ${to} where ${id} in (${ids}) and ${stillLate}`.execute(tx),
  )
  return Number(numAffectedRows ?? 0n)
}
