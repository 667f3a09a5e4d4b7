/** Decodes the accounts of a lock, says what it pays at a time, and checks whether it is a gold lock. */

import type { ChainAccount } from '../../../solana/accounts.ts'
import { type LockSchedule, nextUnlock, totalOf, unlockedAt } from '../../../solana/lock-schedule.ts'
import { type EscrowFields, JUPITER_LOCK } from '../../../solana/programs/jupiter-lock.ts'
import type { TokenProgram } from '../tokens/index.ts'

/** Last second that ISO 8601 can represent with a year of four digits. The program accepts any 64 bits. */
export const LAST_SECOND = 253_402_300_799n

/** The payouts of a lock, and who may change them. */
export interface LockedSchedule extends Omit<LockSchedule, 'frequency'> {
  mint: string
  base: string
  creator: string
  recipient: string
  /** Who may change the recipient: the sum of 1 for the creator and 2 for the recipient. */
  updateRecipientMode: number
  cancelMode: number
}

export interface Escrow extends LockedSchedule, LockSchedule {
  address: string
  tokenProgram: TokenProgram
  /** Raw units paid out so far. A cancellation does not count what it pays. */
  claimed: bigint
  /** Start in Unix seconds. */
  startTime: bigint
  /** Time of cancellation in Unix seconds; 0 means never. */
  cancelledAt: bigint
}

/** What a lock has paid and will pay, in raw units. */
export interface LockAmounts {
  total: bigint
  /** What has unlocked, with the claimed part. */
  unlocked: bigint
  /** What a claim pays now. */
  claimable: bigint
  /** What is still to unlock. */
  locked: bigint
  /** The next unlock with its Unix seconds; null after the last one. */
  next: { at: bigint; amount: bigint } | null
}

/** Returns the amounts of a lock at a time, in Unix seconds. A cancelled lock pays nothing any more. */
export function lockAmounts(escrow: Escrow, unixSeconds: bigint): LockAmounts {
  const { claimed, cancelledAt } = escrow
  const total = totalOf(escrow)
  if (cancelledAt > 0n) {
    return { total, unlocked: unlockedAt(escrow, cancelledAt), claimable: 0n, locked: 0n, next: null }
  }
  const unlocked = unlockedAt(escrow, unixSeconds)
  return {
    total,
    unlocked,
    claimable: unlocked > claimed ? unlocked - claimed : 0n,
    locked: total - unlocked,
    next: nextUnlock(escrow, unixSeconds),
  }
}

/** The parts of a schedule that a creation and the account of a lock have in common, in the words of the program. */
type WrittenSchedule = Pick<
  EscrowFields,
  | 'cliff_time'
  | 'cliff_unlock_amount'
  | 'amount_per_period'
  | 'number_of_period'
  | 'update_recipient_mode'
  | 'cancel_mode'
>
export const scheduleOf = (fields: WrittenSchedule) => ({
  cliffTime: fields.cliff_time,
  cliffAmount: fields.cliff_unlock_amount,
  amountPerPeriod: fields.amount_per_period,
  periods: fields.number_of_period,
  updateRecipientMode: fields.update_recipient_mode,
  cancelMode: fields.cancel_mode,
})

/**
 * Returns null for an address without a lock: one without an account, with only lamports, or with another kind of
 * account.
 */
export function decodeEscrow(address: string, account: ChainAccount | null): Escrow | null {
  const fields = JUPITER_LOCK.decode('escrow', account)
  if (fields === null) return null
  const { recipient, token_mint: mint, creator, base, frequency } = fields
  return {
    ...{ address, recipient, mint, creator, base, frequency, ...scheduleOf(fields) },
    tokenProgram: fields.token_program_flag === 0 ? 'spl' : 'token2022',
    claimed: fields.total_claimed_amount,
    startTime: fields.vesting_start_time,
    cancelledAt: fields.cancelled_at,
  }
}

/** The texts that a creator wrote about a lock, as they are on chain. */
export interface LockTexts {
  title: string
  description: string
}

/** Bytes of the account with these texts: discriminator, lock, and four texts of which two are empty. */
export const textsBytes = ({ title, description }: LockTexts): number =>
  8 + 32 + 4 * 4 + Buffer.byteLength(title) + Buffer.byteLength(description)

/** Decodes the account with a lock's texts; null for an address without them. Unreadable texts count as none. */
export function decodeLockTexts(account: ChainAccount | null): LockTexts | null {
  const fields = JUPITER_LOCK.decode('escrow_metadata', account)
  return fields && { title: fields.name, description: fields.description }
}

/** Returns why it is not a gold lock, as the end of a sentence, or null for a gold lock of any mint. */
export function scheduleMismatch(lock: LockedSchedule): string | null {
  const { base, creator, recipient } = lock
  if (recipient !== base) return `it pays out to ${recipient}`
  if (creator !== base) return `it was made by ${creator}`
  if (lock.amountPerPeriod > 0n && lock.periods > 0n) return 'it pays out in steps'
  if (lock.cliffAmount === 0n) return 'it locks nothing'
  if (lock.cancelMode !== 0) return 'it can be cancelled'
  if (lock.updateRecipientMode !== 0) return 'its recipient can be changed'
  return lock.cliffTime > LAST_SECOND ? 'its time is beyond the year 9999' : null
}

/** Gold locks are locks of the gold mint, by one wallet for itself, that pay once and that nobody can change. */
export const isGoldLock = (lock: LockedSchedule, goldMint: string | undefined): boolean =>
  lock.mint === goldMint && scheduleMismatch(lock) === null

/** Whether the whole amount is paid out. */
export const isPaidOut = (escrow: Escrow): boolean => escrow.claimed >= totalOf(escrow)
