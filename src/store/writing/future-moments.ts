/**
 * Corrects stored times that are too far in the future. An index finds them, and small steps let other writes run in
 * between.
 */
import { sql } from 'kysely'
import type { Tables } from '../schema.ts'
import type { Store } from '../store.ts'

/**
 * Maximum difference in milliseconds between clocks of daemons that share a database; smaller ones are not corrected.
 */
export const CLOCK_SLACK_MS = 60_000
/** Maximum number of rows per commit. */
const STEP = 500

export interface FutureMoments {
  table: keyof Tables & string
  /** Column that identifies a row. */
  key: string
  column: string
  /** Maximum milliseconds between a stored time and the clock that wrote it. */
  reachMs: number
}

/** Sets up to 500 times later than `after` to `to`, both in Unix milliseconds; returns the number of rows. */
export async function pullBack(
  store: Store,
  { table, key, column }: FutureMoments,
  { after, to }: { after: number; to: number },
): Promise<number> {
  const [rows, id, moment] = [sql.table(table), sql.ref(key), sql.ref(column)]
  const late = sql`${moment} > ${after}`
  const lateRows = await sql<{
    id: string | number
  }>`select ${id} as id from ${rows} where ${late} limit ${STEP}`.execute(store.db)
  if (lateRows.rows.length === 0) return 0
  const ids = sql.join([...new Set(lateRows.rows.map((row) => row.id))])
  // The `case` keeps the planner from using the time's index, which would read up to a million late rows in each step.
  const stillLate = sql`case when ${late} then 1 else 0 end = 1`
  const { numAffectedRows } = await store.write((tx) =>
    sql`update ${rows} set ${moment} = ${to} where ${id} in (${ids}) and ${stillLate}`.execute(tx),
  )
  return Number(numAffectedRows ?? 0n)
}
