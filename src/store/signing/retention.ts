/** Removes old signings that have ended, with their spending; the audit log keeps what was signed. */
import type { Tx } from '../store.ts'

/** Deletes up to `limit` ended signings made before `before`, the oldest first; returns their number. */
export async function pruneSignings(tx: Tx, before: number, limit: number): Promise<number> {
  const old = await tx
    .selectFrom('signings')
    .select(['seq', 'id'])
    .where('created_at', '<', before)
    // What is only intended may have been signed, and is kept until its request has ended it.
    .where('state', 'not in', ['intended', 'waiting'])
    .orderBy('created_at')
    .limit(limit)
    .execute()
  if (old.length === 0) return 0
  const ids = old.map(({ id }) => id)
  await tx.deleteFrom('signer_spends').where('signing_id', 'in', ids).where('at', '<', before).execute()
  const seqs = old.map(({ seq }) => seq)
  await tx.deleteFrom('signings').where('seq', 'in', seqs).execute()
  return old.length
}
