/** Stores amounts as two parts, which both databases can sum exactly and without overflow. */
import { type RawBuilder, sql } from 'kysely'

/** Value of one unit of the high part; the low part is smaller. */
const AMOUNT_PART = 1_000_000_000_000n

/** The two parts of an amount; both are negative for a negative one. */
export const highAndLow = (amount: bigint): { high: number; low: number } => ({
  high: Number(amount / AMOUNT_PART),
  low: Number(amount % AMOUNT_PART),
})

/**
 * Returns the parts of a stored sum after an upsert of `table` has added the inserted ones. The low part's carry goes
 * to the high part.
 */
export function addedParts(table: string, name: string): { high: RawBuilder<number>; low: RawBuilder<number> } {
  const part = sql.lit(Number(AMOUNT_PART))
  const low = addedColumn(table, `${name}_low`)
  return {
    high: sql<number>`${addedColumn(table, `${name}_high`)} + (${low}) / ${part}`,
    low: sql<number>`(${low}) % ${part}`,
  }
}

/** Returns the stored value of a column plus the inserted one, in an upsert of `table`. */
export const addedColumn = (table: string, column: string): RawBuilder<number> =>
  sql<number>`${sql.ref(`${table}.${column}`)} + ${sql.ref(`excluded.${column}`)}`

/** The amount of two summed parts. */
export const amountOfParts = ({ high, low }: { high: string | number; low: string | number }): bigint =>
  BigInt(high) * AMOUNT_PART + BigInt(low)
