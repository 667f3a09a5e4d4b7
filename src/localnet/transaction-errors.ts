/** Converts the runtime's errors into the format of a validator's JSON-RPC. */
import type { TransactionErrorJson } from '../solana/execution.ts'

/** Error names in the order of the runtime's `TransactionErrorFieldless`. */
export const TRANSACTION_ERRORS = [
  'AccountInUse',
  'AccountLoadedTwice',
  'AccountNotFound',
  'ProgramAccountNotFound',
  'InsufficientFundsForFee',
  'InvalidAccountForFee',
  'AlreadyProcessed',
  'BlockhashNotFound',
  'CallChainTooDeep',
  'MissingSignatureForFee',
  'InvalidAccountIndex',
  'SignatureFailure',
  'InvalidProgramForExecution',
  'SanitizeFailure',
  'ClusterMaintenance',
  'AccountBorrowOutstanding',
  'WouldExceedMaxBlockCostLimit',
  'UnsupportedVersion',
  'InvalidWritableAccount',
  'WouldExceedMaxAccountCostLimit',
  'WouldExceedAccountDataBlockLimit',
  'TooManyAccountLocks',
  'AddressLookupTableNotFound',
  'InvalidAddressLookupTableOwner',
  'InvalidAddressLookupTableData',
  'InvalidAddressLookupTableIndex',
  'InvalidRentPayingAccount',
  'WouldExceedMaxVoteCostLimit',
  'WouldExceedAccountDataTotalLimit',
  'MaxLoadedAccountsDataSizeExceeded',
  'ResanitizationNeeded',
  'InvalidLoadedAccountsDataSizeLimit',
  'UnbalancedTransaction',
  'ProgramCacheHitMaxLimit',
  'CommitCancelled',
] as const

/** Error names in the order of the runtime's `InstructionErrorFieldless`. */
export const INSTRUCTION_ERRORS = [
  'GenericError',
  'InvalidArgument',
  'InvalidInstructionData',
  'InvalidAccountData',
  'AccountDataTooSmall',
  'InsufficientFunds',
  'IncorrectProgramId',
  'MissingRequiredSignature',
  'AccountAlreadyInitialized',
  'UninitializedAccount',
  'UnbalancedInstruction',
  'ModifiedProgramId',
  'ExternalAccountLamportSpend',
  'ExternalAccountDataModified',
  'ReadonlyLamportChange',
  'ReadonlyDataModified',
  'DuplicateAccountIndex',
  'ExecutableModified',
  'RentEpochModified',
  'NotEnoughAccountKeys',
  'AccountDataSizeChanged',
  'AccountNotExecutable',
  'AccountBorrowFailed',
  'AccountBorrowOutstanding',
  'DuplicateAccountOutOfSync',
  'InvalidError',
  'ExecutableDataModified',
  'ExecutableLamportChange',
  'ExecutableAccountNotRentExempt',
  'UnsupportedProgramId',
  'CallDepth',
  'MissingAccount',
  'ReentrancyNotAllowed',
  'MaxSeedLengthExceeded',
  'InvalidSeeds',
  'InvalidRealloc',
  'ComputationalBudgetExceeded',
  'PrivilegeEscalation',
  'ProgramEnvironmentSetupFailure',
  'ProgramFailedToComplete',
  'ProgramFailedToCompile',
  'Immutable',
  'IncorrectAuthority',
  'AccountNotRentExempt',
  'InvalidAccountOwner',
  'ArithmeticOverflow',
  'UnsupportedSysvar',
  'IllegalOwner',
  'MaxAccountsDataAllocationsExceeded',
  'MaxAccountsExceeded',
  'MaxInstructionTraceLengthExceeded',
  'BuiltinProgramsMustConsumeComputeUnits',
  'BorshIoError',
] as const

/** Shapes of the runtime's error objects, distinguished by their fields and class names. */
type RuntimeError =
  | number
  | { index: number; err(): number | { code: number } | { msg: string } }
  | { index: number }
  | { accountIndex: number }

/** Converts a runtime error to JSON: `"AccountNotFound"`, `{ InstructionError: [2, { Custom: 6001 }] }`. */
export function transactionErrorJson(error: RuntimeError): TransactionErrorJson {
  if (typeof error === 'number') return errorName(TRANSACTION_ERRORS, error)
  if ('err' in error) return { InstructionError: [error.index, instructionErrorJson(error.err())] }
  if ('accountIndex' in error) {
    return { [error.constructor.name.replace(/^TransactionError/, '')]: { account_index: error.accountIndex } }
  }
  return { DuplicateInstruction: error.index }
}

function instructionErrorJson(error: number | { code: number } | { msg: string }): TransactionErrorJson {
  if (typeof error === 'number') return errorName(INSTRUCTION_ERRORS, error)
  return 'code' in error ? { Custom: error.code } : { BorshIoError: error.msg }
}

function errorName(names: readonly string[], number: number): string {
  const name = names[number]
  if (name === undefined) throw new Error(`The runtime gave error ${number}, which has no name`)
  return name
}
