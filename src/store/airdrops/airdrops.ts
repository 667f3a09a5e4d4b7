/** Airdrops: stored merkle trees and their life cycle on chain. */
import { rowsWithin, type Taken } from '../queries/paging.ts'
import { finding, listing, updating } from '../queries/records.ts'
import type { Row } from '../schema.ts'
import type { Reader, Tx } from '../store.ts'

export const findAirdrop = finding('merkle_trees', 'id')
export const updateAirdrop = updating('merkle_trees', 'id')
export const pageAirdrops = listing('merkle_trees', ['mint'], { weights: { metadata_json: 1 }, list: 'airdrops' })
/** Finds an airdrop by its distributor account, the only reference that a claim contains. */
export const findAirdropAt = finding('merkle_trees', 'distributor')

/** Returns the airdrops whose check is due, the longest overdue first. */
export async function dueAirdrops(reader: Reader, now: number, limit: number): Promise<Row<'merkle_trees'>[]> {
  const due = reader
    .selectFrom('merkle_trees')
    .selectAll()
    .where('next_check_at', '<=', now)
    .orderBy('next_check_at')
    .orderBy('seq')
  return (await rowsWithin(due, { limit, place: 'seq', weights: { metadata_json: 1 } })).rows
}

type Moved = 'status' | 'genesis' | 'distributor' | 'next_check_at'
type Shortage = 'vault_lacks' | 'vault_lacks_since' | 'mint_decimals'

/** Updates the airdrop if its state is unchanged since it was read; false when another process has changed it. */
export async function moveAirdrop(
  tx: Tx,
  { id, root, status, genesis }: Pick<Row<'merkle_trees'>, 'id' | 'root' | 'status' | 'genesis'>,
  changes: Partial<Pick<Row<'merkle_trees'>, Moved | Shortage>>,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('merkle_trees')
    // A tree of another chain may have been drained there before.
    .set({ ...changes, drained_at: null })
    .where('id', '=', id)
    .where('root', '=', root)
    .where('status', '=', status)
    .where('genesis', '=', genesis)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

interface TreeScan {
  mint?: string | undefined
  /** Limits the scan to trees stored before the one with this `seq`. */
  before?: number | undefined
  limit: number
}

/** Returns stored trees, newest first, as many as the limit and the size of the rows allow. */
export function scanTrees(reader: Reader, { mint, before, limit }: TreeScan): Promise<Taken<Row<'merkle_trees'>>> {
  let query = reader.selectFrom('merkle_trees').selectAll()
  if (mint !== undefined) query = query.where('mint', '=', mint)
  if (before !== undefined) query = query.where('seq', '<', before)
  return rowsWithin(query.orderBy('seq', 'desc'), { limit, place: 'seq', weights: { metadata_json: 1 } })
}
