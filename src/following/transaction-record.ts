/** Converts a followed transaction to the record of the API and of its events. */
import type { Transaction } from '../api/index.ts'
import { SECOND_MS } from '../platform/timing.ts'
import { BLOCKHASH_LIFE_MS } from '../solana/lifetimes.ts'
import type { FollowedTransaction } from '../store/transactions/transactions.ts'
import { isExpiry, type TransactionState } from './transition.ts'

/** A transaction that was still not seen after this time may have landed unseen: most are seen within seconds. */
const UNSEEN_AFTER_MS = BLOCKHASH_LIFE_MS + 30 * SECOND_MS

type RecordedTransaction = Pick<FollowedTransaction, 'signature'> &
  TransactionState &
  Partial<Pick<FollowedTransaction, 'created_at' | 'checked_at'>>

export const transactionRecord = (row: RecordedTransaction): Transaction => ({
  signature: row.signature,
  lifecycle: row.lifecycle,
  confirmation_status: row.confirmation_status as Transaction['confirmation_status'],
  err: row.err_json === null ? null : JSON.parse(row.err_json),
  slot: row.slot,
  confirmations: row.confirmations,
  absence: absenceOf(row),
})

function absenceOf(row: RecordedTransaction): Transaction['absence'] {
  if (isExpiry(row)) return 'proven'
  const { lifecycle, created_at = 0, checked_at = 0 } = row
  return isUnproven({ lifecycle, created_at, checked_at }) ? 'unproven' : null
}

/** Whether a transaction was looked for until it must have been seen, without proof that it is in no block. */
export const isUnproven = ({
  lifecycle,
  created_at,
  checked_at,
}: Pick<FollowedTransaction, 'lifecycle' | 'created_at' | 'checked_at'>): boolean =>
  lifecycle === 'submitted' && checked_at - created_at > UNSEEN_AFTER_MS
