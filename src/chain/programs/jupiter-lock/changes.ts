/** Reads the changes that a transaction makes to locks, by its own instructions, and tells gold locks from others. */
import type { DecodedMessage } from '../../../solana/decoded-message.ts'
import { LAST_SECOND } from '../../../solana/lock-schedule.ts'
import { JUPITER_LOCK, type LockedTerms, type LockTerms, readTerms } from '../../../solana/programs/jupiter-lock.ts'

/** Returns why it is not a gold lock, as the end of a sentence, or null for a gold lock of any mint. */
export function scheduleMismatch(lock: LockedTerms): string | null {
  const { base, creator, recipient } = lock
  if (recipient !== base) return `it pays out to ${recipient}`
  if (creator !== base) return `it was made by ${creator}`
  if (lock.amountPerPeriod > 0n && lock.periods > 0n) return 'it pays out in steps'
  if (lock.cliffAmount === 0n) return 'it locks nothing'
  if (lock.cancelMode !== 0) return 'it can be cancelled'
  if (lock.updateRecipientMode !== 0) return 'its recipient can be changed'
  return lock.cliffTime > LAST_SECOND ? 'its time is beyond the year 9999' : null
}

/** The terms of a gold lock: all of it unlocks at one time, and nobody can change it. Times are Unix seconds. */
export const goldTerms = (lock: { amount: bigint; startsAt: number; unlocksAt: number }): LockTerms => ({
  startTime: BigInt(lock.startsAt),
  cliffTime: BigInt(lock.unlocksAt),
  // No periods follow, but the program requires a frequency.
  frequency: 1n,
  cliffAmount: lock.amount,
  amountPerPeriod: 0n,
  periods: 0n,
  updateRecipientMode: 0,
  cancelMode: 0,
})

/** Gold locks are locks of the gold mint, by one wallet for itself, that pay once and that nobody can change. */
export const isGoldLock = (lock: LockedTerms, goldMint: string | undefined): boolean =>
  lock.mint === goldMint && scheduleMismatch(lock) === null

export type LockChange =
  | ({ kind: 'created'; escrow: string } & LockedTerms)
  /** `by` is the creator or the recipient. */
  | { kind: 'cancelled'; escrow: string; by: string }
  /** A closing proves that everything was paid out. */
  | { kind: 'closed'; escrow: string; creator: string }

export type GoldLockChange = Exclude<LockChange, { kind: 'cancelled' }>

/** `claimer` signs and is the lock's recipient. `mint` is null if the instruction does not name it. */
export interface VestingClaimChange {
  kind: 'vesting'
  escrow: string
  claimer: string
  mint: string | null
}

/**
 * Returns the changes of locks of every mint, whether or not the transaction succeeds. Calls between programs and
 * accounts from lookup tables are not included.
 */
export function lockChangesIn(message: DecodedMessage): LockChange[] {
  return JUPITER_LOCK.callsIn(message).flatMap((call): LockChange[] => {
    const { escrow } = call.accounts
    if (escrow === undefined) return []
    if (call.name === 'create_vesting_escrow_v2') {
      const { base, token_mint: mint, sender: creator, recipient } = call.accounts
      if (base === undefined || mint === undefined || creator === undefined || recipient === undefined) return []
      if (call.args === null) return []
      return [{ kind: 'created', escrow, mint, base, creator, recipient, ...readTerms(call.args) }]
    }
    if (call.name === 'close_vesting_escrow') {
      const { creator } = call.accounts
      return creator === undefined ? [] : [{ kind: 'closed', escrow, creator }]
    }
    if (call.name !== 'cancel_vesting_escrow' || call.accounts.signer === undefined) return []
    return [{ kind: 'cancelled', escrow, by: call.accounts.signer }]
  })
}

/** Returns new gold locks of `mint` (none without it) and closings of every mint, like `lockChangesIn`. */
export const goldLockChangesIn = (message: DecodedMessage, mint: string | undefined): GoldLockChange[] =>
  lockChangesIn(message).filter(
    (change): change is GoldLockChange =>
      change.kind === 'closed' || (change.kind === 'created' && isGoldLock(change, mint)),
  )

/**
 * Returns claims in the order of the instructions, without those that paid nothing according to the chain, for example
 * before the first tokens are vested. A claim is left out if it names an account from a lookup table that was not
 * read.
 */
export function vestingClaimsIn(message: DecodedMessage): VestingClaimChange[] {
  const { keys, instructions } = message
  return JUPITER_LOCK.callsIn(message).flatMap((call): VestingClaimChange[] => {
    if (call.name !== 'claim_v2' && call.name !== 'claim') return []
    const { escrow, recipient: claimer } = call.accounts
    const mint = call.name === 'claim' ? null : call.accounts.token_mint
    if (escrow === undefined || claimer === undefined || mint === undefined) return []
    const next = instructions.slice(call.place + 1).find((each) => keys[each.programIdIndex] === JUPITER_LOCK.id)
    const event = next === undefined ? null : JUPITER_LOCK.event('claimed', next.data)
    return event?.amount === 0n ? [] : [{ kind: 'vesting', escrow, claimer, mint }]
  })
}
