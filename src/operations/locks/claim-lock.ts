/** Builds the claim of what has unlocked, unsigned or signed by the platform wallet. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { buildLockClaim, type Escrow, LOCK_UNITS, lockAmounts } from '../../chain/programs/jupiter-lock/index.ts'
import type { ChainTime } from '../../chain/reads/chain-clock.ts'
import type { Context } from '../../context.ts'
import { type ApiError, badRequest } from '../../platform/errors.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { feeInEpoch, feeOn } from '../../solana/transfer-fees.ts'
import { buildTransaction } from '../building.ts'
import { type LockBuild, lockInEitherMode } from './either-mode.ts'
import { momentOf } from './lock-record.ts'
import { requireLock, requirePayable, requireRole, requireUncancelled, throwLockRefusal } from './read-lock.ts'

type ClaimLockRoute = Api['locks']['claim']
type ClaimLockInput = Input<ClaimLockRoute>
type ClaimSummary = Omit<Extract<Result<ClaimLockRoute>, { mode: 'signed' }>, 'mode' | 'signature'>

/** A recipient who made the lock, and claims the last units, gets its rent back in the same transaction. */
export async function claimLock(context: Context, input: ClaimLockInput): Promise<Result<ClaimLockRoute>> {
  return lockInEitherMode(context, input, 'lock.claim', (payer) => planClaim(context, { ...input, payer }))
}

async function planClaim(
  context: Context,
  { address, payer, amount }: ClaimLockInput,
): Promise<LockBuild<ClaimSummary>> {
  const { escrow, at } = await requireLock(context, address)
  requireUncancelled(escrow)
  requireRole(escrow, 'recipient', { payer, verb: 'claim from' })
  const { total, claimable } = lockAmounts(escrow, BigInt(at.unixSeconds))
  if (claimable === 0n) throw nothingToClaim(escrow, at)
  const wanted = amount === undefined ? claimable : BigInt(amount)
  if (wanted > claimable) {
    throw badRequest(`amount is ${wanted}, but only ${claimable} raw units have unlocked and are not claimed yet`, {
      param: 'amount',
      details: { claimable: String(claimable) },
    })
  }
  const { token } = await requirePayable(context.chain, escrow, {
    wallet: payer,
    param: 'address',
    what: 'the claim',
    cannot: `Nothing can be claimed from ${address}`,
  })
  const remaining = total - escrow.claimed - wanted
  const closes = remaining === 0n && escrow.creator === payer
  const built = await buildTransaction(context, {
    payer,
    requiredProgram: PROGRAMS.lock,
    fallbackUnits: closes ? LOCK_UNITS.claimAndClose : LOCK_UNITS.claim,
    build: (envelope) => buildLockClaim({ ...envelope, lock: escrow, amount: wanted, closes }),
    onFailedTrial: throwLockRefusal,
  })
  const fee = feeOn(feeInEpoch(token?.extensions ?? null, at.epoch), wanted)
  return {
    built,
    summary: {
      address,
      mint: escrow.mint,
      recipient: payer,
      amount: String(wanted),
      received: String(wanted - fee),
      remaining: String(remaining),
      closes,
    },
  }
}

function nothingToClaim(escrow: Escrow, at: ChainTime): ApiError {
  const { address, creator } = escrow
  const { next } = lockAmounts(escrow, BigInt(at.unixSeconds))
  if (next === null) {
    return badRequest(`Everything of the lock ${address} is claimed: its creator ${creator} can close it`, {
      param: 'address',
      details: { reason: 'nothing_to_claim' },
    })
  }
  const when = momentOf(next.at) === null ? 'after the year 9999' : `at ${momentOf(next.at)}`
  return badRequest(`Nothing can be claimed from ${address} now: the next ${next.amount} raw units unlock ${when}`, {
    param: 'address',
    details: { reason: 'too_early', next_unlock: { at: momentOf(next.at), amount: String(next.amount) } },
  })
}
