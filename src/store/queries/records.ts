/** Shared queries of record tables: insert once, find by key, update by key, list by filters. */
import { type Kysely, type RawBuilder, sql, type Updateable } from 'kysely'
import type { NewRow, Row, Tables } from '../schema.ts'
import type { Reader, Tx } from '../store.ts'
import { filteredList, type PageRequest, readPage, rowsWithin, type StoredPage, type Weights } from './paging.ts'
import { type Placeholders, type Prepared, prepared } from './prepared.ts'

type Family = { [T in keyof Tables]: Row<T> extends { seq: number } ? T : never }[keyof Tables]
type FilterColumn<T extends Family> = keyof Row<T> & string
type RecordFilters<T extends Family, F extends FilterColumn<T>> = { [K in F]?: Row<T>[K] | undefined }

/**
 * Untyped database for the generic queries, because Kysely cannot type a table given as a type parameter. The exported
 * functions are typed again.
 */
type Loose = Kysely<Record<string, Record<string, string>>>
const loose = (reader: Reader) => reader as unknown as Loose

const firstOrNull = <T extends Family>(row: object | undefined) => (row ?? null) as Row<T> | null

type Cells = Record<string, string>
type RowQuery = Prepared<Cells, object>

/** Returns the query for these columns, prepared at its first use; undefined cells count as absent. */
function byColumns(prepare: (columns: readonly string[]) => RowQuery): (cells: object) => RowQuery {
  const known = new Map<string, RowQuery>()
  return (cells) => {
    let name = ''
    for (const column in cells) if ((cells as Record<string, unknown>)[column] !== undefined) name += `${column},`
    let query = known.get(name)
    if (query === undefined) {
      query = prepare(name.split(',').slice(0, -1))
      known.set(name, query)
    }
    return query
  }
}

const cellsOf = (values: Placeholders<Cells>, columns: readonly string[]) =>
  Object.fromEntries(columns.map((column) => [column, values[column] as RawBuilder<string>]))

const insertion = (db: Reader, table: string, values: Placeholders<Cells>, columns: readonly string[]) =>
  loose(db).insertInto(table).values(cellsOf(values, columns)).returningAll()

/** Inserts a row and returns it as stored. A duplicate unique key makes `write` fail with `Overtaken`. */
export function inserting<T extends Family>(table: T) {
  const query = byColumns((columns) =>
    prepared((db, values: Placeholders<Cells>) => insertion(db, table, values, columns)),
  )
  return async (tx: Tx, row: NewRow<T>): Promise<Row<T>> => {
    const stored = await query(row).first(tx, row as Cells)
    if (stored === undefined) throw new Error(`an insert into ${table} returned no row`)
    return stored as unknown as Row<T>
  }
}

/** Inserts a row whose columns the caller all knows. It is not read back, because that costs a third of the insert. */
export function adding<T extends Family>(table: T) {
  const query = byColumns((columns) =>
    prepared((db, values: Placeholders<Cells>) => loose(db).insertInto(table).values(cellsOf(values, columns))),
  )
  return (tx: Tx, row: Omit<Row<T>, 'seq'>): Promise<number> => query(row).run(tx, row as Cells)
}

/** Inserts a row that may arrive twice; if one of its unique keys exists, it writes nothing and returns null. */
export function insertingOnce<T extends Family>(table: T) {
  const query = byColumns((columns) =>
    prepared((db, values: Placeholders<Cells>) =>
      insertion(db, table, values, columns).onConflict((conflict) => conflict.doNothing()),
    ),
  )
  return async (tx: Tx, row: NewRow<T>): Promise<Row<T> | null> =>
    firstOrNull<T>(await query(row).first(tx, row as Cells))
}

/**
 * Inserts a row that may arrive twice; if one of its unique keys exists, it writes nothing and returns false. It is not
 * read back: for `returning`, SQLite copies every page that an insert changes, in case it must undo that statement
 * alone. With many indexes that doubles the cost of the insert.
 */
export function addingOnce<T extends Family>(table: T) {
  const query = byColumns((columns) =>
    prepared((db, values: Placeholders<Cells>) =>
      loose(db)
        .insertInto(table)
        .values(cellsOf(values, columns))
        .onConflict((conflict) => conflict.doNothing()),
    ),
  )
  return async (tx: Tx, row: NewRow<T>): Promise<boolean> => (await query(row).run(tx, row as unknown as Cells)) > 0
}

/** Finds a row by a key. */
export function finding<T extends Family, K extends FilterColumn<T>>(table: T, key: K) {
  const query = prepared((db, { value }: Placeholders<{ value: string }>) =>
    loose(db)
      .selectFrom(table as string)
      .selectAll()
      .where(key as string, '=', value),
  )
  return async (reader: Reader, value: Row<T>[K] & string): Promise<Row<T> | null> =>
    firstOrNull<T>(await query.first(reader, { value }))
}

/** Name of the value that finds the row to update; no column has this name. */
const FOUND_BY = '='

/** Updates the given columns and returns the updated row, or null if it does not exist. */
export function updating<T extends Family, K extends FilterColumn<T>>(table: T, key: K) {
  const find = finding(table, key)
  const query = byColumns((columns) =>
    prepared((db, values: Placeholders<Cells>) =>
      loose(db)
        .updateTable(table as string)
        .set(cellsOf(values, columns))
        .where(key as string, '=', values[FOUND_BY] as RawBuilder<string>)
        .returningAll(),
    ),
  )
  return async (tx: Tx, value: Row<T>[K] & string, changes: Updateable<Tables[T]>): Promise<Row<T> | null> => {
    if (Object.values(changes).every((change) => change === undefined)) return find(tx, value)
    return firstOrNull<T>(await query(changes).first(tx, { ...(changes as Cells), [FOUND_BY]: value }))
  }
}

interface Listed<T extends Family, F> {
  /** Columns of unbounded text, and how often each appears in a response. */
  weights: Weights<Row<T>>
  /** Name of the list in its cursors; needed for a second list over the same table. */
  list?: string
  /** A column that is null in the rows that are not listed. */
  needs?: keyof Row<T> & string
  /** Filters that few rows match, each with an index. The first that is requested finds the rows. */
  narrow?: readonly F[]
  /** Filters that ignore case. Their indexes are of the text in upper case. */
  caseless?: readonly F[]
}

/** Returns pages of a table, newest first, filtered by any of the named columns; an absent filter matches all rows. */
export function listing<T extends Family, F extends FilterColumn<T> = never>(
  table: T,
  filters: readonly F[],
  { weights, list = table, needs, narrow = [], caseless = [] }: Listed<T, F>,
) {
  return async (reader: Reader, request: PageRequest & RecordFilters<T, F>): Promise<StoredPage<Row<T>>> => {
    let query = loose(reader)
      .selectFrom(table as string)
      .selectAll()
      .$castTo<Row<T> & { seq: number }>()
    if (needs !== undefined) query = query.where(needs as string, 'is not', null)
    const values: Record<string, unknown> = {}
    const lead = narrow.find((filter) => request[filter] !== undefined)
    for (const filter of filters) {
      const value = request[filter]
      values[filter] = value
      if (value === undefined) continue
      const cased = (text: RawBuilder<unknown>) => (caseless.includes(filter) ? sql`upper(${text})` : text)
      const column = cased(sql.ref(filter))
      // The planner cannot choose the index of a wider filter that is compared in another form.
      const compared = lead === undefined || filter === lead ? column : sql`${column} || ''`
      query = query.where(compared, '=', cased(sql.val(value)))
    }
    const { limit, cursor } = request
    return readPage({
      query,
      list: filteredList(list, values),
      place: 'seq',
      weights: weights as object,
      limit,
      cursor,
    })
  }
}

/** Whether a row of any chain is due. */
export function anyDue(table: 'pools' | 'raises') {
  return async (reader: Reader, now: number): Promise<boolean> => {
    const due = reader.selectFrom(table).select('seq').where('next_check_at', '<=', now).limit(1)
    return (await due.executeTakeFirst()) !== undefined
  }
}

/** Returns the rows of one chain that are due, the longest overdue first. */
export function dueRows<T extends 'pools' | 'raises'>(table: T) {
  return async (reader: Reader, genesis: string, now: number, limit: number): Promise<Row<T>[]> => {
    const due = loose(reader)
      .selectFrom(table as string)
      .selectAll()
      .where('next_check_at', '<=', now as never)
      .where('genesis', '=', genesis)
      .orderBy('next_check_at')
      .orderBy('seq')
      .$castTo<Row<T> & { seq: number }>()
    return (await rowsWithin(due, { limit, place: 'seq', weights: { metadata_json: 1 } as object })).rows
  }
}
