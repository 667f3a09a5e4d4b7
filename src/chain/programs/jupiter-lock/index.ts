/** Jupiter Lock: locks of any mint, and gold locks, one per wallet with a single payout. */
export { decodeEscrow, type Escrow, type LockTerms } from '../../../solana/programs/jupiter-lock.ts'
export * from './acts.ts'
export * from './changes.ts'
export * from './reading.ts'
