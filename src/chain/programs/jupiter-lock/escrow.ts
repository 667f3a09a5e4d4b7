/** Decodes the account of a lock, and checks that it is a gold lock: a single fixed payout to the wallet itself. */

import type { ChainAccount } from '../../../solana/accounts.ts'
import { addressOf } from '../../../solana/addresses.ts'
import { PROGRAMS } from '../../../solana/programs.ts'
import type { TokenProgram } from '../tokens/index.ts'
import { ESCROW_ACCOUNT } from './program.ts'

/** Size of the discriminator and `VestingEscrow`. */
export const ESCROW_BYTES = 296
/** Last second that ISO 8601 can represent with a year of four digits. The program accepts any 64 bits. */
const LAST_SECOND = 253_402_300_799n

/** The times and amounts of a lock's payouts, and who may change them. */
export interface VestingSchedule {
  base: string
  creator: string
  recipient: string
  /** Time of the cliff in Unix seconds. */
  cliffTime: bigint
  cliffAmount: bigint
  amountPerPeriod: bigint
  periods: bigint
  /** Who may change the recipient; 0 means no one. */
  updateRecipientMode: number
  cancelMode: number
}

export interface Escrow extends VestingSchedule {
  address: string
  mint: string
  tokenProgram: TokenProgram
  /** Seconds of a period. */
  frequency: bigint
  /** Raw units paid out so far. */
  claimed: bigint
  /** Start in Unix seconds. */
  startTime: bigint
  /** Time of cancellation in Unix seconds; 0 means never. */
  cancelledAt: bigint
}

/**
 * Returns null for an address without a lock: one without an account, with only lamports, or with another kind of
 * account.
 */
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
    frequency: u64(152),
    cliffAmount: u64(160),
    amountPerPeriod: u64(168),
    periods: u64(176),
    claimed: u64(184),
    startTime: u64(192),
    cancelledAt: u64(200),
  }
}

/** Returns why it is not a gold lock, as the end of a sentence, or null for a gold lock of any mint. */
export function scheduleMismatch(lock: VestingSchedule): string | null {
  const { base, creator, recipient } = lock
  if (recipient !== base) return `it pays out to ${recipient}`
  if (creator !== base) return `it was made by ${creator}`
  if (lock.amountPerPeriod > 0n && lock.periods > 0n) return 'it pays out in steps'
  if (lock.cliffAmount === 0n) return 'it locks nothing'
  if (lock.cancelMode !== 0) return 'it can be cancelled'
  if (lock.updateRecipientMode !== 0) return 'its recipient can be changed'
  return lock.cliffTime > LAST_SECOND ? 'its time is beyond the year 9999' : null
}

/** Whether the whole amount is paid out. */
export const isPaidOut = ({ claimed, cliffAmount }: Pick<Escrow, 'claimed' | 'cliffAmount'>): boolean =>
  claimed >= cliffAmount
