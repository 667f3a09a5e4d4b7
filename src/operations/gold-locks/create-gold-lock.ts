/** Builds the locking of gold: all of it until one moment, for good. */

import { inWords } from '../../api/durations.ts'
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { withComputeBudget } from '../../chain/compute-budget.ts'
import {
  type BeforeLock,
  buildGoldLock,
  type Escrow,
  isPaidOut,
  readBeforeLock,
} from '../../chain/programs/jupiter-lock/index.ts'
import { requireProgram } from '../../chain/required-program.ts'
import { readLatestBlockhash } from '../../chain/rpc-reads.ts'
import type { Context } from '../../context.ts'
import { type ApiError, badRequest } from '../../errors.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { platformFee } from '../platform-fee.ts'
import { goldMint, lockable } from './gold-mint.ts'
import { memoOf } from './memo.ts'
import { foreignness, secondsLeft, statusOf, storedLock, unlocksAt } from './on-chain.ts'

type CreateGoldLockRoute = Api['goldLocks']['create']

export const DAY_SECONDS = 86_400
/** Twice what the costliest lock was measured at (59,608), as finding addresses varies by wallet. */
const FALLBACK_UNITS = 120_000

/** The time is counted from now, by the chain's clock: it is part of what the wallet signs. */
export async function createGoldLock(
  context: Context,
  input: Input<CreateGoldLockRoute>,
): Promise<Result<CreateGoldLockRoute>> {
  const { chain, config } = context
  const { user, platform_id, lock_duration_days } = input
  const amount = BigInt(input.amount)
  const mint = goldMint(context)
  const connection = await chain.connection()
  const before = await readBeforeLock(connection, { user, mint })
  if (before.escrow !== null) throw await occupied(context, user, before.escrow, before)
  const { tokenProgram } = lockable(context, mint, before.token)
  requireEnough(before, { user, mint, amount })
  await requireProgram(chain, PROGRAMS.lock)
  const startsAt = before.at.unixSeconds
  const ends = startsAt + lock_duration_days * DAY_SECONDS
  const after = await platformFee({ ...context, connection }, { payer: user, lamports: input.platform_fee })
  const recentBlockhash = await readLatestBlockhash(connection)
  const memo = memoOf('gold-lock', platform_id)
  const common = { payer: user, mint, tokenProgram, amount, startsAt, unlocksAt: ends, memo, recentBlockhash, after }
  const { transaction, requiredSigners } = await withComputeBudget(
    { connection, config },
    (first) => buildGoldLock({ ...common, before: first }),
    FALLBACK_UNITS,
  )
  return {
    mode: 'unsigned',
    transaction: Buffer.from(transaction).toString('base64'),
    requiredSigners,
    escrow: before.address,
    mint,
    unlocks_at: new Date(ends * 1000).toISOString(),
    tracked_resource: { resource_type: 'gold_lock', resource_id: user, related_events: ['gold.locked'] },
  }
}

/** A wallet has one place for locks: what is there, until when, and what to do about it. */
async function occupied(context: Context, user: string, escrow: Escrow, { at }: BeforeLock): Promise<ApiError> {
  const why = foreignness(context, escrow, await storedLock(context, user))
  const { address, mint, cliffAmount } = escrow
  const details = { escrow: address, mint, amount: String(cliffAmount) }
  if (why !== null) {
    return badRequest(
      `The wallet ${user} has a lock at ${address} that was made with another tool (${why}), and can have one at a time: end that one first, with the tool that made it`,
      { param: 'user', details },
    )
  }
  const until = unlocksAt(escrow)
  const live = { ...details, status: statusOf(escrow, at), unlocks_at: until }
  if (isPaidOut(escrow)) {
    return badRequest(
      `The gold lock of ${user} at ${address} is paid out, but not closed: close it (DELETE /v2/gold-locks/${user}, \`svc gold unlock\`), which returns its rent, then lock again`,
      { param: 'user', details: live },
    )
  }
  const left = secondsLeft(escrow, at)
  const when = left > 0 ? `for another ${inWords(left)}, until ${until}` : `and its time has come: unlock it first`
  return badRequest(`The wallet ${user} has a gold lock of ${cliffAmount} raw units already, ${when}`, {
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
    throw badRequest(`The wallet ${user} has ${have} raw units of the gold token ${mint}, ${amount} are needed`, {
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
