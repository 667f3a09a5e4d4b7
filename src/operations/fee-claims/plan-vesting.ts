/** Plans a claim of the tokens that a curve's migration locked for its creator. */

import { type DbcPool, vestingEscrowAddress } from '../../chain/programs/dbc/index.ts'
import { LOCK_UNITS, onLock, readLock } from '../../chain/programs/jupiter-lock/index.ts'
import { isoSeconds, lockAmounts } from '../../solana/lock-schedule.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { buildTransaction } from '../building.ts'
import { curveMints, nothingToClaim, throwClaimRefusal, tooEarly } from './claim-answers.ts'
import type { ClaimContext } from './claim-context.ts'
import type { PlannedFeeClaim } from './types.ts'

/** The program pays nothing for an early claim, so it is refused with the next date. */
export async function planVestingClaim(context: ClaimContext, pool: DbcPool, payer: string): Promise<PlannedFeeClaim> {
  const { address, hasVesting } = pool
  if (!hasVesting) throw nothingToClaim(address, ': its config locks no tokens')
  const { at, escrow } = await readLock(context.chain, await vestingEscrowAddress(address))
  if (escrow === null) {
    throw tooEarly(`The tokens of ${address} are not locked yet: the migration creates their lock`)
  }
  const { claimable, next } = lockAmounts(escrow, BigInt(at.unixSeconds))
  if (claimable === 0n) {
    if (next === null) throw nothingToClaim(address, `: all vested tokens were paid to ${escrow.recipient}`)
    throw nothingToClaim(
      address,
      ` yet: the next ${next.amount} raw units of ${escrow.recipient} unlock ${dateText(next.at)}`,
    )
  }
  const built = await buildTransaction(context, {
    payer,
    requiredProgram: PROGRAMS.lock,
    fallbackUnits: LOCK_UNITS.claim,
    build: (envelope) => onLock(envelope, escrow, ({ claim }) => claim(payer, escrow.recipient, claimable)),
    onFailedSimulation: throwClaimRefusal,
  })
  const party = { beneficiary: 'creator', claimer: escrow.recipient } as const
  const plan = { ...curveMints(pool), ...party, kind: 'vesting' as const, estimated_base: String(claimable) }
  return { built, plan: { ...plan, type: 'fee_claim.executed' } }
}

function dateText(seconds: bigint): string {
  const moment = isoSeconds(seconds)
  return moment === null ? 'after the year 9999' : `at ${moment}`
}
