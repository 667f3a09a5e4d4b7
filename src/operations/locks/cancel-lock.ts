/** Builds the cancellation of a lock, unsigned or signed by the platform wallet. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { buildLockCancellation, LOCK_UNITS, lockAmounts } from '../../chain/programs/jupiter-lock/index.ts'
import type { Context } from '../../context.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { buildTransaction } from '../building.ts'
import { type LockBuild, lockInEitherMode } from './either-mode.ts'
import { requireLock, requireMay, requirePayable, requireUncancelled, throwLockRefusal } from './read-lock.ts'

type CancelLockRoute = Api['locks']['cancel']
type CancelLockInput = Input<CancelLockRoute>
type CancellationSummary = Omit<Extract<Result<CancelLockRoute>, { mode: 'signed' }>, 'mode' | 'signature'>

/** Only the creator can close the lock, so a recipient who cancels leaves that to it. */
export async function cancelLock(context: Context, input: CancelLockInput): Promise<Result<CancelLockRoute>> {
  return lockInEitherMode(context, input, 'lock.cancel', (payer) => planCancellation(context, { ...input, payer }))
}

async function planCancellation(
  context: Context,
  { address, payer }: CancelLockInput,
): Promise<LockBuild<CancellationSummary>> {
  const { escrow, at } = await requireLock(context, address)
  requireUncancelled(escrow)
  requireMay(escrow, escrow.cancelMode, { payer, verb: 'cancel' })
  const { creator, recipient, mint } = escrow
  const terms = { param: 'address', what: 'its part', cannot: `The lock ${address} cannot be cancelled` }
  const { lock } = await requirePayable(context.chain, escrow, { ...terms, wallet: recipient })
  await requirePayable(context.chain, escrow, { ...terms, wallet: creator })
  const { claimable } = lockAmounts(escrow, BigInt(at.unixSeconds))
  const held = lock.state?.amount ?? 0n
  const closes = payer === creator
  const built = await buildTransaction(context, {
    payer,
    requiredProgram: PROGRAMS.lock,
    fallbackUnits: LOCK_UNITS.cancel,
    build: (envelope) => buildLockCancellation({ ...envelope, lock: escrow }),
    onFailedTrial: throwLockRefusal,
  })
  return {
    built,
    summary: {
      address,
      mint,
      creator,
      recipient,
      to_recipient: String(claimable),
      to_creator: String(held > claimable ? held - claimable : 0n),
      closes,
    },
  }
}
