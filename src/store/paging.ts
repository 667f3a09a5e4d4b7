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

/**
 * One page of `query`, newest first unless `order` says otherwise. Rows added meanwhile neither shift nor repeat one.
 * `place` is the column that numbers the rows; `list` names the list, and a cursor of another one is refused.
 */
export async function page<DB, TB extends keyof DB, P extends 'seq' | 'sequence', R extends Record<P, number>>({
  query,
  list,
  place,
  limit,
  cursor,
  order = 'desc',
}: PageRequest & {
  query: SelectQueryBuilder<DB, TB, R>
  list: string
  place: P
  order?: Order | undefined
}): Promise<Page<R>> {
  const name = `${list}:${order}`
  const column = sql.ref<number>(place)
  let wanted = query.orderBy(column, order).limit(limit + 1)
  if (cursor !== undefined) {
    const after = decodeCursor(name, cursor)
    wanted = wanted.where(order === 'desc' ? sql<SqlBool>`${column} < ${after}` : sql<SqlBool>`${column} > ${after}`)
  }
  const rows = await wanted.execute()
  const last = rows.length > limit ? rows[limit - 1] : undefined
  return { rows: rows.slice(0, limit), next_cursor: last ? encodeCursor(name, last[place]) : null }
}
