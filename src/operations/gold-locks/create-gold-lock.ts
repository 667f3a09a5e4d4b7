/** Builds a gold lock: one amount, locked irrevocably until one time. */

import { formatDuration } from '../../api/durations.ts'
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import {
  type BeforeLock,
  buildGoldLock,
  type Escrow,
  isPaidOut,
  readBeforeLock,
} from '../../chain/programs/jupiter-lock/index.ts'
import { decimalsProof } from '../../chain/programs/tokens/index.ts'
import type { Context } from '../../context.ts'
import { type ApiError, badRequest } from '../../platform/errors.ts'
import { DAY_SECONDS } from '../../platform/timing.ts'
import { goldLockMemo } from '../../solana/memos.ts'
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../solana/program-ids.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { buildTransaction, trackingOf, unsignedAnswer } from '../building.ts'
import { goldMint, requireLockable } from './gold-mint.ts'
import { goldLockMismatch, goldLockStatusOf, secondsUntilUnlock, storedLock, unlocksAt } from './on-chain.ts'

type CreateGoldLockRoute = Api['goldLocks']['create']

/** The duration counts from now by the chain's clock. The resulting time is part of what the wallet signs. */
export async function createGoldLock(
  context: Context,
  input: Input<CreateGoldLockRoute>,
): Promise<Result<CreateGoldLockRoute>> {
  const { user, platform_id, lock_duration_days } = input
  const amount = BigInt(input.amount)
  const mint = goldMint(context)
  const before = await readBeforeLock(context.chain, { user, mint })
  if (before.escrow !== null) throw await occupiedError(context, user, before.escrow, before)
  const { tokenProgram, decimals } = requireLockable(context, mint, before.token)
  requireEnough(before, { user, mint, amount })
  const startsAt = before.at.unixSeconds
  const ends = startsAt + lock_duration_days * DAY_SECONDS
  const memo = goldLockMemo('gold-lock', platform_id)
  const program = tokenProgram === 'spl' ? TOKEN_PROGRAM : TOKEN_2022_PROGRAM
  const proof = await decimalsProof(user, { mint, program, decimals })
  const built = await buildTransaction(context, {
    payer: user,
    requiredProgram: PROGRAMS.lock,
    platformFee: input.platform_fee,
    // Twice the measured cost of the most expensive lock (59,608 units), because the cost of deriving addresses varies
    // by wallet.
    fallbackUnits: 120_000,
    build: ({ before = [], ...envelope }) =>
      buildGoldLock({
        ...envelope,
        before: [...before, proof],
        mint,
        tokenProgram,
        amount,
        startsAt,
        unlocksAt: ends,
        memo,
      }),
  })
  return {
    ...unsignedAnswer(built),
    escrow: before.address,
    mint,
    unlocks_at: new Date(ends * 1000).toISOString(),
    tracked_resource: trackingOf('gold_lock', user, ['gold.locked']),
  }
}

/**
 * Returns the error for a wallet whose only lock address is taken. It names the existing lock, its end and the remedy.
 */
async function occupiedError(context: Context, user: string, escrow: Escrow, { at }: BeforeLock): Promise<ApiError> {
  const why = goldLockMismatch(context, escrow, await storedLock(context, user))
  const { address, mint, cliffAmount } = escrow
  const details = { escrow: address, mint, amount: String(cliffAmount) }
  if (why !== null) {
    return badRequest(
      `The wallet ${user} has a lock at ${address} that was made with another tool (${why}), and can have only one at a time: end it first with that tool`,
      { param: 'user', details },
    )
  }
  const until = unlocksAt(escrow)
  const live = { ...details, status: goldLockStatusOf(escrow, at), unlocks_at: until }
  if (isPaidOut(escrow)) {
    return badRequest(
      `The gold lock of ${user} at ${address} is paid out but not closed: close it (DELETE /v2/gold-locks/${user}, \`svc gold unlock\`), which returns its rent, then lock again`,
      { param: 'user', details: live },
    )
  }
  const left = secondsUntilUnlock(escrow, at)
  const when =
    left > 0 ? `for another ${formatDuration(left)}, until ${until}` : `and it can be unlocked: unlock it first`
  return badRequest(`The wallet ${user} already has a gold lock of ${cliffAmount} raw units, ${when}`, {
    param: 'user',
    details: { ...live, seconds_left: left },
  })
}

function requireEnough(
  { holding }: Pick<BeforeLock, 'holding'>,
  { user, mint, amount }: { user: string; mint: string; amount: bigint },
): void {
  const have = holding?.amount ?? 0n
  const details = { mint, have: String(have), need: String(amount) }
  if (have < amount) {
    throw badRequest(`The wallet ${user} has ${have} raw units of the gold token ${mint}, but ${amount} are needed`, {
      param: 'amount',
      details,
    })
  }
  if (!holding?.isFrozen) return
  throw badRequest(
    `The gold of ${user} is frozen in ${holding.address}: the token's freeze authority must thaw it first`,
    {
      param: 'user',
      details: { ...details, account: holding.address },
    },
  )
}
