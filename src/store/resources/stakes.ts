/** Storage of stakes. */

import { finding, insertingOnce, listing, updating } from '../queries/records.ts'
import type { Row } from '../schema.ts'
import type { Reader } from '../store.ts'
import { moving } from './asset-records.ts'

export const insertStake = insertingOnce('stakes')
export const findStake = finding('stakes', 'asset')
export const updateStake = updating('stakes', 'asset')
export const moveStake = moving('stakes')
export const pageStakes = listing('stakes', ['owner', 'collection', 'status'], { weights: { metadata_json: 1 } })

/** Returns all assets that `wallet` has currently staked, newest first. */
export function findStakedByWallet(reader: Reader, wallet: string): Promise<Row<'stakes'>[]> {
  return reader
    .selectFrom('stakes')
    .selectAll()
    .where('owner', '=', wallet)
    .where('status', '=', 'staked')
    .orderBy('seq', 'desc')
    .execute()
}
