/** Gold locks. */
import { finding, insertingOnce, listing, updating } from './records.ts'
import type { Row } from './schema.ts'
import type { Reader } from './store.ts'

export const insertGoldLock = insertingOnce('gold_locks')
export const findGoldLock = finding('gold_locks', 'escrow')
export const updateGoldLock = updating('gold_locks', 'escrow')
export const pageGoldLocks = listing('gold_locks', ['user', 'status'])

/** The latest lock of a wallet, live or not. */
export async function findLatestGoldLock(reader: Reader, user: string): Promise<Row<'gold_locks'> | null> {
  const query = reader.selectFrom('gold_locks').selectAll().where('user', '=', user)
  return (await query.orderBy('seq', 'desc').limit(1).executeTakeFirst()) ?? null
}
