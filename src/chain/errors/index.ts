/** Explains a validator's transaction error and its log: the failing program, a name, a message and a hint. */
import { printableLine } from '../../platform/printable.ts'
import { solText } from '../../solana/amounts.ts'
import { SYSTEM_PROGRAM } from '../../solana/program-ids.ts'
import { LIGHTHOUSE } from '../../solana/programs/lighthouse.ts'
import { stoppedByGuard } from './lighthouse.ts'
import { ANY_ANCHOR, INNER_HINTS, KNOWN_PROGRAMS, type KnownProgram } from './programs.ts'
import type { ErrorContext, ExplainedError } from './types.ts'

export type { ErrorContext, ExplainedError } from './types.ts'

/**
 * Explains the `err` of a status, a simulation or a refused send. It never throws, whatever a node sent. The failing
 * program is the innermost one in the log, otherwise the program of the outer instruction.
 *
 * @example
 * const { value } = await connection.simulateTransaction(transaction)
 * const { program, name, message, hint } = explainTransactionError(value.err, { logs: value.logs })
 */
export function explainTransactionError(err: unknown, context: ErrorContext = {}): ExplainedError {
  if (typeof err === 'string') return ofTransaction(err, null, context)
  const [kind, detail] = onlyEntry(err) ?? []
  if (kind === undefined) {
    return explained({ name: 'Unknown', message: `the transaction failed: ${shownError(err)}` })
  }
  if (kind !== 'InstructionError') return ofTransaction(kind, detail, context)
  const [index, reason] = Array.isArray(detail) ? detail : []
  return ofInstruction(numberOf(index), reason, context)
}

function ofTransaction(name: string, detail: unknown, { accountKeys, nonceAccount }: ErrorContext): ExplainedError {
  if (name === 'BlockhashNotFound' && nonceAccount) return explained({ name, ...movedNonce(nonceAccount) })
  const [message, hint] = errorTextOf(TRANSACTION_ERROR_TEXTS, name)
  const [field, value] = onlyEntry(detail) ?? []
  const isOfPayer = PAYER_ERRORS.includes(name) && accountKeys !== undefined
  const index = isOfPayer ? 0 : numberOf(field === 'account_index' ? value : null)
  const account = index === null ? null : (accountKeys?.[index] ?? `number ${index} of the transaction`)
  return explained({
    name,
    instruction: name === 'DuplicateInstruction' ? numberOf(detail) : null,
    message: account === null ? message : `${message}: account ${account}`,
    hint: hint === null ? null : filled(hint, index === null ? undefined : accountKeys?.[index]),
  })
}

/** Errors of the account that pays the fee, which is the first of a transaction. */
const PAYER_ERRORS = ['AccountNotFound', 'InsufficientFundsForFee', 'InvalidAccountForFee']

const movedNonce = (account: string) => ({
  message: `the durable nonce in ${account} has moved since the transaction was built, or the account holds none`,
  hint: 'build the transaction again with the present value of the nonce, sign and send it',
})

function ofInstruction(instruction: number | null, reason: unknown, context: ErrorContext): ExplainedError {
  const [kind, detail] = typeof reason === 'string' ? [reason, null] : (onlyEntry(reason) ?? ['Unknown', null])
  const code = kind === 'Custom' ? numberOf(detail) : null
  const outer = instruction === null ? null : (context.programIds?.[instruction] ?? null)
  const failure = failureOfCode(failureIn(textLines(context.logs)), code)
  const id = failure?.programId ?? outer
  const known = (id !== null && Object.hasOwn(KNOWN_PROGRAMS, id) && KNOWN_PROGRAMS[id]) || null
  const program = known?.name ?? id
  if (code !== null) {
    const named = ofCode(code, known, failure, outer)
    return explained({ program, instruction, code, ...named, ...ofGuard(code, { id, instruction, failure }, context) })
  }

  const [message, hint] = errorTextOf(INSTRUCTION_ERROR_TEXTS, kind)
  return explained({
    program,
    name: kind,
    instruction,
    message: failure?.errorLine ? `${message}: ${failure.errorLine}` : message,
    hint,
  })
}

/** What a guard says, if its own instruction failed. */
function ofGuard(
  code: number,
  { id, instruction, failure }: { id: string | null; instruction: number | null; failure: Failure | null },
  { instructions = [], accountKeys = [] }: ErrorContext,
) {
  if (id !== LIGHTHOUSE.id || instruction === null) return null
  return stoppedByGuard(accountKeys[0], instructions, { index: instruction, code, lines: failure?.lines ?? [] })
}

type NamedError = Pick<ExplainedError, 'name' | 'message' | 'hint'>

function ofCode(code: number, known: KnownProgram | null, failure: Failure | null, outer: string | null): NamedError {
  // The log comes from the program version that ran, and is newer than any table.
  const logged = failure?.anchor?.number === code ? failure.anchor : null
  const { codes, hints } = known ?? (logged ? ANY_ANCHOR : { codes: {}, hints: {} })
  const row = codes[code]
  const name = logged?.name ?? row?.[0] ?? `Custom${code}`
  const errorLine = failure?.errorLine ? `: ${failure.errorLine}` : ''
  const message =
    logged?.message ?? row?.[1] ?? `the program failed with its own error ${code} (0x${code.toString(16)})${errorLine}`
  // When the log has another name, the number has another meaning in that version, and a hint would mislead.
  const same = logged === null || row === undefined || logged.name === row[0]
  const inner =
    failure && outer && failure.programId !== outer ? INNER_HINTS[outer]?.[`${failure.programId} ${code}`] : null
  const hint = inner ?? (same ? (hints[code] ?? null) : null)
  const account = logged?.account ? ` (account ${logged.account})` : ''
  if (failure?.programId !== SYSTEM_PROGRAM) return { name, message: message + account, hint }
  return { name, ...withNotes({ code, message, hint }, failure.notes) }
}

/** The System program's own log lines have the lamports and the address that its error lacks. */
function withNotes({ code, message, hint }: { code: number; message: string; hint: string | null }, notes: string[]) {
  const text = notes.join('\n')
  const lamports = code === 1 ? /insufficient lamports (\d+), need (\d+)/.exec(text) : null
  if (lamports)
    return {
      message: `${message}: it has ${solText(lamports[1] ?? '0')} and needs ${solText(lamports[2] ?? '0')}`,
      hint,
    }
  const address = code === 0 ? /address: ([1-9A-HJ-NP-Za-km-z]{32,44})\b/.exec(text) : null
  return { message: address ? `${message}: ${address[1]}` : message, hint }
}

/** A log of another run does not explain this error, so the codes must agree. */
function failureOfCode(failure: Failure | null, code: number | null): Failure | null {
  return failure && failure.code !== null && failure.code !== code ? null : failure
}

function errorTextOf(table: Readonly<Record<string, readonly [string, string | null]>>, name: string) {
  return (Object.hasOwn(table, name) && table[name]) || ([spacedName(name), null] as const)
}

const filled = (hint: string, address?: string) => (address ? hint.replace('<address>', address) : hint)

function onlyEntry(value: unknown): [string, unknown] | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  return Object.entries(value)[0] ?? null
}

function numberOf(value: unknown): number | null {
  const number = typeof value === 'bigint' ? Number(value) : value
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : null
}

const textLines = (logs: unknown): string[] =>
  Array.isArray(logs) ? logs.filter((line): line is string => typeof line === 'string') : []

function shownError(value: unknown): string {
  try {
    return JSON.stringify(value, (_, inner) => (typeof inner === 'bigint' ? String(inner) : inner)) ?? String(value)
  } catch {
    return 'with an error that cannot be shown'
  }
}

/**
 * Names and messages may come from a program's log, so they are reduced to one short line that can be printed.
 */
const oneLine = (text: string) => printableLine(text, 400)

function explained(error: Pick<ExplainedError, 'name' | 'message'> & Partial<ExplainedError>): ExplainedError {
  const { program = null, name, code = null, instruction = null, message, hint = null } = error
  return { program, name: oneLine(name), code, instruction, message: oneLine(message), hint }
}

// Extracts from a transaction's log the program that failed and its message.

interface Failure {
  /** Address of the innermost program that was running, base58. */
  programId: string
  /** Custom code of the program's `failed:` line, or null when it failed otherwise or the log ends earlier. */
  code: number | null
  anchor: { name: string; number: number; message: string; account: string | null } | null
  /** Text of the program's last `Error:` line. */
  errorLine: string | null
  /** Log lines of the runtime's own programs, which have figures and addresses. */
  notes: string[]
  /** What the program itself logged. */
  lines: string[]
}

const INVOKE = /^Program ([1-9A-HJ-NP-Za-km-z]{32,44}) invoke \[([1-9]\d?)\]$/
const SUCCESS = /^Program ([1-9A-HJ-NP-Za-km-z]{32,44}) success$/
const FAILED_LINE = /^Program ([1-9A-HJ-NP-Za-km-z]{32,44}) failed: (.*)$/
const CUSTOM = /^custom program error: 0x([0-9a-f]{1,8})$/
const ANCHOR =
  /^Program log: AnchorError (?:caused by account: (\w+)|thrown in \S+|occurred)\. Error Code: (\w+)\. Error Number: (\d+)\. Error Message: (.*?)\.?$/
const LOG = 'Program log: '
const ERROR_LINE = /^Program log: Error: (.+)$/

/**
 * Returns the first failure of a log, because a failing inner call ends the whole transaction. Null means that the log
 * has none.
 */
function failureIn(logs: readonly string[]): Failure | null {
  const stack: Failure[] = []
  for (const line of logs) {
    // Program output follows `Program log: `, so it cannot imitate a line of the runtime.
    const [, invoked, depth] = INVOKE.exec(line) ?? []
    if (invoked !== undefined) {
      stack.length = Math.min(stack.length, Number(depth) - 1)
      stack.push({ programId: invoked, code: null, anchor: null, errorLine: null, notes: [], lines: [] })
      continue
    }
    if (SUCCESS.test(line)) {
      stack.pop()
      continue
    }
    if (line === 'Log truncated') return null
    const [, failed, reason = ''] = FAILED_LINE.exec(line) ?? []
    const running = stack.at(-1)
    if (failed !== undefined) {
      const [, custom] = CUSTOM.exec(reason) ?? []
      const code = custom === undefined ? null : Number.parseInt(custom, 16)
      const blank: Failure = { programId: failed, code, anchor: null, errorLine: null, notes: [], lines: [] }
      return running && running.programId === failed ? { ...running, code } : blank
    }
    if (running) readLine(line, running)
  }
  return stack.at(-1) ?? null
}

function readLine(line: string, running: Failure): void {
  const anchor = ANCHOR.exec(line)
  if (anchor) {
    const [, account, name = '', number, message = ''] = anchor
    running.anchor = { name, number: Number(number), message, account: account ?? null }
    return
  }
  const [, errorLine] = ERROR_LINE.exec(line) ?? []
  if (errorLine !== undefined) running.errorLine = errorLine
  else if (line.startsWith(LOG)) running.lines.push(line.slice(LOG.length))
  else if (!line.startsWith('Program ')) running.notes.push(line)
}

// Describes the runtime's own errors, with hints for common ones.

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
function spacedName(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').toLowerCase()
}
