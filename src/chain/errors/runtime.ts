/** Describes the runtime's own errors, with hints for common ones. */

type ErrorText = readonly [message: string, hint: string | null]

const BUILD_AGAIN = 'build the transaction again, sign and send it'
const LATER = 'nothing was paid: send it again in a moment'
const PROGRAM =
  'check the cluster (-u, setting url); on the embedded chain fill the program cache with `svc localnet pull`'
const SIGN = 'sign with every wallet that the build names, and change nothing after signing'
const FUND = 'send SOL to it; on the embedded chain `svc localnet airdrop <address> <sol>`'
const TABLE = 'the address lookup table is not as it was at the build: build again'
const SMALLER = 'split it into smaller transactions'
/**
 * In a message of version 1, a limit that is not stated is 0, and Compute Budget instructions have no effect
 * (SIMD-0385).
 */
const STATED = 'a message of version 1 states it itself; left out, it is 0'

/** Errors of a whole transaction. */
export const TRANSACTION_ERROR_TEXTS: Readonly<Record<string, ErrorText>> = {
  // The reasons that svc itself records as `err`.
  BlockhashExpired: ['its blockhash expired before it was in a block', 'build, sign and send it again'],
  NonceAdvanced: ['its durable nonce moved before it was in a block', 'build, sign and send it again'],
  BundleFailed: ['the relay dropped its bundle', 'send it again, with a higher tip if it was outbid'],
  AccountInUse: ['an account is in use by another transaction', LATER],
  AccountLoadedTwice: ['the transaction names an account twice', BUILD_AGAIN],
  AccountNotFound: ['the account that pays the fee does not exist: it has never held SOL', FUND],
  ProgramAccountNotFound: ['a program of the transaction is not on this cluster', PROGRAM],
  InsufficientFundsForFee: ['the account that pays the fee has too little SOL for it', FUND],
  InvalidAccountForFee: [
    'the account that pays the fee is not a plain wallet',
    'pay with a wallet, not with a program account',
  ],
  AlreadyProcessed: [
    'the transaction was processed before',
    'read its state with `svc tx get <signature>`: it needs no second try',
  ],
  BlockhashNotFound: ['the blockhash of the transaction has expired or is of another cluster', BUILD_AGAIN],
  CallChainTooDeep: ['programs call one another too deeply', null],
  MissingSignatureForFee: ['the signature of the account that pays the fee is missing', SIGN],
  InvalidAccountIndex: ['the transaction refers to an account index that it does not have', BUILD_AGAIN],
  SignatureFailure: ['a signature does not fit the transaction', SIGN],
  InvalidProgramForExecution: ['a program of the transaction cannot be executed', PROGRAM],
  SanitizeFailure: ['the transaction is malformed', BUILD_AGAIN],
  ClusterMaintenance: ['the cluster is under maintenance', 'try again later'],
  AccountBorrowOutstanding: ['an account is still borrowed', LATER],
  WouldExceedMaxBlockCostLimit: ['the block is full', LATER],
  UnsupportedVersion: [
    'the version of the transaction is not supported',
    'use version 0; version 1 is for clusters where it is active',
  ],
  InvalidWritableAccount: ['the transaction writes to an account that cannot be written', BUILD_AGAIN],
  WouldExceedMaxAccountCostLimit: ['an account has reached its limit for this block', LATER],
  WouldExceedAccountDataBlockLimit: ['the block has reached its limit of new account data', LATER],
  TooManyAccountLocks: ['the transaction names too many accounts', SMALLER],
  AddressLookupTableNotFound: ['an address lookup table of the transaction does not exist', TABLE],
  InvalidAddressLookupTableOwner: ['an address lookup table of the transaction is of another program', TABLE],
  InvalidAddressLookupTableData: ['an address lookup table of the transaction cannot be read', TABLE],
  InvalidAddressLookupTableIndex: [
    'an address lookup table has no address at an index that the transaction uses',
    TABLE,
  ],
  InvalidRentPayingAccount: ['an account would be left with less SOL than its rent', FUND],
  WouldExceedMaxVoteCostLimit: ['the block has reached its limit of votes', LATER],
  WouldExceedAccountDataTotalLimit: ['the cluster has reached its limit of account data', 'try again later'],
  MaxLoadedAccountsDataSizeExceeded: [
    'the accounts of the transaction hold more data than it may load',
    `raise its limit (${STATED}), or ${SMALLER}`,
  ],
  ResanitizationNeeded: ['the transaction has to be checked again', LATER],
  InvalidLoadedAccountsDataSizeLimit: ['the limit of loaded account data is 0', `set one: ${STATED}`],
  UnbalancedTransaction: ['the SOL before and after the transaction differ', null],
  ProgramCacheHitMaxLimit: ['the validator holds too many programs at once', LATER],
  CommitCancelled: ['the validator gave the transaction up', LATER],
  DuplicateInstruction: ['two instructions set the same compute budget', BUILD_AGAIN],
  InsufficientFundsForRent: ['an account would be left with less SOL than its rent', FUND],
  ProgramExecutionTemporarilyRestricted: ['a program is restricted for now', 'try again later'],
}

/** Errors of one instruction other than a program's custom code. */
export const INSTRUCTION_ERROR_TEXTS: Readonly<Record<string, ErrorText>> = {
  GenericError: ['the program failed without a reason', null],
  InvalidArgument: ['an argument is not valid', null],
  InvalidInstructionData: ['the program cannot read the instruction', PROGRAM],
  InvalidAccountData: [
    'an account is not of the kind that the program expects',
    'check that the accounts exist and are of the right kind',
  ],
  AccountDataTooSmall: ['an account is too small for its data', null],
  InsufficientFunds: ['an account has too little SOL', FUND],
  IncorrectProgramId: [
    'an account belongs to another program than expected',
    'check that mint and token program go together (SPL Token or Token-2022)',
  ],
  MissingRequiredSignature: ['a signature is missing', SIGN],
  AccountAlreadyInitialized: [
    'the account exists already',
    'an earlier try may have landed: read its state, or use a new keypair',
  ],
  UninitializedAccount: ['an account was not created yet', 'create it first, and check address and cluster'],
  UnbalancedInstruction: ['the SOL before and after the instruction differ', null],
  ModifiedProgramId: ['the program changed the owner of an account that is not its own', null],
  ExternalAccountLamportSpend: ['the program spent SOL of an account that is not its own', null],
  ExternalAccountDataModified: ['the program changed data of an account that is not its own', null],
  ReadonlyLamportChange: ['the program changed the SOL of a read-only account', BUILD_AGAIN],
  ReadonlyDataModified: ['the program changed the data of a read-only account', BUILD_AGAIN],
  NotEnoughAccountKeys: ['the instruction names too few accounts', BUILD_AGAIN],
  AccountNotExecutable: ['the called account is not a program', PROGRAM],
  InvalidError: ['the program failed with an unknown error', null],
  UnsupportedProgramId: ['the called program is not on this cluster', PROGRAM],
  CallDepth: ['programs call one another too deeply', null],
  MissingAccount: ['an account that the program needs is missing from the instruction', BUILD_AGAIN],
  ReentrancyNotAllowed: ['a program was called while it ran', null],
  MaxSeedLengthExceeded: ['a seed of a derived address is too long', null],
  InvalidSeeds: [
    'an address is not the one that its seeds derive',
    'check the addresses, and that they are of this cluster',
  ],
  InvalidRealloc: ['an account cannot grow that much at once', null],
  ComputationalBudgetExceeded: [
    'the transaction used all its compute units',
    `raise its compute unit limit (${STATED}), or split it`,
  ],
  PrivilegeEscalation: ['a program passed on a signature or a write access that it did not have', SIGN],
  ProgramEnvironmentSetupFailure: ['the program could not be started', PROGRAM],
  ProgramFailedToComplete: [
    'the program aborted',
    'raise the compute unit limit; if that does not help, the log shows where it stopped',
  ],
  ProgramFailedToCompile: ['the program could not be loaded', PROGRAM],
  Immutable: ['the account cannot be changed any more', null],
  IncorrectAuthority: ['the signer is not the authority', 'sign with the authority'],
  AccountNotRentExempt: ['an account would be left with less SOL than its rent', FUND],
  InvalidAccountOwner: [
    'an account belongs to another program than expected',
    'check the addresses, and that mint and token program go together',
  ],
  ArithmeticOverflow: ['a number grew too large', 'use a smaller amount'],
  UnsupportedSysvar: ['the cluster lacks a value that the program reads', null],
  IllegalOwner: ['the owner of an account is not allowed here', 'check the wallet that the account is for'],
  MaxAccountsDataAllocationsExceeded: ['the transaction creates too much account data', SMALLER],
  MaxAccountsExceeded: ['the transaction names too many accounts', SMALLER],
  MaxInstructionTraceLengthExceeded: ['the transaction runs too many instructions', SMALLER],
  DuplicateAccountIndex: ['the instruction names an account twice', BUILD_AGAIN],
  ExecutableModified: ['the program changed whether an account is executable', null],
  RentEpochModified: ['the program changed the rent epoch of an account', null],
  AccountDataSizeChanged: ['the program resized an account that is not its own', null],
  AccountBorrowFailed: ['the program could not borrow an account', null],
  AccountBorrowOutstanding: ['an account is still borrowed', null],
  DuplicateAccountOutOfSync: ['an account that is named twice was changed in two ways', null],
  ExecutableDataModified: ['the program changed the data of a program', null],
  ExecutableLamportChange: ['the program changed the SOL of a program', null],
  ExecutableAccountNotRentExempt: ['a program would be left with less SOL than its rent', FUND],
  BuiltinProgramsMustConsumeComputeUnits: ['a built-in program used no compute units', null],
  BorshIoError: [
    'the program cannot read the data of an account or of the instruction',
    'check that the accounts are of the right kind',
  ],
}

/** Splits a name without a description into words. */
export function spacedName(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').toLowerCase()
}
