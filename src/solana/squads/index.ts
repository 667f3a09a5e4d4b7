/** Squads v4 without the chain: addresses, accounts and messages. */
export * from './accounts.ts'
export * from './addresses.ts'
export { executedAccounts, executedTransactions, proposedMessage, SQUADS_CALLS } from './calls.ts'
export { SquadsFault } from './fault.ts'
export * from './message.ts'
export { innerMessageOf, storedActDifference, storedMessageDifference, type Wrapping } from './wrapping.ts'
