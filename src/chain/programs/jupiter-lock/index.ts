/** Gold locks on Jupiter Lock: one per wallet, with a single payout. */
export { buildGoldLock, buildGoldUnlock, type GoldLockPlan, type GoldUnlockPlan } from './building.ts'
export { type GoldLockChange, goldLockChangesIn } from './changes.ts'
export { decodeEscrow, ESCROW_BYTES, type Escrow, isPaidOut, scheduleMismatch } from './escrow.ts'
export { escrowAddress, lockAccounts } from './program.ts'
export {
  type BeforeLock,
  LOCKS_PER_CALL,
  type LockableToken,
  type LocksAt,
  readBeforeLock,
  readGoldToken,
  readLockOf,
  readLocks,
  readUnlockAccounts,
} from './reading.ts'
