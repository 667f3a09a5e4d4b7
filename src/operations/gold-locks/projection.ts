/** What a confirmed transaction did to gold locks: locked, unlocked. */
import { type GoldLockChange, goldLockChangesIn } from '../../chain/programs/jupiter-lock/index.ts'
import type { Clock } from '../../context.ts'
import { findLiveGoldLock, insertGoldLock, planReplaced } from '../../store/gold-locks.ts'
import type { Tx } from '../../store/store.ts'
import type { Followed } from '../../store/transactions.ts'
import type { LateEmission } from '../../store/event-drafts.ts'
import { goldLockEvent, markUnlocked } from './transitions.ts'

/** By the message's own instructions, in their order; that it was confirmed without an error proves them. */
export { type GoldLockChange, goldLockChangesIn }

/** Writes the records and answers the events. */
export async function writeGoldLockChanges(
  tx: Tx,
  clock: Clock,
  row: Followed,
  slot: number,
  changes: readonly GoldLockChange[],
): Promise<LateEmission[]> {
  const told: LateEmission[] = []
  for (const change of changes) {
    if (change.kind === 'locked') told.push(...(await recordLock(tx, clock, row, slot, change)))
    else told.push(...(await recordUnlock(tx, row, slot, change.escrow)))
  }
  return told
}

async function recordLock(
  tx: Tx,
  clock: Clock,
  { signature, genesis, external_uid, metadata_json }: Followed,
  slot: number,
  { escrow, user, mint, amount, unlocksAt }: Extract<GoldLockChange, { kind: 'locked' }>,
): Promise<LateEmission[]> {
  const lock = await insertGoldLock(tx, {
    escrow,
    user,
    mint,
    amount: String(amount),
    unlocks_at: unlocksAt * 1000,
    status: 'locked',
    signature,
    slot,
    genesis,
    next_check_at: null,
    external_uid,
    metadata_json,
    created_at: clock.now(),
  })
  if (lock === null) return []
  await planReplaced(tx, lock, clock.now())
  return [goldLockEvent('gold.locked', lock, { slot, signature }, signature)]
}

/** Of a lock that landed elsewhere nothing is known; what the worker has noticed before is told of already. */
async function recordUnlock(tx: Tx, row: Followed, slot: number, escrow: string): Promise<LateEmission[]> {
  const { signature, genesis } = row
  const find = () => findLiveGoldLock(tx, { escrow, genesis, before: slot })
  // Again where the worker has moved it meanwhile.
  for (let lock = await find(); lock !== null; lock = await find()) {
    const told = await markUnlocked(tx, lock, { slot, signature }, row)
    if (told.length > 0) return told
  }
  return []
}
