/** Keyset pages over a table's order of creation, and the opaque cursors between them. */
import { createHash } from 'node:crypto'
import { type SelectQueryBuilder, type SqlBool, sql } from 'kysely'
import { badRequest } from '../errors.ts'

export type Order = 'asc' | 'desc'

export interface PageRequest {
  limit: number
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
}

export interface Page<R> {
  rows: R[]
  /** Null on the last page. */
  next_cursor: string | null
}

const VERSION = 1
/** Version, list (5), place (8), checksum (4): 18 bytes are 24 characters without slack bits. */
const BYTES = 18

const digest = (bytes: string | Uint8Array, length: number) =>
  createHash('sha256').update(bytes).digest().subarray(0, length)

/** Cursor that continues `list` after the row at `place`. */
export function encodeCursor(list: string, place: number): string {
  const bytes = Buffer.alloc(BYTES)
  bytes.writeUInt8(VERSION, 0)
  digest(list, 5).copy(bytes, 1)
  bytes.writeBigUInt64BE(BigInt(place), 6)
  digest(bytes.subarray(0, 14), 4).copy(bytes, 14)
  return bytes.toString('base64url')
}

/** The place inside a cursor; anything but an untouched cursor of this list is `bad_request`. */
export function decodeCursor(list: string, cursor: string): number {
  const bytes = Buffer.from(cursor, 'base64url')
  const whole =
    bytes.length === BYTES &&
    bytes.toString('base64url') === cursor &&
    bytes[0] === VERSION &&
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

/**
 * The first rows of a query in its order, as many as fit into `PAGE_BYTES`, but one at least. They are measured before they
 * are read: a hundred rows of an earlier version may be more than the memory holds. `cut`: there were more than fitted.
 */
export async function rowsWithin<DB, TB extends keyof DB, P extends 'seq' | 'sequence', R extends Record<P, number>>(
  query: SelectQueryBuilder<DB, TB, R>,
  place: P,
  weights: Weights<R>,
): Promise<{ rows: R[]; cut: boolean }> {
  if (Object.keys(weights).length === 0) return { rows: await query.execute(), cut: false }
  const column = sql.ref<number>(place)
  const measured = await query
    .clearSelect()
    .select([column.as('place'), weightOf(weights as Record<string, number>).as('weight')])
    .$castTo<{ place: number; weight: number | string }>()
    .execute()
  let bytes = 0
  const fitting = measured.findIndex(({ weight }, i) => {
    bytes += Number(weight)
    return i > 0 && bytes > PAGE_BYTES
  })
  const cut = fitting !== -1
  const places = (cut ? measured.slice(0, fitting) : measured).map(({ place }) => place)
  if (places.length === 0) return { rows: [], cut }
  const within = sql<SqlBool>`${column} in (${sql.join(places)})`
  return { rows: await query.where(within).execute(), cut }
}

/**
 * One page of `query`, newest first unless `order` says otherwise. Rows added meanwhile neither shift nor repeat one.
 * `place` is the column that numbers the rows; `list` names the list, and a cursor of another one is refused. A page ends
 * before the text in it, told by `weights`, grows past `PAGE_BYTES`.
 */
export async function page<DB, TB extends keyof DB, P extends 'seq' | 'sequence', R extends Record<P, number>>({
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
  order?: Order | undefined
}): Promise<Page<R>> {
  const name = `${list}:${order}`
  const column = sql.ref<number>(place)
  let wanted = query.orderBy(column, order).limit(limit + 1)
  if (cursor !== undefined) {
    const after = decodeCursor(name, cursor)
    wanted = wanted.where(order === 'desc' ? sql<SqlBool>`${column} < ${after}` : sql<SqlBool>`${column} > ${after}`)
  }
  const { rows, cut } = await rowsWithin(wanted, place, weights)
  const shown = rows.slice(0, limit)
  const last = cut || rows.length > limit ? shown.at(-1) : undefined
  return { rows: shown, next_cursor: last ? encodeCursor(name, last[place]) : null }
}
