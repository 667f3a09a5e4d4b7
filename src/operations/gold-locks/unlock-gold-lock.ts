/** Builds the unlocking of a gold lock after its end time, with payout and closing in one transaction. */

import { formatDuration } from '../../api/durations.ts'
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { NodeCalls } from '../../chain/nodes/node-call.ts'
import {
  buildGoldUnlock,
  type Escrow,
  isPaidOut,
  readLockOf,
  readUnlockAccounts,
} from '../../chain/programs/jupiter-lock/index.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { goldLockMemo } from '../../solana/memos.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { buildTransaction, trackingOf, unsignedAnswer } from '../building.ts'
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
  await requireUnfrozen(context.chain, escrow)
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

/** Throws if an account is frozen, because tokens can neither leave nor reach it. The error names who can thaw it. */
async function requireUnfrozen(node: NodeCalls, escrow: Escrow): Promise<void> {
  const { base: user, mint } = escrow
  const { lock, wallet, freezeAuthority } = await readUnlockAccounts(node, escrow)
  if (wallet.state !== null && wallet.state.owner !== user) {
    throw badRequest(
      `The token account ${wallet.address} of ${user} belongs to ${wallet.state.owner}: the gold can be paid out only when ${user} owns the account again`,
      { param: 'user', details: { escrow: escrow.address, mint, account: wallet.address, owner: wallet.state.owner } },
    )
  }
  // A closing without a payout moves no tokens.
  if ((lock.state?.amount ?? 0n) === 0n) return
  for (const [ofAccount, { address, state }] of [
    ['of the lock', lock],
    ['of the wallet', wallet],
  ] as const) {
    if (state?.state !== 'frozen') continue
    const remedy =
      freezeAuthority === null
        ? 'and nobody can thaw it, because the token no longer has a freeze authority'
        : `its freeze authority ${freezeAuthority} must thaw it first`
    throw badRequest(
      `The gold of ${user} cannot be unlocked: the token account ${address} ${ofAccount} is frozen, ${remedy}`,
      {
        param: 'user',
        details: { escrow: escrow.address, mint, account: address, freeze_authority: freezeAuthority },
      },
    )
  }
}
