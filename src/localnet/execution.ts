/** Checks a transaction in a validator's order, runs it, and records all its changes. */

import type { ChainAccount } from '../solana/accounts.ts'
import { type TransactionErrorJson, TransactionRefused } from '../solana/execution.ts'
import { unitPriceOf } from '../solana/fees.ts'
import { type LoadedAddresses, loadAddresses } from '../solana/lookup-tables.ts'
import { checkLocks, type DecodedTransaction, isWritable, keyAt } from '../solana/messages.ts'
import { NATIVE_LOADER, SYSVAR_OWNER } from '../solana/program-ids.ts'
import { signaturesHold } from '../solana/signatures.ts'
import type { AccountIndex } from './account-index.ts'
import { balancesOf } from './balances.ts'
import type { Blockhashes } from './blockhashes.ts'
import type { Tick } from './clock.ts'
import type { HistoryEntry } from './history.ts'
import { advanceNonce, nonceAccountOf } from './nonces.ts'
import type { Runtime } from './runtime.ts'

export interface CheckedTransaction {
  transaction: DecodedTransaction
  accountKeys: string[]
  loadedAddresses: LoadedAddresses
  writable: boolean[]
  /** Nonce account that replaces the blockhash; null for an ordinary transaction. */
  nonce: string | null
}

export interface CheckOptions {
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
  /** Whether a transaction, or its message with other signatures, has landed; `usable` tells of its blockhash. */
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
    if (!usable && nonce === null) throw new TransactionRefused('BlockhashNotFound')
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

  const execution = runtime.run(transaction)
  const failed = execution.err !== null
  const payer = keyAt(transaction.message, 0)
  if (execution.err !== null && runtime.balance(payer) === before.lamports[0]) {
    throw new TransactionRefused(refine(execution.err, runtime, checked), execution)
  }
  const nonceAccount = failed && nonce !== null ? runtime.get(nonce) : null
  if (nonce !== null && nonceAccount !== null) {
    runtime.set(nonce, advanceNonce(nonceAccount, transaction.message.recentBlockhash))
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
 * Refines an error, because the runtime uses the same one for missing programs and for accounts that are not programs.
 */
export function refine(
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
