/** Squads v4 without the chain: addresses, accounts and messages. */
export * from './accounts.ts'
export * from './addresses.ts'
export * from './message.ts'
export { innerMessageOf, storedActDifference, storedMessageDifference, type Wrapping } from './wrapping.ts'
