/** Builds the change of a lock's recipient, unsigned or signed by the platform wallet. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { buildRecipientChange, isPaidOut, LOCK_UNITS, lockAmounts } from '../../chain/programs/jupiter-lock/index.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { buildTransaction } from '../building.ts'
import { requireRecipients } from '../recipients.ts'
import { type LockBuild, lockInEitherMode } from './either-mode.ts'
import { requireLock, requireMay, requireUncancelled, throwLockRefusal } from './read-lock.ts'

type ChangeRecipientRoute = Api['locks']['changeRecipient']
type ChangeRecipientInput = Input<ChangeRecipientRoute>
type ChangeSummary = Omit<Extract<Result<ChangeRecipientRoute>, { mode: 'signed' }>, 'mode' | 'signature'>

export async function changeLockRecipient(
  context: Context,
  input: ChangeRecipientInput,
): Promise<Result<ChangeRecipientRoute>> {
  return lockInEitherMode(context, input, 'lock.change_recipient', (payer) => planChange(context, { ...input, payer }))
}

async function planChange(
  context: Context,
  { address, payer, new_recipient, allow_programs }: ChangeRecipientInput,
): Promise<LockBuild<ChangeSummary>> {
  const { escrow, at } = await requireLock(context, address)
  requireUncancelled(escrow)
  requireMay(escrow, escrow.updateRecipientMode, { payer, verb: 'change the recipient of' })
  const { recipient, mint } = escrow
  if (new_recipient === recipient) {
    throw badRequest(`${new_recipient} is the recipient of the lock ${address} already`, { param: 'new_recipient' })
  }
  if (isPaidOut(escrow)) {
    throw badRequest(`Everything of the lock ${address} is claimed, so a new recipient would get nothing`, {
      param: 'address',
    })
  }
  // The program accepts any address, even one that nobody can sign for.
  await requireRecipients(context, [{ param: 'new_recipient', wallet: new_recipient }], {
    allowsPrograms: allow_programs,
  })
  const { claimable } = lockAmounts(escrow, BigInt(at.unixSeconds))
  const built = await buildTransaction(context, {
    payer,
    requiredProgram: PROGRAMS.lock,
    fallbackUnits: LOCK_UNITS.changeRecipient,
    build: (envelope) => buildRecipientChange({ ...envelope, lock: escrow, to: new_recipient }),
    onFailedTrial: throwLockRefusal,
  })
  return { built, summary: { address, mint, recipient, new_recipient, claimable: String(claimable) } }
}
