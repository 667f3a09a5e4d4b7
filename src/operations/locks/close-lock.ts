/** Builds the closing of a lock that is claimed or cancelled, unsigned or signed by the platform wallet. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { buildLockClosing, isPaidOut, LOCK_UNITS, readLockRent } from '../../chain/programs/jupiter-lock/index.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { buildTransaction } from '../building.ts'
import { type LockBuild, lockInEitherMode } from './either-mode.ts'
import { requireLock, requireRole, throwLockRefusal } from './read-lock.ts'

type CloseLockRoute = Api['locks']['close']
type CloseLockInput = Input<CloseLockRoute>
type ClosingSummary = Omit<Extract<Result<CloseLockRoute>, { mode: 'signed' }>, 'mode' | 'signature'>

export async function closeLock(context: Context, input: CloseLockInput): Promise<Result<CloseLockRoute>> {
  return lockInEitherMode(context, input, 'lock.close', (payer) => planClosing(context, { ...input, payer }))
}

async function planClosing(context: Context, { address, payer }: CloseLockInput): Promise<LockBuild<ClosingSummary>> {
  const { escrow } = await requireLock(context, address)
  requireRole(escrow, 'creator', { payer, verb: 'close' })
  if (escrow.cancelledAt === 0n && !isPaidOut(escrow)) {
    throw badRequest(
      `The lock ${address} still holds tokens of ${escrow.recipient}: it can be closed once all of them are claimed, or it is cancelled`,
      { param: 'address' },
    )
  }
  const built = await buildTransaction(context, {
    payer,
    requiredProgram: PROGRAMS.lock,
    fallbackUnits: LOCK_UNITS.close,
    build: (envelope) => buildLockClosing({ ...envelope, lock: escrow }),
    onFailedTrial: throwLockRefusal,
  })
  const rent = await readLockRent(context.chain, escrow)
  return { built, summary: { address, mint: escrow.mint, creator: payer, rent: String(rent) } }
}
