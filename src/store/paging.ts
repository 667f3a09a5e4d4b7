/** Keyset pages over a table's order of creation, and the opaque cursors between them. */
import { createHash } from 'node:crypto'
import { ExpressionWrapper, type SelectQueryBuilder, type SqlBool, sql } from 'kysely'
import { badRequest } from '../errors.ts'

export type ListOrder = 'asc' | 'desc'

export interface PageRequest {
  limit: number
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
}

export interface StoredPage<R> {
  rows: R[]
  /** Null on the last page. */
  next_cursor: string | null
}

const CURSOR_VERSION = 1
/** Version, list (5), place (8), checksum (4): 18 bytes are 24 characters without slack bits. */
const CURSOR_BYTES = 18

const digest = (bytes: string | Uint8Array, length: number) =>
  createHash('sha256').update(bytes).digest().subarray(0, length)

/** Cursor that continues `list` after the row at `place`. */
export function encodeCursor(list: string, place: number): string {
  const bytes = Buffer.alloc(CURSOR_BYTES)
  bytes.writeUInt8(CURSOR_VERSION, 0)
  digest(list, 5).copy(bytes, 1)
  bytes.writeBigUInt64BE(BigInt(place), 6)
  digest(bytes.subarray(0, 14), 4).copy(bytes, 14)
  return bytes.toString('base64url')
}

/** The place inside a cursor; anything but an untouched cursor of this list is `bad_request`. */
export function decodeCursor(list: string, cursor: string): number {
  const bytes = Buffer.from(cursor, 'base64url')
  const whole =
    bytes.length === CURSOR_BYTES &&
    bytes.toString('base64url') === cursor &&
    bytes[0] === CURSOR_VERSION &&
    digest(bytes.subarray(0, 14), 4).equals(bytes.subarray(14))
  if (!whole) throw badCursor('cursor is damaged')
  if (!digest(list, 5).equals(bytes.subarray(1, 6))) throw badCursor('cursor belongs to another list')
  return Number(bytes.readBigUInt64BE(6))
}

const badCursor = (what: string) =>
  badRequest(`${what}: send meta.next_cursor of the previous page unchanged, or none to start over`, {
    param: 'cursor',
  })

/** Bytes of stored text after which a page ends; a row that is larger has a page of its own. */
export const PAGE_BYTES = 8 * 1024 * 1024

/** Columns of unbounded text, and how often the bytes of each stand in an answer. */
export type Weights<R> = { readonly [C in keyof R]?: number }

/** Bytes that a row's unbounded columns take; both databases tell them without reading the text itself. */
export function weightOf(weights: Readonly<Record<string, number | undefined>>) {
  const terms = Object.entries(weights).map(
    ([column, times]) => sql`${sql.lit(times ?? 1)} * coalesce(octet_length(${sql.ref(column)}), 0)`,
  )
  return sql<number>`${sql.join(terms, sql` + `)}`
}

export interface Taken<R> {
  rows: R[]
  /** Place of the last row that was taken, where others come after it; null where these are all. */
  end: number | null
}

/**
 * The first `limit` rows of a query in its order, as many as fit into `PAGE_BYTES`, but one at least. They are measured
 * before they are read: a hundred rows of an earlier version may be more than the memory holds.
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

/** The rows at these places in their order, without those that the query does not ask for any more. */
async function readAt<DB, TB extends keyof DB, P extends 'seq' | 'sequence', R extends Record<P, number>>(
  query: SelectQueryBuilder<DB, TB, R>,
  place: P,
  places: readonly number[],
): Promise<R[]> {
  const asked = query.toOperationNode().where?.where
  let found = query
    .clearWhere()
    .clearOrderBy()
    .clearLimit()
    .where(sql<SqlBool>`${sql.ref(place)} in (${sql.join(places)})`)
  // Inside `case` no filter tempts a planner to another index than that of the places.
  if (asked) found = found.where(sql<SqlBool>`case when ${new ExpressionWrapper(asked)} then 1 else 0 end = 1`)
  const turns = new Map(places.map((at, turn) => [at, turn]))
  const turn = (row: R) => turns.get(row[place]) ?? places.length
  return (await found.execute()).sort((one, other) => turn(one) - turn(other))
}

/**
 * One page of `query`, newest first unless `order` says otherwise. Rows added meanwhile neither shift nor repeat one.
 * `place` is the column that numbers the rows; `list` names the list, and a cursor of another one is refused. A page ends
 * before the text in it, told by `weights`, grows past `PAGE_BYTES`.
 */
export async function pageOf<DB, TB extends keyof DB, P extends 'seq' | 'sequence', R extends Record<P, number>>({
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
  let wanted = query.orderBy(column, order)
  if (cursor !== undefined) {
    const after = decodeCursor(name, cursor)
    wanted = wanted.where(order === 'desc' ? sql<SqlBool>`${column} < ${after}` : sql<SqlBool>`${column} > ${after}`)
  }
  const { rows, end } = await rowsWithin(wanted, { limit, place, weights })
  return { rows, next_cursor: end === null ? null : encodeCursor(name, end) }
}
