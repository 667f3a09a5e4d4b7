/** Shared queries of record tables: insert once, find by key, update by key, list by filters. */
import type { Kysely, Updateable } from 'kysely'
import { compiledOnce, directReadsOf } from './direct-reads.ts'
import { type PageRequest, pageOf, type StoredPage, type Weights } from './paging.ts'
import type { NewRow, Row, Tables } from './schema.ts'
import type { Reader, Tx } from './store.ts'

type Family = { [T in keyof Tables]: Row<T> extends { seq: number } ? T : never }[keyof Tables]
type FilterColumn<T extends Family> = keyof Row<T> & string
type RecordFilters<T extends Family, F extends FilterColumn<T>> = { [K in F]?: Row<T>[K] | undefined }

/**
 * Untyped database for the generic queries, because Kysely cannot type a table that is a type parameter. The exported
 * functions are typed again.
 */
type Loose = Kysely<Record<string, Record<string, string>>>
const loose = (reader: Reader) => reader as unknown as Loose

const firstOrNull = <T extends Family>(row: object | undefined) => (row ?? null) as Row<T> | null

const insertion = (tx: Tx, table: string, row: object) =>
  loose(tx)
    .insertInto(table)
    .values(row as Record<string, string>)
    .returningAll()

/** Inserts a row and returns it as stored. A duplicate unique key makes `write` fail with `conflict`. */
export function inserting<T extends Family>(table: T) {
  return async (tx: Tx, row: NewRow<T>): Promise<Row<T>> =>
    (await insertion(tx, table, row).executeTakeFirstOrThrow()) as unknown as Row<T>
}

/** Inserts a row that may arrive twice; writes nothing and returns null when one of its unique keys exists. */
export function insertingOnce<T extends Family>(table: T) {
  return async (tx: Tx, row: NewRow<T>): Promise<Row<T> | null> => {
    const once = insertion(tx, table, row).onConflict((conflict) => conflict.doNothing())
    return firstOrNull<T>(await once.executeTakeFirst())
  }
}

export function finding<T extends Family, K extends FilterColumn<T>>(table: T, key: K) {
  const query = (reader: Reader, value: string) =>
    loose(reader)
      .selectFrom(table as string)
      .selectAll()
      .where(key as string, '=', value)
  const compiled = compiledOnce((reader) => query(reader, ''))
  return async (reader: Reader, value: Row<T>[K] & string): Promise<Row<T> | null> => {
    const direct = directReadsOf(reader)
    if (direct === undefined) return firstOrNull<T>(await query(reader, value).executeTakeFirst())
    const [row] = direct.all(compiled(reader), [value])
    return firstOrNull<T>(row as object | undefined)
  }
}

/** Updates the given columns and returns the updated row, or null when it does not exist. */
export function updating<T extends Family, K extends FilterColumn<T>>(table: T, key: K) {
  return async (tx: Tx, value: Row<T>[K] & string, changes: Updateable<Tables[T]>): Promise<Row<T> | null> => {
    if (Object.values(changes).every((change) => change === undefined)) return finding(table, key)(tx, value)
    const row = await loose(tx)
      .updateTable(table as string)
      .set(changes as Record<string, string>)
      .where(key as string, '=', value)
      .returningAll()
      .executeTakeFirst()
    return firstOrNull<T>(row)
  }
}

interface Listed<T extends Family> {
  /** Columns of unbounded text, and how often each appears in a response. */
  weights: Weights<Row<T>>
  /** Name of the list in its cursors, for a second list over the same table. */
  list?: string
  /** Filter that is part of the route's path; each of its values is a separate list with its own cursors. */
  within?: FilterColumn<T>
}

/** Returns pages of a table, newest first, filtered by any of the named columns; an absent filter matches all rows. */
export function listing<T extends Family, F extends FilterColumn<T> = never>(
  table: T,
  filters: readonly F[],
  { weights, list = table, within }: Listed<T>,
) {
  return async (reader: Reader, request: PageRequest & RecordFilters<T, F>): Promise<StoredPage<Row<T>>> => {
    let query = loose(reader)
      .selectFrom(table as string)
      .selectAll()
      .$castTo<Row<T> & { seq: number }>()
    for (const filter of filters) {
      const value = request[filter]
      if (value !== undefined) query = query.where(filter as string, '=', value as string)
    }
    const owner = within === undefined ? undefined : (request as Record<string, unknown>)[within]
    const { limit, cursor } = request
    const name = owner === undefined ? list : `${list}:${owner}`
    return pageOf({ query, list: name, place: 'seq', weights: weights as object, limit, cursor })
  }
}
