/** Keyset pages in the order of creation, and the opaque cursors between them. */
import { createHash } from 'node:crypto'
import { ExpressionWrapper, type SelectQueryBuilder, type SqlBool, sql } from 'kysely'
import { badRequest } from '../../platform/errors.ts'

export type ListOrder = 'asc' | 'desc'

export interface PageRequest {
  limit: number
  /** Value of `next_cursor` from the previous page. */
  cursor?: string | undefined
}

export interface StoredPage<R> {
  rows: R[]
  /** Cursor of the next page; null on the last page. */
  next_cursor: string | null
}

/** What follows a list's name in a cursor: a number, an address, or a text. The version is the cursor's first byte. */
const PLACES = { number: { version: 1, bytes: 8 }, address: { version: 2, bytes: 32 }, text: { version: 3 } } as const

const digest = (bytes: string | Uint8Array, length: number) =>
  createHash('sha256').update(bytes).digest().subarray(0, length)

/** Returns the name that a list with these filters has in its cursors; absent filters are ignored. */
export function filteredList(list: string, filters: object): string {
  const set = Object.entries(filters).filter(([, value]) => value !== undefined)
  return set.length === 0 ? list : `${list}?${digest(JSON.stringify(set.toSorted()), 6).toString('base64url')}`
}

/** Returns the cursor that continues `list` after the row at `place`. */
export function encodeCursor(list: string, place: number): string {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(BigInt(place))
  return sealCursor('number', list, bytes)
}

/** Returns the place in a cursor. Throws bad_request unless it is an unchanged cursor of this list. */
export const decodeCursor = (list: string, cursor: string): number =>
  Number(openCursor('number', list, cursor).readBigUInt64BE())

/** Returns the cursor that continues `list`, whose rows are sorted by address, after one of 32 bytes. */
export const encodeAddressCursor = (list: string, address: Uint8Array): string => sealCursor('address', list, address)

/** Returns the 32 bytes of the address in a cursor. Throws like `decodeCursor`. */
export const decodeAddressCursor = (list: string, cursor: string): Uint8Array => openCursor('address', list, cursor)

/** Returns the cursor that continues `list`, whose rows are sorted by a text, after this one. */
export const encodeTextCursor = (list: string, place: string): string => sealCursor('text', list, Buffer.from(place))

/** Returns the text in a cursor. Throws like `decodeCursor`. */
export function decodeTextCursor(list: string, cursor: string): string {
  const place = openCursor('text', list, cursor).toString()
  // The checksum is not a secret, and PostgreSQL takes no text with a zero.
  if (place.includes('\0')) throw badCursor('cursor is damaged')
  return place
}

/** Version (1 byte), list (5), place and checksum (4). */
function sealCursor(kind: keyof typeof PLACES, list: string, place: Uint8Array): string {
  const bytes = Buffer.concat([Buffer.of(PLACES[kind].version), digest(list, 5), place])
  return Buffer.concat([bytes, digest(bytes, 4)]).toString('base64url')
}

function openCursor(kind: keyof typeof PLACES, list: string, cursor: string): Buffer {
  const bytes = Buffer.from(cursor, 'base64url')
  const place = bytes.subarray(6, -4)
  const { version, ...sized } = PLACES[kind]
  const isWhole =
    bytes.length >= 10 &&
    ('bytes' in sized ? place.length === sized.bytes : true) &&
    bytes.toString('base64url') === cursor &&
    bytes[0] === version &&
    digest(bytes.subarray(0, -4), 4).equals(bytes.subarray(-4))
  if (!isWhole) throw badCursor('cursor is damaged')
  if (!digest(list, 5).equals(bytes.subarray(1, 6)))
    throw badCursor('cursor belongs to another list, or to one with other filters')
  return place
}

const badCursor = (what: string) =>
  badRequest(`${what}: send meta.next_cursor of the previous page unchanged, or none to start over`, {
    param: 'cursor',
  })

/** Bytes of stored text after which a page ends; a larger row gets a page alone. */
export const PAGE_BYTES = 8 * 1024 * 1024

/** Columns of unbounded text, and how often each column's bytes appear in a response. */
export type Weights<R> = { readonly [C in keyof R]?: number }

/** Computes the size of a row's unbounded columns in bytes; both databases do this without reading the text itself. */
export function weightOf(weights: Readonly<Record<string, number | undefined>>) {
  const terms = Object.entries(weights).map(
    ([column, times]) => sql`${sql.lit(times ?? 1)} * coalesce(octet_length(${sql.ref(column)}), 0)`,
  )
  return sql<number>`${sql.join(terms, sql` + `)}`
}

export interface Taken<R> {
  rows: R[]
  /** Place of the last returned row; null if no rows follow. */
  end: number | null
}

/**
 * Returns up to `limit` rows of a query, as many as fit into `PAGE_BYTES`, but at least one. Sizes are queried first,
 * because a hundred large rows may exceed the available memory.
 */
export async function rowsWithin<DB, TB extends keyof DB, P extends 'seq' | 'sequence', R extends Record<P, number>>(
  query: SelectQueryBuilder<DB, TB, R>,
  { limit, place, weights }: { limit: number; place: P; weights: Weights<R> },
): Promise<Taken<R>> {
  const column = sql.ref<number>(place)
  const measured = await query
    .limit(limit + 1)
    .clearSelect()
    .select([column.as('place'), weightOf(weights as Record<string, number>).as('weight')])
    .$castTo<{ place: number; weight: number | string }>()
    .execute()
  let bytes = 0
  const fitting = measured.findIndex(({ weight }, i) => {
    bytes += Number(weight)
    return i === limit || (i > 0 && bytes > PAGE_BYTES)
  })
  const places = (fitting === -1 ? measured : measured.slice(0, fitting)).map((row) => row.place)
  const last = places.at(-1)
  if (last === undefined) return { rows: [], end: null }
  return { rows: await readAt(query, place, places), end: fitting === -1 ? null : last }
}

/** Returns the rows at these places in the given order; rows that no longer match the query are left out. */
async function readAt<DB, TB extends keyof DB, P extends 'seq' | 'sequence', R extends Record<P, number>>(
  query: SelectQueryBuilder<DB, TB, R>,
  place: P,
  places: readonly number[],
): Promise<R[]> {
  const filter = query.toOperationNode().where?.where
  let rows = query
    .clearWhere()
    .clearOrderBy()
    .clearLimit()
    .where(sql<SqlBool>`${sql.ref(place)} in (${sql.join(places)})`)
  // The `case` keeps the planner from choosing a filter's index over the index of the places.
  if (filter) rows = rows.where(sql<SqlBool>`case when ${new ExpressionWrapper(filter)} then 1 else 0 end = 1`)
  const positions = new Map(places.map((at, position) => [at, position]))
  const position = (row: R) => positions.get(row[place]) ?? places.length
  return (await rows.execute()).sort((one, other) => position(one) - position(other))
}

/**
 * Returns one page of `query`, newest first by default; rows added meanwhile neither shift nor repeat. `place` is the
 * numbering column, and `list` the name that cursors are bound to. A page ends before its text exceeds `PAGE_BYTES`.
 */
export async function readPage<DB, TB extends keyof DB, P extends 'seq' | 'sequence', R extends Record<P, number>>({
  query,
  list,
  place,
  weights,
  limit,
  cursor,
  order = 'desc',
}: PageRequest & {
  query: SelectQueryBuilder<DB, TB, R>
  list: string
  place: P
  weights: Weights<R>
  order?: ListOrder | undefined
}): Promise<StoredPage<R>> {
  const name = `${list}:${order}`
  const column = sql.ref<number>(place)
  let page = query.orderBy(column, order)
  if (cursor !== undefined) {
    const after = decodeCursor(name, cursor)
    page = page.where(order === 'desc' ? sql<SqlBool>`${column} < ${after}` : sql<SqlBool>`${column} > ${after}`)
  }
  const { rows, end } = await rowsWithin(page, { limit, place, weights })
  return { rows, next_cursor: end === null ? null : encodeCursor(name, end) }
}
