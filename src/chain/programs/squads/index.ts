/** Squads v4: multisigs, and proposals whose instructions a vault executes once enough members have approved them. */
export {
  type BuiltProposal,
  buildMultisigCreation,
  buildProposalCreation,
  CREATION_UNITS,
  MOST_MESSAGE_BYTES,
  VOTE_UNITS,
} from './creation.ts'
export {
  buildExecution,
  buildReclaim,
  buildVote,
  EXECUTION_UNITS,
  type Executed,
  executionTooLarge,
  MOST_CLOSED_BUFFERS,
  MOST_EXECUTED_ACCOUNTS,
  requireExecutable,
} from './deciding.ts'
export {
  innerTransaction,
  type RehearsedExecution,
  rehearseExecution,
} from './execution-rehearsal.ts'
export { readExecution } from './executions.ts'
export {
  type LeftBuffer,
  type ProposalOnChain,
  readLookups,
  readMultisig,
  readProposal,
  readProposalAccounts,
  readSquadsSettings,
  readTransactionBuffers,
  readVaultTransaction,
} from './reading.ts'
