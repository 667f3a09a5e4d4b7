/** Removes the signed bytes of transactions that ended long ago; their records stay. */
import type { Tx } from '../store.ts'

/**
 * Clears the bytes of up to `limit` transactions that were submitted before `before` and can no longer change, oldest
 * first; returns their number.
 */
export async function pruneRawTransactions(
  tx: Tx,
  { before, now }: { before: number; now: number },
  limit: number,
): Promise<number> {
  const ended = tx
    .selectFrom('transactions')
    .select('seq')
    .where('next_check_at', 'is', null)
    .where('raw_removed_at', 'is', null)
    .where('next_send_at', 'is', null)
    .where('created_at', '<', before)
  // The order of the index (next_check_at, created_at); next_check_at is null in all these rows.
  const { numUpdatedRows } = await tx
    .updateTable('transactions')
    .set({ raw: Buffer.alloc(0), raw_removed_at: now })
    .where('seq', 'in', ended.orderBy('next_check_at').orderBy('created_at').limit(limit))
    .executeTakeFirstOrThrow()
  return Number(numUpdatedRows)
}
