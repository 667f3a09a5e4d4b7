/** Reads the changes that a transaction makes to locks, by its own instructions. */
import type { CompiledInstruction, DecodedMessage } from '../../../solana/decoded-message.ts'
import { PROGRAMS } from '../../../solana/programs.ts'
import { scheduleMismatch, type VestingSchedule } from './escrow.ts'
import { LOCK_INSTRUCTIONS } from './program.ts'

export type LockChange =
  | { kind: 'created'; escrow: string; mint: string; schedule: VestingSchedule }
  /** `by` is the creator or the recipient. */
  | { kind: 'cancelled'; escrow: string; by: string }
  /** A closing proves that everything was paid out. */
  | { kind: 'closed'; escrow: string; creator: string }

export type GoldLockChange =
  /** `amount` is in raw units, `unlocksAt` in Unix seconds. */
  | { kind: 'locked'; escrow: string; user: string; mint: string; amount: bigint; unlocksAt: number }
  | { kind: 'unlocked'; escrow: string; user: string }

/** Bytes of the discriminator, the parameters and an option. */
const LEAST_BYTES = 8 + 50 + 1

/**
 * Returns the changes of locks of every mint, whether or not the transaction succeeds. Calls between programs and
 * accounts from lookup tables are not included.
 */
export function lockChangesIn({ keys, instructions }: DecodedMessage): LockChange[] {
  return instructions.flatMap((instruction): LockChange[] => {
    if (keys[instruction.programIdIndex] !== PROGRAMS.lock.id) return []
    const data = Buffer.from(instruction.data)
    const kind = data.toString('hex', 0, 8)
    const account = (index: number) => lockAccountAt(keys, instruction, index)
    if (kind === LOCK_INSTRUCTIONS.create) return createdBy(account, data)
    const [isClosing, isCancelling] = [kind === LOCK_INSTRUCTIONS.close, kind === LOCK_INSTRUCTIONS.cancel]
    if (!isClosing && !isCancelling) return []
    const [escrow, by] = [account(0), account(isClosing ? 5 : 6)]
    if (escrow === undefined || by === undefined) return []
    return [isClosing ? { kind: 'closed', escrow, creator: by } : { kind: 'cancelled', escrow, by }]
  })
}

/** Returns gold locks of `mint` (none without it) and closings of every mint, like `lockChangesIn`. */
export function goldLockChangesIn(message: DecodedMessage, mint: string | undefined): GoldLockChange[] {
  return lockChangesIn(message).flatMap((change): GoldLockChange[] => {
    if (change.kind === 'closed') return [{ kind: 'unlocked', escrow: change.escrow, user: change.creator }]
    if (change.kind !== 'created' || change.mint !== mint || scheduleMismatch(change.schedule) !== null) return []
    const { escrow, schedule } = change
    const { base: user, cliffAmount: amount, cliffTime } = schedule
    return [{ kind: 'locked', escrow, user, mint, amount, unlocksAt: Number(cliffTime) }]
  })
}

function createdBy(account: (index: number) => string | undefined, data: Buffer): LockChange[] {
  const [base, escrow, mint, , creator, , recipient] = Array.from({ length: 7 }, (_, i) => account(i))
  if (base === undefined || escrow === undefined || mint === undefined) return []
  if (creator === undefined || recipient === undefined || data.length < LEAST_BYTES) return []
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
  return [{ kind: 'created', escrow, mint, schedule }]
}

function lockAccountAt(keys: readonly string[], { accounts }: CompiledInstruction, index: number): string | undefined {
  const key = accounts[index]
  return key === undefined ? undefined : keys[key]
}
