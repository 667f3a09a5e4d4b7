/** What a confirmed transaction did to airdrops: distributors that exist now, claims, vaults that were emptied. */
import type { DecodedMessage } from '../../../chain/localnet/messages.ts'
import type { Clock } from '../../../context.ts'
import type { Tx } from '../../../store/store.ts'
import type { Followed } from '../../../store/transactions.ts'
import type { LateEmission } from '../../emit.ts'

export type AirdropChange = never

/** By the message's own instructions, in their order; that it was confirmed without an error proves them. */
export const airdropChangesIn = (_message: DecodedMessage): AirdropChange[] => []

/** Writes the records and answers the events. */
export async function writeAirdropChanges(
  _tx: Tx,
  _clock: Clock,
  _row: Followed,
  _slot: number,
  _changes: readonly AirdropChange[],
): Promise<LateEmission[]> {
  return []
}
