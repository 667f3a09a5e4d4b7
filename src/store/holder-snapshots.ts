/** Storage of snapshots of holders, and of the pieces that their packed rows are in. */
import type { StepRemoval } from './in-steps.ts'
import { finding, inserting, listing } from './records.ts'
import type { NewRow, Row } from './schema.ts'
import type { Reader, Tx } from './store.ts'

export type HolderSnapshotRow = Row<'holder_snapshots'>

const insertSnapshotRow = inserting('holder_snapshots')
export const findHolderSnapshot = finding('holder_snapshots', 'id')
export const pageHolderSnapshots = listing('holder_snapshots', ['mint', 'collection'], {
  weights: { kinds_json: 1, programs_json: 1, metadata_json: 1 },
})

/** Stores a snapshot with all its pieces, in their order. */
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

/** Pieces that one step removes; each has some hundred kilobytes. */
const PIECES_PER_STEP = 16

/**
 * Removes pieces of the oldest snapshot from before `before`, and the snapshot with its last one; it uses `limit` up
 * while more is left, so that another step follows.
 */
export async function pruneHolderSnapshots(tx: Tx, before: number, limit: number): Promise<StepRemoval> {
  const oldest = await tx
    .selectFrom('holder_snapshots')
    .select('id')
    .where('created_at', '<', before)
    .orderBy('created_at')
    .limit(1)
    .executeTakeFirst()
  if (oldest === undefined) return { used: 0, removed: 0 }
  const pieces = await tx
    .selectFrom('holder_pieces')
    .select('n')
    .where('snapshot_id', '=', oldest.id)
    .orderBy('n', 'desc')
    .limit(PIECES_PER_STEP)
    .execute()
  // The last pieces go first and the record with the first of them, so that what is listed begins as it was.
  for (const { n } of pieces) {
    await tx.deleteFrom('holder_pieces').where('snapshot_id', '=', oldest.id).where('n', '=', n).execute()
  }
  if (pieces.length === PIECES_PER_STEP) return { used: limit, removed: 0 }
  await tx.deleteFrom('holder_snapshots').where('id', '=', oldest.id).execute()
  return { used: limit, removed: 1 }
}
