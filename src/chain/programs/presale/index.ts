/** Meteora Presale: raises, their buyers' escrows, and the accounts of their allowlists. */
export * from '../../../solana/raise-acts.ts'
export * from '../../../solana/raise-amounts.ts'
export * from '../../../solana/raises.ts'
export * from './reading.ts'
