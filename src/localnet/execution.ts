/** Checks a transaction in a validator's order, runs it, and records all its changes. */
import type { ChainAccount } from '../solana/accounts.ts'
import { LOADED_ACCOUNT_BYTES, MAX_LOADED_BYTES } from '../solana/constants.ts'
import type { DecodedMessage } from '../solana/decoded-message.ts'
import { type Execution, type TransactionErrorJson, TransactionRefused } from '../solana/execution.ts'
import { unitPriceOf } from '../solana/fees.ts'
import { type LoadedAddresses, loadAddresses } from '../solana/lookup-tables.ts'
import { checkLocks, type DecodedTransaction, isWritable, keyAt } from '../solana/messages.ts'
import { INSTRUCTIONS_SYSVAR, NATIVE_LOADER, RECENT_BLOCKHASHES_SYSVAR, SYSVAR_OWNER } from '../solana/program-ids.ts'
import { COMPUTE_BUDGET } from '../solana/programs/compute-budget.ts'
import { LOADER } from '../solana/programs/upgradeable-loader.ts'
import { signaturesHold } from '../solana/signatures.ts'
import type { AccountEntry, AccountIndex } from './account-index.ts'
import { balancesOf } from './balances.ts'
import type { Blockhashes } from './blockhashes.ts'
import type { Tick } from './clock.ts'
import { afterFee, feesOnlyRun, isLoadingError, notRun } from './fees-only.ts'
import type { HistoryEntry } from './history.ts'
import { advanceNonce, nonceAccountOf, nonceOf, replaceBlockhash } from './nonces.ts'
import type { Runtime } from './runtime.ts'

export interface CheckedTransaction {
  transaction: DecodedTransaction
  accountKeys: string[]
  loadedAddresses: LoadedAddresses
  writable: boolean[]
  /** Nonce account that replaces the blockhash; null for an ordinary transaction. */
  nonce: string | null
}

interface CheckOptions {
  sigVerify: boolean
  /** Skips the checks for the blockhash and for duplicates. */
  anyBlockhash?: boolean
}

export interface ExecutedTransaction extends HistoryEntry {
  changed: Map<string, ChainAccount | null>
}

export interface ExecutionParts {
  runtime: Runtime
  index: AccountIndex
  blockhashes: Blockhashes
  /**
   * Whether a transaction, or its message with other signatures, has landed; `usable` says whether its blockhash is.
   */
  hasTransaction(transaction: Pick<DecodedTransaction, 'signature' | 'raw'>, usable: boolean): boolean
}

/** Performs all checks that a validator makes before it loads the accounts. Throws TransactionRefused. */
export function checkTransaction(
  { runtime, blockhashes, hasTransaction }: ExecutionParts,
  transaction: DecodedTransaction,
  { slot }: Tick,
  { sigVerify, anyBlockhash = false }: CheckOptions,
): CheckedTransaction {
  const { message } = transaction
  const account = (address: string) => runtime.get(address)
  try {
    const usable = anyBlockhash || blockhashes.slotOf(message.recentBlockhash, slot) !== null
    if (!anyBlockhash && hasTransaction(transaction, usable)) throw new TransactionRefused('AlreadyProcessed')
    const nonce = usable ? null : nonceAccountOf(message, account)
    if (!usable && (nonce === null || message.recentBlockhash === nonceOf(blockhashes.text(slot)))) {
      throw new TransactionRefused('BlockhashNotFound')
    }
    const loadedAddresses = loadAddresses(message.lookups, slot, account)
    const accountKeys = [...message.keys, ...loadedAddresses.writable, ...loadedAddresses.readonly]
    checkLocks(accountKeys)
    const writable = accountKeys.map((_, i) => isWritable(message, loadedAddresses.writable.length, i))
    return { transaction, accountKeys, loadedAddresses, writable, nonce }
  } catch (error) {
    // The runtime checks signatures during a run. A transaction refused before that is checked here, as signature
    // errors take precedence.
    if (sigVerify && error instanceof TransactionRefused && !signaturesHold(transaction)) {
      throw new TransactionRefused('SignatureFailure')
    }
    throw error
  }
}

/** Runs a checked transaction and changes the runtime. It changes nothing when it throws TransactionRefused. */
export function executeAndCommit(
  parts: ExecutionParts,
  checked: CheckedTransaction,
  { slot, unixTimestamp }: Tick,
  place: number,
): ExecutedTransaction {
  const { runtime, index } = parts
  const { transaction, accountKeys, loadedAddresses, writable, nonce } = checked
  // Programs are loaded before the balances are read.
  runtime.load(accountKeys)
  const entry = (key: string) => index.get(key)
  const before = balancesOf(accountKeys, entry)

  const payer = keyAt(transaction.message, 0)
  let execution = isOverLoadLimit(checked, () => loadedSizeOf(parts, checked))
    ? notRun(OVER_LIMIT)
    : runAt(parts, checked, slot, runtime.sigVerify, (run, verifies) => runtime.run(run, verifies))
  if (execution.err !== null && runtime.balance(payer) === before.lamports[0]) {
    execution = feesOnlyOrRefused(parts, checked, execution, runtime.sigVerify)
    runtime.set(payer, afterFee(transaction.message, runtime))
  }
  const failed = execution.err !== null
  const nonceAccount = failed && nonce !== null ? runtime.get(nonce) : null
  if (nonce !== null && nonceAccount !== null) {
    runtime.set(nonce, advanceNonce(nonceAccount, parts.blockhashes.text(slot)))
  }

  const changed = new Map<string, ChainAccount | null>()
  for (const [i, key] of accountKeys.entries()) {
    if (failed ? key !== payer && key !== nonce : !writable[i]) continue
    const known = index.get(key)
    if (known?.owner === SYSVAR_OWNER || known?.owner === NATIVE_LOADER) continue
    const account = runtime.get(key)
    if (known === undefined && account === null) continue
    index.update(key, account)
    changed.set(key, account)
  }
  const after = balancesOf(accountKeys, entry)
  return {
    unitPrice: unitPriceOf(transaction.message),
    writable,
    changed,
    transaction: {
      ...execution,
      signature: transaction.signature,
      slot,
      index: place,
      blockTime: unixTimestamp,
      raw: transaction.raw,
      // Lamports only move between the accounts of a message, so the difference is the fee.
      fee: totalOf(before.lamports) - totalOf(after.lamports),
      accountKeys,
      loadedAddresses,
      preBalances: before.lamports,
      postBalances: after.lamports,
      preTokenBalances: before.tokens,
      postTokenBalances: after.tokens,
    },
  }
}

/**
 * Runs a transaction as it runs in this slot: one that may set a nonce has the blockhash of the slot, because the
 * runtime derives nonces from a transaction's own. Throws TransactionRefused for a signature that it had to check itself.
 */
export function runAt<T>(
  { blockhashes }: ExecutionParts,
  { transaction, accountKeys }: CheckedTransaction,
  slot: number,
  sigVerify: boolean,
  run: (transaction: DecodedTransaction, sigVerify: boolean) => T,
): T {
  if (!accountKeys.includes(RECENT_BLOCKHASHES_SYSVAR)) return run(transaction, sigVerify)
  if (sigVerify && !signaturesHold(transaction)) throw new TransactionRefused('SignatureFailure')
  return run(replaceBlockhash(transaction, blockhashes.text(slot)), false)
}

const OVER_LIMIT = 'MaxLoadedAccountsDataSizeExceeded'

/** Bytes that a checked transaction loads; its programs must be loaded. */
export const loadedSizeOf = ({ runtime, index }: ExecutionParts, { accountKeys, transaction }: CheckedTransaction) =>
  loadedDataSize(accountKeys, transaction.message.lookups.length, {
    entry: (address) => index.get(address),
    account: (address) => runtime.get(address),
  })

/**
 * Whether a transaction loads more than it may. The runtime does not count the data of programs, and validators do;
 * with
 * the highest limit its own count is enough, as 64 accounts do not reach that.
 */
export function isOverLoadLimit({ transaction }: CheckedTransaction, size: () => number): boolean {
  const limit = loadedDataLimit(transaction.message)
  return limit < MAX_LOADED_BYTES && size() > limit
}

/**
 * Returns the run of a transaction that could not be loaded and pays its fee. Throws TransactionRefused for any other
 * reason for which nothing ran.
 */
export function feesOnlyOrRefused(
  { runtime }: ExecutionParts,
  checked: CheckedTransaction,
  execution: Execution,
  sigVerify = true,
): Execution {
  const { transaction } = checked
  const err = refine(execution.err ?? OVER_LIMIT, runtime, checked)
  if (!isLoadingError(err)) throw new TransactionRefused(err, execution)
  if (sigVerify && !signaturesHold(transaction)) throw new TransactionRefused('SignatureFailure')
  const run = feesOnlyRun(err, transaction.message, runtime)
  if ('refused' in run) throw new TransactionRefused(run.refused)
  return run.execution
}

/**
 * Refines an error, because the runtime uses the same one for missing programs and for accounts that are not programs.
 */
function refine(
  err: TransactionErrorJson,
  runtime: Runtime,
  { transaction }: CheckedTransaction,
): TransactionErrorJson {
  if (err !== 'InvalidProgramForExecution') return err
  const { message } = transaction
  const missing = message.instructions.some(
    ({ programIdIndex }) => runtime.get(keyAt(message, programIdIndex)) === null,
  )
  return missing ? 'ProgramAccountNotFound' : err
}

const totalOf = (amounts: readonly bigint[]): bigint => amounts.reduce((total, amount) => total + amount, 0n)

/** Bytes that each lookup table counts (svm/src/account_loader.rs of Agave). */
const LOOKUP_TABLE_SIZE = 8248
/** Returns the bytes that a transaction may load. A version 1 message without a limit may load nothing (SIMD-0385). */
function loadedDataLimit(message: DecodedMessage): number {
  let limit = message.config === null ? MAX_LOADED_BYTES : (message.config.loadedAccountsDataSizeLimit ?? 0)
  if (message.config === null) {
    for (const { programIdIndex, data } of message.instructions) {
      const budget = COMPUTE_BUDGET.flatCall(keyAt(message, programIdIndex), [], data)
      if (budget?.type === 'setLoadedAccountsDataSizeLimit') limit = budget.bytes
    }
  }
  return Math.min(limit, MAX_LOADED_BYTES)
}

interface LoadingParts {
  entry(address: string): AccountEntry | undefined
  /** Reads an account's bytes; only called for upgradeable programs, which are small. */
  account(address: string): ChainAccount | null
}

/**
 * Returns the bytes that a transaction with these accounts loads. An account that does not exist counts nothing, and
 * the
 * data account of an upgradeable program counts once.
 */
function loadedDataSize(
  accountKeys: readonly string[],
  lookupTables: number,
  { entry, account }: LoadingParts,
): number {
  const counted = new Set(accountKeys)
  let size = lookupTables * LOOKUP_TABLE_SIZE
  for (const key of accountKeys) {
    const loaded = key === INSTRUCTIONS_SYSVAR ? undefined : entry(key)
    if (loaded === undefined) continue
    size += LOADED_ACCOUNT_BYTES + loaded.space
    if (loaded.owner !== LOADER.id || loaded.space !== LOADER.sizeOf('program')) continue
    const dataAddress = LOADER.decode('program', account(key))?.program_data
    if (dataAddress === undefined || counted.has(dataAddress)) continue
    counted.add(dataAddress)
    const programData = entry(dataAddress)
    if (programData !== undefined) size += LOADED_ACCOUNT_BYTES + programData.space
  }
  return size
}
