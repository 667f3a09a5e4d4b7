/** Jupiter Lock: gold locks, one per wallet with a single payout, and locks that pay their recipients over time. */
export { buildGoldLock, buildGoldUnlock, type GoldLockPlan, type GoldUnlockPlan } from './building.ts'
export { type GoldLockChange, goldLockChangesIn } from './changes.ts'
export { type VestingClaimChange, vestingClaimsIn } from './claim-changes.ts'
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
export { buildVestingClaim, VESTING_CLAIM_UNITS, type VestedAmounts, vestedAmounts } from './vesting.ts'
