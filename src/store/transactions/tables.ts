/** Tables of submitted transactions. */
import type { Generated } from 'kysely'
import type { Recorded } from '../queries/recorded.ts'

interface TransactionsTable extends Recorded {
  signature: string
  /** Signed bytes, stored before they are sent; empty once removed. */
  raw: Buffer
  lifecycle: 'submitted' | 'processing' | 'confirmed' | 'finalized' | 'failed'
  confirmation_status: string | null
  err_json: string | null
  slot: number
  confirmations: number
  tracked_resource_json: string | null
  /** Value of `resource_id` of the tracked resource. */
  tracked_id: string | null
  /** Bundle in which it was submitted; transactions of a bundle are only sent together. */
  bundle_id: string | null
  /** Retries requested of the RPC node; 0 also stops this service from sending again. */
  max_retries: number
  /** Blockhash of the message, or the value of its durable nonce. */
  blockhash: string
  nonce_account: string | null
  /**
   * Genesis hash of the chain that it was submitted to; only that chain can report its outcome. Empty until a node has
   * reported it.
   */
  genesis: string
  /** Slot that the cluster had reached at the first check; null before that. */
  since_slot: number | null
  /** Time of the last check; 0 before the first one. */
  checked_at: number
  /** Time of the next check; null once the transaction can no longer change. */
  next_check_at: number | null
  /** Time of the next sending; null if none is planned. */
  next_send_at: number | null
  /** Number of times the watcher has sent it. */
  sends: number
  /** Time at which the bytes were removed; null while they are stored. */
  raw_removed_at: Generated<number | null>
  /** Time at which it was added to the ledger; null before. */
  ledger_at: Generated<number | null>
  /** Time at which the same message was submitted again with another blockhash, after this one had failed. */
  retried_at: Generated<number | null>
}

/** A message that got a fresh blockhash, or the result. */
interface RefreshedMessagesTable {
  message_sha256: string
  /** Hash of the first message, before all refreshes. */
  first_sha256: string
  blockhash: string
  created_at: number
}

export interface TransactionTables {
  transactions: TransactionsTable
  refreshed_messages: RefreshedMessagesTable
}
