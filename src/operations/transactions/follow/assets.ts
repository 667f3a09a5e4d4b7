/** What a confirmed transaction did to assets: minted, frozen and thawed as stakes, burned. */
import type { DecodedMessage } from '../../../chain/localnet/messages.ts'
import type { Clock } from '../../../context.ts'
import type { Tx } from '../../../store/store.ts'
import type { Followed } from '../../../store/transactions.ts'
import type { LateEmission } from '../../emit.ts'

export type AssetChange = never

/** By the message's own instructions, in their order; that it was confirmed without an error proves them. */
export const assetChangesIn = (_message: DecodedMessage): AssetChange[] => []

/** Writes the records and answers the events. */
export async function writeAssetChanges(
  _tx: Tx,
  _clock: Clock,
  _row: Followed,
  _slot: number,
  _changes: readonly AssetChange[],
): Promise<LateEmission[]> {
  return []
}
