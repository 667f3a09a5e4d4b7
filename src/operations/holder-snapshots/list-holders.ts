/** Lists the holders of a snapshot by address. */
import type { Api, SnapshotHolder } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { type HolderRows, ROWS_PER_PIECE } from '../../merkle/allocation/holder-rows.ts'
import { decodeCursor, encodeCursor } from '../../store/queries/paging.ts'
import { findHolderSnapshot } from '../../store/resources/holder-snapshots.ts'
import { fromJson, requireRecord } from '../api-records.ts'
import { snapshotHolderRecord } from './holder-snapshot-record.ts'
import { openHolderPiece } from './open-piece.ts'

type ListHoldersRoute = Api['holderSnapshots']['holders']

export async function listHolders(
  { store }: Pick<Context, 'store'>,
  { id, limit, cursor }: Input<ListHoldersRoute>,
): Promise<Result<ListHoldersRoute>> {
  const row = requireRecord(await findHolderSnapshot(store.db, id), 'holder snapshot', id)
  const list = `snapshot_holders:${id}`
  const from = cursor === undefined ? 0 : decodeCursor(list, cursor)
  const to = Math.min(from + limit, row.holders)
  const programs = fromJson<string[]>(row.programs_json)
  const items: SnapshotHolder[] = []
  let piece: { n: number; rows: HolderRows } | undefined
  for (let index = from; index < to; index++) {
    const n = Math.floor(index / ROWS_PER_PIECE)
    if (piece?.n !== n) piece = { n, rows: await openHolderPiece({ store }, id, n) }
    items.push(snapshotHolderRecord(piece.rows, index - n * ROWS_PER_PIECE, programs))
  }
  return { items, next_cursor: to < row.holders ? encodeCursor(list, to) : null }
}
