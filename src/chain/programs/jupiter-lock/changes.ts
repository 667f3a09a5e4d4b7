/** Reads the changes that a transaction makes to gold locks, by its own instructions. */
import type { CompiledInstruction, DecodedMessage } from '../../../solana/decoded-message.ts'
import { PROGRAMS } from '../../../solana/programs.ts'
import { scheduleMismatch, type VestingSchedule } from './escrow.ts'
import { LOCK_INSTRUCTIONS } from './program.ts'

export type GoldLockChange =
  /** `amount` is in raw units, `unlocksAt` in Unix seconds. */
  | { kind: 'locked'; escrow: string; user: string; mint: string; amount: bigint; unlocksAt: number }
  /** A closing proves that everything was paid out. */
  | { kind: 'unlocked'; escrow: string; user: string }

/** Bytes of the discriminator, the parameters and an option. */
const LEAST_BYTES = 8 + 50 + 1

/**
 * Returns locks of `mint` (none without it) and unlockings of every mint, whether or not the transaction succeeds.
 * Calls between programs and accounts from lookup tables are not included.
 */
export function goldLockChangesIn({ keys, instructions }: DecodedMessage, mint: string | undefined): GoldLockChange[] {
  return instructions.flatMap((instruction): GoldLockChange[] => {
    if (keys[instruction.programIdIndex] !== PROGRAMS.lock.id) return []
    const data = Buffer.from(instruction.data)
    const kind = data.toString('hex', 0, 8)
    const account = (index: number) => lockAccountAt(keys, instruction, index)
    if (kind === LOCK_INSTRUCTIONS.close) {
      const [escrow, user] = [account(0), account(5)]
      return escrow === undefined || user === undefined ? [] : [{ kind: 'unlocked', escrow, user }]
    }
    if (kind !== LOCK_INSTRUCTIONS.create || data.length < LEAST_BYTES) return []
    const change = lockedBy(account, data)
    return change !== null && change.mint === mint ? [change] : []
  })
}

function lockedBy(account: (index: number) => string | undefined, data: Buffer) {
  const [base, escrow, mint, , creator, , recipient] = Array.from({ length: 7 }, (_, i) => account(i))
  if (base === undefined || escrow === undefined || mint === undefined) return null
  if (creator === undefined || recipient === undefined) return null
  const u64 = (index: number) => data.readBigUInt64LE(8 + index * 8)
  const schedule: VestingSchedule = {
    base,
    creator,
    recipient,
    cliffTime: u64(1),
    cliffAmount: u64(3),
    amountPerPeriod: u64(4),
    periods: u64(5),
    updateRecipientMode: data.readUInt8(56),
    cancelMode: data.readUInt8(57),
  }
  if (scheduleMismatch(schedule) !== null) return null
  const { cliffAmount: amount, cliffTime } = schedule
  return { kind: 'locked' as const, escrow, user: base, mint, amount, unlocksAt: Number(cliffTime) }
}

function lockAccountAt(keys: readonly string[], { accounts }: CompiledInstruction, index: number): string | undefined {
  const key = accounts[index]
  return key === undefined ? undefined : keys[key]
}
