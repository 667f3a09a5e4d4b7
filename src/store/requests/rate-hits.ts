/** Admitted requests per key with their cumulative count: exact rolling windows on PostgreSQL, a record of them on SQLite. */

import { sql } from 'kysely'
import { partsOf } from '../queries/parts.ts'
import { type Placeholders, prepared } from '../queries/prepared.ts'
import type { NewRow, Row } from '../schema.ts'
import type { Reader, Tx } from '../store.ts'

/** Writes hits; replaces a row with the same key and time. */
export async function putRateHits(tx: Tx, rows: readonly NewRow<'rate_hits'>[]): Promise<void> {
  for (const part of partsOf(rows)) {
    const insertion = tx.insertInto('rate_hits').values(part)
    const added = insertion.onConflict((conflict) =>
      conflict
        .columns(['api_key_id', 'at'])
        .doUpdateSet((eb) => ({ count: eb.ref('excluded.count'), total: eb.ref('excluded.total') })),
    )
    await added.execute()
  }
}

/** Returns hits after `since` (exclusive), the oldest first. */
export function loadRateHits(reader: Reader, since: number): Promise<Row<'rate_hits'>[]> {
  return reader.selectFrom('rate_hits').selectAll().where('at', '>', since).orderBy('at').execute()
}

/** Deletes the hits of one key after `after` (exclusive); only a clock that was ahead can have written them. */
export async function forgetRateHits(tx: Tx, apiKeyId: string, after: number): Promise<void> {
  await forgetAfter.run(tx, { apiKeyId, after })
}

const forgetAfter = prepared((db, { apiKeyId, after }: Placeholders<{ apiKeyId: string; after: number }>) =>
  db.deleteFrom('rate_hits').where('api_key_id', '=', apiKeyId).where('at', '>', after),
)

/**
 * Deletes about `limit` hits at or before `before`, oldest first, and all hits of one time together; returns the number
 * of deleted rows. Each row has its count and the total, so windows do not need the rows before it.
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
  /** The limit that refused the hit; null if it was admitted and recorded. */
  refused_by: 'minute' | 'day' | null
  /** Time of the decision in Unix milliseconds, by the clock that decides. */
  at: number
  /** State of the window after the decision. */
  minute: Window
  day: Window
}

/** Requests of one key that are decided together. */
interface AdmissionRequest {
  apiKeyId: string
  wanted: number
  /** Null means unlimited. */
  perMinute: number | null
  perDay: number | null
}

/** How many of a key's requests were admitted, and the state of its windows afterwards. */
export interface GroupAdmission {
  apiKeyId: string
  admitted: number
  at: number
  minute: Window
  day: Window
}

interface AdmissionOptions {
  /** Unix milliseconds to use instead of the database's clock, which all daemons share. */
  now?: number | undefined
  /** Whether to wait for a key that another transaction has locked; otherwise it is left out. */
  waits: boolean
}

/**
 * Admits as many requests of each key as its windows allow. It is for PostgreSQL, and exact even with concurrent
 * processes. A hit counts while less than the window has passed since. Returns the keys in order, without those left
 * out. With `waits`, pass one key only, because keys waiting for each other's locks would deadlock.
 */
export async function admitRequests(
  tx: Tx,
  requests: readonly AdmissionRequest[],
  { now, waits }: AdmissionOptions,
): Promise<GroupAdmission[]> {
  const keys = requests.map(({ apiKeyId }) => apiKeyId)
  const wanted = requests.map((request) => request.wanted)
  const perMinute = requests.map((request) => request.perMinute)
  const perDay = requests.map((request) => request.perDay)
  const { rows } = await sql<AdmittedRow>`
    select * from admit_requests(${keys}, ${wanted}, ${perMinute}, ${perDay}, ${now ?? null}, ${waits})`.execute(tx)
  return rows.flatMap((row) =>
    row.admitted === null
      ? []
      : [
          {
            apiKeyId: row.key_id,
            admitted: row.admitted,
            at: row.moment,
            minute: { used: row.minute_used, oldest_at: row.minute_oldest_at },
            day: { used: row.day_used, oldest_at: row.day_oldest_at },
          },
        ],
  )
}

/** Result of the function `admit_requests`; `admitted` is null if the key was locked. */
interface AdmittedRow {
  key_id: string
  admitted: number | null
  moment: number
  minute_used: number
  minute_oldest_at: number | null
  day_used: number
  day_oldest_at: number | null
}
