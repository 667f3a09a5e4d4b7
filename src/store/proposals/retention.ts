/** Removes the sealed requests of proposals that ended long ago; their records stay. */
import type { Tx } from '../store.ts'

/**
 * Clears the requests of up to `limit` proposals that have ended and were last changed before `before`, the oldest
 * first; returns their number.
 */
export async function pruneProposalRequests(tx: Tx, before: number, limit: number): Promise<number> {
  const ended = tx
    .selectFrom('proposals')
    .select('seq')
    .where('request', 'is not', null)
    .where('status', 'not in', ['planned', 'active', 'approved'])
    .where('updated_at', '<', before)
    .orderBy('updated_at')
    .limit(limit)
  const { numUpdatedRows } = await tx
    .updateTable('proposals')
    .set({ request: null })
    .where('seq', 'in', ended)
    .executeTakeFirstOrThrow()
  return Number(numUpdatedRows)
}
