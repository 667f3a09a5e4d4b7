/** Transactions that only pay their fee, because their accounts or programs cannot be loaded (SIMD-0082). */

import type { ChainAccount } from '../solana/accounts.ts'
import type { DecodedMessage } from '../solana/decoded-message.ts'
import type { Execution, TransactionErrorJson } from '../solana/execution.ts'
import { feeOfMessage } from '../solana/fees.ts'
import { keyAt } from '../solana/messages.ts'
import { SYSTEM_PROGRAM } from '../solana/program-ids.ts'
import { SYSTEM } from '../solana/programs/system.ts'

/** Errors of loading; a validator includes such a transaction in a block and takes its fee. */
const LOADING_ERRORS = new Set<unknown>([
  'ProgramAccountNotFound',
  'InvalidProgramForExecution',
  'MaxLoadedAccountsDataSizeExceeded',
])
/** Bytes of a nonce account, the only one with data that can pay a fee. */
const NONCE_BYTES = SYSTEM.sizeOf('nonce')

export const isLoadingError = (err: TransactionErrorJson | null): boolean => LOADING_ERRORS.has(err)

interface PayerParts {
  get(address: string): ChainAccount | null
  minimumBalance(space: number): bigint
}

/**
 * Returns why an account cannot pay a message's fee, with the error that a validator then refuses the transaction with;
 * null when it can (`validate_fee_payer` of Agave's svm/src/account_loader.rs).
 */
function payerFault(message: DecodedMessage, accounts: PayerParts): TransactionErrorJson | null {
  const payer = accounts.get(keyAt(message, 0))
  if (payer === null || payer.lamports === 0n) return 'AccountNotFound'
  const { lamports, owner, data } = payer
  if (owner !== SYSTEM_PROGRAM || (data.length !== 0 && data.length !== NONCE_BYTES)) return 'InvalidAccountForFee'
  const minimum = accounts.minimumBalance(data.length)
  const kept = data.length === NONCE_BYTES ? minimum : 0n
  const left = lamports - feeOfMessage(message)
  if (left < kept) return 'InsufficientFundsForFee'
  const losesExemption = lamports >= minimum && left > 0n && left < minimum
  return losesExemption ? { InsufficientFundsForRent: { account_index: 0 } } : null
}

/** The result of a transaction that did not run: no logs, and no units used. */
export const notRun = (err: TransactionErrorJson): Execution => ({
  err,
  logs: [],
  unitsConsumed: 0,
  returnData: null,
  innerInstructions: [],
})

/**
 * Returns the run of a transaction that could not be loaded and pays only its fee, or the error with which it is
 * refused
 * because its payer cannot.
 */
export function feesOnlyRun(
  err: TransactionErrorJson,
  message: DecodedMessage,
  payer: PayerParts,
): { execution: Execution } | { refused: TransactionErrorJson } {
  const refused = payerFault(message, payer)
  return refused === null ? { execution: notRun(err) } : { refused }
}

/** Returns the payer's account after the fee. */
export function afterFee(message: DecodedMessage, accounts: PayerParts): ChainAccount {
  const payer = accounts.get(keyAt(message, 0))
  if (payer === null) throw new Error('an account that pays a fee does not exist')
  return { ...payer, lamports: payer.lamports - feeOfMessage(message) }
}
