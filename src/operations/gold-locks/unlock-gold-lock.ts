/** Builds the unlocking of a gold lock after its end time, with payout and closing in one transaction. */

import { formatDuration } from '../../api/durations.ts'
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { buildGoldUnlock, isPaidOut, readLockOf } from '../../chain/programs/jupiter-lock/index.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { goldLockMemo } from '../../solana/memos.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { buildTransaction, trackingOf, unsignedAnswer } from '../building.ts'
import { requirePayable } from '../locks/read-lock.ts'
import { goldLockMismatch, noGoldLock, secondsUntilUnlock, storedLock, unlocksAt } from './on-chain.ts'

type UnlockGoldLockRoute = Api['goldLocks']['unlock']

export async function unlockGoldLock(
  context: Context,
  input: Input<UnlockGoldLockRoute>,
): Promise<Result<UnlockGoldLockRoute>> {
  const { user, platform_id } = input
  const { escrow, at } = await readLockOf(context.chain, user)
  if (escrow === null) throw noGoldLock(context, user)
  const why = goldLockMismatch(context, escrow, await storedLock(context, user))
  if (why !== null) throw noGoldLock(context, user, escrow, why)
  const left = secondsUntilUnlock(escrow, at)
  // A lock that another tool has already paid out is only closed.
  if (left > 0 && !isPaidOut(escrow)) {
    const until = unlocksAt(escrow)
    throw badRequest(`The gold of ${user} is locked for another ${formatDuration(left)}, until ${until}`, {
      param: 'user',
      details: { escrow: escrow.address, unlocks_at: until, seconds_left: left },
    })
  }
  await requirePayable(context.chain, escrow, {
    wallet: user,
    param: 'user',
    what: 'the gold',
    cannot: `The gold of ${user} cannot be unlocked`,
  })
  const { address, mint, tokenProgram, cliffAmount, claimed } = escrow
  const amount = isPaidOut(escrow) ? 0n : cliffAmount - claimed
  const memo = goldLockMemo('gold-unlock', platform_id)
  const built = await buildTransaction(context, {
    payer: user,
    requiredProgram: PROGRAMS.lock,
    platformFee: input.platform_fee,
    // Twice the measured cost of the most expensive unlocking (74,000 units), because the cost of deriving addresses
    // varies by wallet.
    fallbackUnits: 150_000,
    build: (envelope) => buildGoldUnlock({ ...envelope, mint, tokenProgram, amount, memo }),
  })
  return {
    ...unsignedAnswer(built),
    escrow: address,
    mint,
    amount: String(amount),
    tracked_resource: trackingOf('gold_lock', user, amount > 0n ? ['gold.unlocked'] : []),
  }
}
