/** The account of a lock, and what makes it a gold lock: all at once at one time, for the wallet itself, for good. */

import type { ChainAccount } from '../../../solana/accounts.ts'
import { addressOf } from '../../../solana/addresses.ts'
import { PROGRAMS } from '../../../solana/programs.ts'
import type { TokenProgram } from '../tokens/index.ts'
import { ESCROW_ACCOUNT } from './program.ts'

/** Discriminator and `VestingEscrow`. */
export const ESCROW_BYTES = 296
/** Last second that an ISO 8601 time with four digits of a year can say; the program takes any 64 bits. */
const LAST_SECOND = 253_402_300_799n

/** When a lock pays out how much, and who can change that. */
export interface VestingSchedule {
  base: string
  creator: string
  recipient: string
  /** Unix seconds. */
  cliffTime: bigint
  cliffAmount: bigint
  amountPerPeriod: bigint
  periods: bigint
  /** 0: nobody may. */
  updateRecipientMode: number
  cancelMode: number
}

export interface Escrow extends VestingSchedule {
  address: string
  mint: string
  tokenProgram: TokenProgram
  /** Raw units paid out so far. */
  claimed: bigint
  /** Unix seconds. */
  startTime: bigint
  /** Unix seconds; 0: never. */
  cancelledAt: bigint
}

/** Null for what is no lock: nothing there, lamports that somebody sent to the address, or an account of another kind. */
export function decodeEscrow(address: string, account: ChainAccount | null): Escrow | null {
  if (account === null || account.owner !== PROGRAMS.lock.id || account.data.length < ESCROW_BYTES) return null
  const data = Buffer.from(account.data.buffer, account.data.byteOffset, account.data.byteLength)
  if (data.toString('hex', 0, 8) !== ESCROW_ACCOUNT) return null
  const key = (at: number) => addressOf(data.subarray(at, at + 32))
  const u64 = (at: number) => data.readBigUInt64LE(at)
  return {
    address,
    recipient: key(8),
    mint: key(40),
    creator: key(72),
    base: key(104),
    updateRecipientMode: data.readUInt8(137),
    cancelMode: data.readUInt8(138),
    tokenProgram: data.readUInt8(139) === 0 ? 'spl' : 'token2022',
    cliffTime: u64(144),
    cliffAmount: u64(160),
    amountPerPeriod: u64(168),
    periods: u64(176),
    claimed: u64(184),
    startTime: u64(192),
    cancelledAt: u64(200),
  }
}

/** Why it is no gold lock, as the end of a sentence; null for a gold lock of whatever mint. */
export function oddityOf(lock: VestingSchedule): string | null {
  const { base, creator, recipient } = lock
  if (recipient !== base) return `it pays out to ${recipient}`
  if (creator !== base) return `it was made by ${creator}`
  if (lock.amountPerPeriod > 0n && lock.periods > 0n) return 'it pays out in steps'
  if (lock.cliffAmount === 0n) return 'it locks nothing'
  if (lock.cancelMode !== 0) return 'it can be cancelled'
  if (lock.updateRecipientMode !== 0) return 'its recipient can be changed'
  return lock.cliffTime > LAST_SECOND ? 'its time is beyond the year 9999' : null
}

/** Nothing of it is left to pay out. */
export const isPaidOut = ({ claimed, cliffAmount }: Pick<Escrow, 'claimed' | 'cliffAmount'>): boolean =>
  claimed >= cliffAmount
