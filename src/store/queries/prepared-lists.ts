/**
 * Prepared statements over lists of values. Lists are padded to a few lengths, so few statements are compiled and
 * prepared.
 */
import type { Compilable, RawBuilder } from 'kysely'
import type { Reader } from '../store.ts'
import { type Placeholders, type Prepared, prepared } from './prepared.ts'

/** Longest list of one statement; longer lists take several statements. */
const LONGEST_LIST = 512

/** Names of the list's placeholders and of the other values. */
const placesOf = (length: number) => Array.from({ length }, (_, at) => `${at}`)

/**
 * Prepares a query that `build` makes from single values and a list for `in`; order and duplicates in the list have no
 * effect. Returns the rows for the whole list, which may take several statements.
 */
export function preparedForList<P extends object, V extends number | string, R>(
  build: (db: Reader, list: readonly RawBuilder<V>[], values: Placeholders<P>) => Compilable<R>,
) {
  const byLength = new Map<number, Prepared<P & Record<string, V>, R>>()
  const ofLength = (length: number) => {
    const known = byLength.get(length)
    if (known !== undefined) return known
    const made = prepared<P & Record<string, V>, R>((db, values) =>
      build(
        db,
        placesOf(length).map((place) => values[place] as RawBuilder<V>),
        values as Placeholders<P>,
      ),
    )
    byLength.set(length, made)
    return made
  }
  return async (reader: Reader, list: readonly V[], values: P): Promise<R[]> => {
    const found: R[] = []
    for (let from = 0; from < list.length; from += LONGEST_LIST) {
      const part = list.slice(from, from + LONGEST_LIST)
      const padded = padToPowerOfTwo(part)
      const named = Object.assign(padded, values) as unknown as P & Record<string, V>
      found.push(...(await ofLength(padded.length).all(reader, named)))
    }
    return found
  }
}

function padToPowerOfTwo<V>(list: readonly V[]): V[] {
  const length = 2 ** Math.ceil(Math.log2(list.length))
  return Array.from({ length }, (_, at) => list[Math.min(at, list.length - 1)] as V)
}

/** Most rows of one insert; below SQLite's limit of variables for every table here. */
const MOST_ROWS = 256

/** Prepares inserts of many rows; they return how many rows were inserted or updated. */
export function preparedForRows<C extends string>(
  columns: readonly C[],
  build: (db: Reader, rows: readonly Record<C, RawBuilder<unknown>>[]) => Compilable<unknown>,
) {
  const byCount = new Map<number, Prepared<readonly unknown[], unknown>>()
  const ofCount = (count: number) => {
    const known = byCount.get(count)
    if (known !== undefined) return known
    const made = prepared<readonly unknown[], unknown>((db, values) => build(db, placeholderRows(count, values)))
    byCount.set(count, made)
    return made
  }
  /** The values of all rows are in one sequence, so none is looked up by name. */
  const placeholderRows = (count: number, values: Placeholders<readonly unknown[]>) =>
    Array.from({ length: count }, (_, row) => {
      const named = columns.map((column, at) => [column, values[row * columns.length + at]])
      return Object.fromEntries(named) as Record<C, RawBuilder<unknown>>
    })
  return async (reader: Reader, rows: readonly Record<C, unknown>[]): Promise<number> => {
    let changed = 0
    for (let from = 0; from < rows.length; ) {
      const count = Math.min(MOST_ROWS, 2 ** Math.floor(Math.log2(rows.length - from)))
      const values: unknown[] = []
      for (const row of rows.slice(from, from + count)) for (const column of columns) values.push(row[column])
      changed += await ofCount(count).run(reader, values)
      from += count
    }
    return changed
  }
}
