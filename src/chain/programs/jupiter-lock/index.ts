/** Jupiter Lock: locks of any mint, and gold locks, one per wallet with a single payout. */
export {
  type BuiltLock,
  buildGoldLock,
  buildGoldUnlock,
  buildLock,
  buildLockCancellation,
  buildLockClaim,
  buildLockClosing,
  buildLockTitling,
  buildRecipientChange,
  type GoldLockPlan,
  LOCK_UNITS,
  type LockCreation,
} from './building.ts'
export {
  type GoldLockChange,
  goldLockChangesIn,
  type LockChange,
  lockChangesIn,
  type VestingClaimChange,
  vestingClaimsIn,
} from './changes.ts'
export {
  decodeEscrow,
  type Escrow,
  isGoldLock,
  isPaidOut,
  LAST_SECOND,
  type LockAmounts,
  type LockTexts,
  lockAmounts,
  scheduleMismatch,
  textsBytes,
} from './escrow.ts'
export type { LockTerms } from './instructions.ts'
export { type LockOfMint, locksOfMint } from './of-mint.ts'
export { escrowAddress, lockPlaces } from './program.ts'
export {
  type BeforeLock,
  findLocks,
  LOCKS_PER_CALL,
  type LockableToken,
  type LockFilter,
  type LocksAt,
  type LockWithTexts,
  readBeforeLock,
  readLockableToken,
  readLockOf,
  readLockRent,
  readLocks,
  readLockWithTexts,
  readUnlockAccounts,
  type UnlockAccounts,
} from './reading.ts'
