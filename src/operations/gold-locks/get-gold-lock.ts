/** Reads the gold lock of a wallet from the chain, or the last ended one when there is none. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { readLockOf } from '../../chain/programs/jupiter-lock/index.ts'
import type { Context } from '../../context.ts'
import { goldLockRecord } from '../api-records.ts'
import {
  goldLockMismatch,
  goldLockStatusOf,
  isStoredLock,
  noGoldLock,
  secondsUntilUnlock,
  storedLock,
  unlocksAt,
} from './on-chain.ts'

type GetGoldLockRoute = Api['goldLocks']['get']

export async function getGoldLock(
  context: Context,
  { user }: Input<GetGoldLockRoute>,
): Promise<Result<GetGoldLockRoute>> {
  const { escrow, at } = await readLockOf(context.chain, user)
  const stored = await storedLock(context, user)
  if (escrow === null) {
    if (stored === null) throw noGoldLock(context, user)
    const record = goldLockRecord(stored)
    const left = Math.max(0, stored.unlocks_at / 1000 - at.unixSeconds)
    // No one can end a lock before its time, so the node has not seen it yet.
    return left > 0 ? { ...record, seconds_left: left } : { ...record, status: 'unlocked', seconds_left: 0 }
  }
  const why = goldLockMismatch(context, escrow, stored)
  if (why !== null) throw noGoldLock(context, user, escrow, why)
  return {
    user,
    mint: escrow.mint,
    amount: String(escrow.cliffAmount),
    unlocks_at: unlocksAt(escrow),
    status: goldLockStatusOf(escrow, at),
    escrow: escrow.address,
    created_at: stored !== null && isStoredLock(escrow, stored) ? goldLockRecord(stored).created_at : null,
    seconds_left: secondsUntilUnlock(escrow, at),
  }
}
