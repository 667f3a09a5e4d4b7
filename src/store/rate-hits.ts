/** Admitted requests per key, which the rate limiter restores after a restart and shares between daemons. */

import { sql } from 'kysely'
import { DAY_MS, MINUTE_MS } from '../timing.ts'
import { CLOCK_SLACK_MS } from './future-moments.ts'
import type { NewRow, Row } from './schema.ts'
import type { Reader, Tx } from './store.ts'

export async function addRateHits(tx: Tx, rows: readonly NewRow<'rate_hits'>[]): Promise<void> {
  if (rows.length > 0)
    await tx
      .insertInto('rate_hits')
      .values([...rows])
      .execute()
}

/** Returns hits after `since` (exclusive), oldest first. */
export function loadRateHits(reader: Reader, since: number): Promise<Row<'rate_hits'>[]> {
  return reader.selectFrom('rate_hits').selectAll().where('at', '>', since).orderBy('at').execute()
}

/**
 * Deletes about `limit` hits at or before `before`, the oldest first, and all hits of the same time together; returns
 * the number of deleted rows.
 */
export async function pruneRateHits(tx: Tx, before: number, limit: number): Promise<number> {
  const oldest = tx.selectFrom('rate_hits').select('at').where('at', '<=', before).orderBy('at').limit(1)
  const last = await oldest.offset(limit - 1).executeTakeFirst()
  const some = tx.deleteFrom('rate_hits').where('at', '<=', last?.at ?? before)
  return Number((await some.executeTakeFirstOrThrow()).numDeletedRows)
}

/** One rolling window: the number of admitted hits, and the time of the oldest one or null. */
export interface Window {
  used: number
  oldest_at: number | null
}

export interface Admission {
  /** The limit that refused the hit; null when it was admitted and recorded. */
  refused_by: 'minute' | 'day' | null
  /** State of the window after the decision. */
  minute: Window
  day: Window
}

/**
 * Admits or refuses one request exactly, even with concurrent processes: the key's row is locked until the commit. A
 * hit counts while `now - at` is less than the window; a null limit means unlimited.
 */
export async function admitShared(
  tx: Tx,
  apiKeyId: string,
  now: number,
  perMinute: number | null,
  perDay: number | null,
): Promise<Admission> {
  // An update that changes nothing locks the row on both databases.
  await tx.updateTable('api_keys').set({ id: apiKeyId }).where('id', '=', apiKeyId).execute()
  const minute = await readWindow(tx, apiKeyId, now, MINUTE_MS)
  const day = await readWindow(tx, apiKeyId, now, DAY_MS)
  if (perMinute !== null && minute.used >= perMinute) return { refused_by: 'minute', minute, day }
  if (perDay !== null && day.used >= perDay) return { refused_by: 'day', minute, day }
  await addRateHits(tx, [{ api_key_id: apiKeyId, at: now, count: 1 }])
  const counted = (window: Window) => ({ used: window.used + 1, oldest_at: window.oldest_at ?? now })
  return { refused_by: null, minute: counted(minute), day: counted(day) }
}

/** Ignores hits written with a clock that was far ahead, because they would count until that time has passed. */
async function readWindow(tx: Tx, apiKeyId: string, now: number, windowMs: number): Promise<Window> {
  const { used, oldest_at } = await tx
    .selectFrom('rate_hits')
    .select([sql<number | null>`sum(count)`.as('used'), sql<number | null>`min(at)`.as('oldest_at')])
    .where('api_key_id', '=', apiKeyId)
    .where('at', '>', now - windowMs)
    .where('at', '<=', now + CLOCK_SLACK_MS)
    .executeTakeFirstOrThrow()
  return { used: used ?? 0, oldest_at }
}
