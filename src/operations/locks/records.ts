/** A lock of the chain as the API answers it. */
import { LOCK_PARTIES, type Lock, type LockParty } from '../../api/locks.ts'
import { type Escrow, isGoldLock, LAST_SECOND, lockAmounts } from '../../chain/programs/jupiter-lock/index.ts'
import type { ChainTime } from '../../chain/reads/chain-clock.ts'
import type { Services } from '../../context.ts'
import { DBC_POOL_AUTHORITY } from '../../solana/programs.ts'

/** Returns the time of Unix seconds in ISO 8601; null beyond the year 9999. */
export const momentOf = (seconds: bigint): string | null =>
  seconds > LAST_SECOND ? null : new Date(Number(seconds) * 1000).toISOString()

/** Returns who a mode of the program lets act: the sum of 1 for the creator and 2 for the recipient. */
export const partyOf = (mode: number): LockParty => LOCK_PARTIES[mode & 3] ?? 'none'
export const modeOf = (party: LockParty): number => LOCK_PARTIES.indexOf(party)

/** The terms of a lock, which its creation answers too. */
export function lockTerms(escrow: Omit<Escrow, 'address' | 'base' | 'claimed' | 'cancelledAt'>) {
  const { cliffTime, cliffAmount, frequency, periods, amountPerPeriod } = escrow
  return {
    mint: escrow.mint,
    token_program: escrow.tokenProgram,
    creator: escrow.creator,
    recipient: escrow.recipient,
    amount: String(cliffAmount + amountPerPeriod * periods),
    starts_at: momentOf(escrow.startTime),
    cliff_at: momentOf(cliffTime),
    cliff_amount: String(cliffAmount),
    frequency: String(frequency),
    periods: String(periods),
    amount_per_period: String(amountPerPeriod),
    ends_at: momentOf(cliffTime + frequency * periods),
    cancellable_by: partyOf(escrow.cancelMode),
    recipient_changeable_by: partyOf(escrow.updateRecipientMode),
  }
}

/** Returns the record of a lock at a time of the chain. */
export function lockRecord({ config }: Pick<Services, 'config'>, escrow: Escrow, at: ChainTime): Lock {
  const { unlocked, claimable, locked, next } = lockAmounts(escrow, BigInt(at.unixSeconds))
  return {
    address: escrow.address,
    origin: originOf(escrow, config.values['gold.mint']),
    ...lockTerms(escrow),
    unlocked: String(unlocked),
    claimed: String(escrow.claimed),
    claimable: String(claimable),
    locked: String(locked),
    next_unlock: next === null ? null : { at: momentOf(next.at), amount: String(next.amount) },
    cancelled_at: escrow.cancelledAt === 0n ? null : momentOf(escrow.cancelledAt),
  }
}

/** The launch program locks vested tokens itself, with one address for all of its pools. */
function originOf(escrow: Escrow, goldMint: string | undefined): Lock['origin'] {
  if (escrow.creator === DBC_POOL_AUTHORITY) return 'launch'
  return isGoldLock(escrow, goldMint) ? 'gold' : 'other'
}
