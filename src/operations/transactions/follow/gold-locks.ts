/** What a confirmed transaction did to gold locks: locked, unlocked. */
import type { DecodedMessage } from '../../../chain/localnet/messages.ts'
import type { Clock } from '../../../context.ts'
import type { Tx } from '../../../store/store.ts'
import type { Followed } from '../../../store/transactions.ts'
import type { LateEmission } from '../../emit.ts'

export type GoldLockChange = never

/** By the message's own instructions, in their order; that it was confirmed without an error proves them. */
export const goldLockChangesIn = (_message: DecodedMessage): GoldLockChange[] => []

/** Writes the records and answers the events. */
export async function writeGoldLockChanges(
  _tx: Tx,
  _clock: Clock,
  _row: Followed,
  _slot: number,
  _changes: readonly GoldLockChange[],
): Promise<LateEmission[]> {
  return []
}
