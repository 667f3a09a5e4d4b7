/** Builds the writing of a lock's title and description, unsigned or signed by the platform wallet. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { buildLockTitling, LOCK_UNITS, textsBytes } from '../../chain/programs/jupiter-lock/index.ts'
import { rentFor } from '../../chain/reads/rpc-reads.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { buildTransaction } from '../building.ts'
import { type LockBuild, lockInEitherMode } from './either-mode.ts'
import { requireLock, requireRole, throwLockRefusal } from './read-lock.ts'

type EntitleRoute = Api['locks']['entitle']
type EntitleInput = Input<EntitleRoute>
type TitlingSummary = Omit<Extract<Result<EntitleRoute>, { mode: 'signed' }>, 'mode' | 'signature'>

export async function entitleLock(context: Context, input: EntitleInput): Promise<Result<EntitleRoute>> {
  return lockInEitherMode(context, input, 'lock.entitle', (payer) => planTitling(context, { ...input, payer }))
}

async function planTitling(
  context: Context,
  { address, payer, title, description = '' }: EntitleInput,
): Promise<LockBuild<TitlingSummary>> {
  const { escrow, hasTexts } = await requireLock(context, address)
  requireRole(escrow, 'creator', { payer, verb: 'write the title of' })
  if (hasTexts) {
    throw badRequest(`The lock ${address} has a title already, which the program never changes`, { param: 'address' })
  }
  const texts = { title, description }
  const built = await buildTransaction(context, {
    payer,
    requiredProgram: PROGRAMS.lock,
    fallbackUnits: LOCK_UNITS.entitle,
    build: (envelope) => buildLockTitling({ ...envelope, lock: escrow, texts }),
    onFailedTrial: throwLockRefusal,
  })
  return { built, summary: { address, ...texts, rent: String(await rentFor(context.chain, textsBytes(texts))) } }
}
