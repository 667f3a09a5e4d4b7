/** Storage of holder snapshots and of the pieces that hold their packed rows. */

import { finding, inserting, listing } from '../queries/records.ts'
import type { NewRow, Row } from '../schema.ts'
import type { Reader, Tx } from '../store.ts'
import type { StepRemoval } from '../writing/in-steps.ts'

export type HolderSnapshotRow = Row<'holder_snapshots'>

const insertSnapshotRow = inserting('holder_snapshots')
export const findHolderSnapshot = finding('holder_snapshots', 'id')
export const pageHolderSnapshots = listing('holder_snapshots', ['address'], {
  weights: { kinds_json: 1, programs_json: 1, metadata_json: 1 },
})

/** Stores a snapshot with all its pieces in order. */
export async function insertHolderSnapshot(
  tx: Tx,
  row: NewRow<'holder_snapshots'>,
  pieces: readonly Uint8Array[],
): Promise<HolderSnapshotRow> {
  const inserted = await insertSnapshotRow(tx, row)
  for (const [n, { buffer, byteOffset, byteLength }] of pieces.entries()) {
    const bytes = Buffer.from(buffer, byteOffset, byteLength)
    await tx.insertInto('holder_pieces').values({ snapshot_id: row.id, n, bytes }).execute()
  }
  return inserted
}

export async function readHolderPiece(reader: Reader, snapshotId: string, n: number): Promise<Buffer | null> {
  const pieces = reader.selectFrom('holder_pieces').select('bytes').where('snapshot_id', '=', snapshotId)
  return (await pieces.where('n', '=', n).executeTakeFirst())?.bytes ?? null
}

/** Pieces that one step removes; each has a few hundred kilobytes. */
const PIECES_PER_STEP = 16

/**
 * Removes snapshots from before `before`, oldest first, as many as fit into one step's pieces. From a larger one it
 * first removes the last pieces, and the record together with the first. It reports `limit` while more is left, so that
 * another step follows.
 */
export async function pruneHolderSnapshots(tx: Tx, before: number, limit: number): Promise<StepRemoval> {
  const oldest = await tx
    .selectFrom('holder_snapshots')
    .select(['id', 'pieces'])
    .where('created_at', '<', before)
    .orderBy('created_at')
    .limit(limit)
    .execute()
  let pieces = 0
  const whole = oldest.filter((row) => {
    pieces += row.pieces
    return pieces <= PIECES_PER_STEP
  })
  const [first] = oldest
  if (first === undefined) return { used: 0, removed: 0 }
  if (whole.length === 0 && (await removedPieces(tx, first.id)) === PIECES_PER_STEP) return { used: limit, removed: 0 }
  const ids = whole.length === 0 ? [first.id] : whole.map(({ id }) => id)
  await tx.deleteFrom('holder_pieces').where('snapshot_id', 'in', ids).execute()
  await tx.deleteFrom('holder_snapshots').where('id', 'in', ids).execute()
  return { used: ids.length === oldest.length && oldest.length < limit ? 0 : limit, removed: ids.length }
}

/** Removes a snapshot's last pieces and returns their number; its first pieces stay readable. */
async function removedPieces(tx: Tx, id: string): Promise<number> {
  const pieces = tx.selectFrom('holder_pieces').select('n').where('snapshot_id', '=', id).orderBy('n', 'desc')
  const last = await pieces.limit(PIECES_PER_STEP).execute()
  for (const { n } of last) {
    await tx.deleteFrom('holder_pieces').where('snapshot_id', '=', id).where('n', '=', n).execute()
  }
  return last.length
}
