/** Converts a followed transaction to the record of the API and of its events. */
import type { Transaction } from '../api/index.ts'
import type { FollowedTransaction } from '../store/transactions/transactions.ts'
import type { TransactionState } from './transition.ts'

export const transactionRecord = (row: Pick<FollowedTransaction, 'signature'> & TransactionState): Transaction => ({
  signature: row.signature,
  lifecycle: row.lifecycle,
  confirmation_status: row.confirmation_status as Transaction['confirmation_status'],
  err: row.err_json === null ? null : JSON.parse(row.err_json),
  slot: row.slot,
  confirmations: row.confirmations,
})
