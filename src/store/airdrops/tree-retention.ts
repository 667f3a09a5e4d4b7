/** Removes the leaves of merkle trees whose vault was drained long ago; their records stay. */

import type { Tx } from '../store.ts'
import type { StepRemoval } from '../writing/in-steps.ts'

/** A step removes fewer pieces than rows of other tables, because each has some ten thousand bytes. */
const ROWS_PER_PIECE = 8
const DRAINED = 'vault_drained'

/** Records the time at which up to `limit` trees were first found drained. Returns their number. */
export async function markDrained(tx: Tx, now: number, limit: number): Promise<number> {
  const drained = tx
    .selectFrom('merkle_trees')
    .select('seq')
    .where('status', '=', DRAINED)
    .where('drained_at', 'is', null)
    .where('leaves_removed_at', 'is', null)
  const { numUpdatedRows } = await tx
    .updateTable('merkle_trees')
    .set({ drained_at: now })
    .where('seq', 'in', drained.limit(limit))
    .executeTakeFirstOrThrow()
  return Number(numUpdatedRows)
}

/**
 * Removes pieces of the tree that was drained longest ago, before `before`. While more remain it returns `limit`, so
 * that another step follows.
 */
export async function pruneLeaves(
  tx: Tx,
  { before, now }: { before: number; now: number },
  limit: number,
): Promise<StepRemoval> {
  const tree = await tx
    .selectFrom('merkle_trees')
    .select(['id', 'leaves_removed_at'])
    .where('status', '=', DRAINED)
    .where('drained_at', '<', before)
    .orderBy('drained_at')
    .limit(1)
    .executeTakeFirst()
  if (tree === undefined) return { used: 0, removed: 0 }
  const { id } = tree
  // The record shows the removal from the first piece on, so that no one reads a partial tree.
  if (tree.leaves_removed_at === null) {
    await tx.updateTable('merkle_trees').set({ leaves_removed_at: now }).where('id', '=', id).execute()
  }
  const pieces = await tx
    .selectFrom('merkle_blobs')
    .select(['kind', 'n'])
    .where('tree_id', '=', id)
    .limit(Math.ceil(limit / ROWS_PER_PIECE))
    .execute()
  for (const { kind, n } of pieces) {
    const piece = tx.deleteFrom('merkle_blobs').where('tree_id', '=', id).where('kind', '=', kind)
    await piece.where('n', '=', n).execute()
  }
  if (pieces.length > 0) return { used: limit, removed: pieces.length }
  // Without this time the query above no longer finds the tree.
  await tx.updateTable('merkle_trees').set({ drained_at: null }).where('id', '=', id).execute()
  return { used: limit, removed: 0 }
}
