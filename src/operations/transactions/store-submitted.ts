/** Writes the record of a submitted transaction with its event, before anything is sent. */
import type { TrackedResource } from '../../api/index.ts'
import type { Context } from '../../context.ts'
import { transactionRecord } from '../../following/transaction-record.ts'
import { lifetimeOf } from '../../solana/lifetimes.ts'
import type { DecodedTransaction } from '../../solana/messages.ts'
import { executedTransactions } from '../../solana/squads/index.ts'
import { type EventDraft, writeEvent } from '../../store/events/drafts.ts'
import { originOfExecution } from '../../store/proposals/proposals.ts'
import type { NewRow } from '../../store/schema.ts'
import type { Tx } from '../../store/store.ts'
import { addTransaction } from '../../store/transactions/transactions.ts'

interface SubmissionOptions {
  max_retries: number
  tracked_resource?: TrackedResource | undefined
}

type FollowingPlan = Pick<NewRow<'transactions'>, 'genesis'> &
  Partial<Pick<NewRow<'transactions'>, 'since_slot' | 'next_send_at' | 'bundle_id'>>

type StoringContext = Pick<Context, 'clock' | 'externalUid' | 'metadata'>

/** Writes the record and its event. Returns false and writes nothing when it is already stored. */
export async function storeSubmitted(
  context: StoringContext,
  tx: Tx,
  transaction: DecodedTransaction,
  options: SubmissionOptions,
  plan: FollowingPlan,
): Promise<boolean> {
  const draft = await insertSubmitted(context, tx, transaction, options, plan)
  if (draft === null) return false
  await writeEvent(tx, context.clock, draft)
  return true
}

/**
 * Writes only the record. The execution of a proposal without an own id of the caller has that of the proposal. Returns its event, to be written in the same database transaction, or null if it is already
 * stored.
 */
export async function insertSubmitted(
  context: StoringContext,
  tx: Tx,
  { raw, signature, message }: DecodedTransaction,
  { max_retries, tracked_resource }: SubmissionOptions,
  plan: FollowingPlan,
): Promise<EventDraft | null> {
  const { clock, externalUid, metadata } = context
  const isNamed = externalUid !== undefined || metadata !== undefined
  const origin = isNamed
    ? null
    : await originOfExecution(tx, { genesis: plan.genesis, addresses: executedTransactions(message) })
  const { blockhash, nonceAccount } = lifetimeOf(message)
  const now = clock.now()
  const row = {
    signature,
    raw: Buffer.from(raw),
    lifecycle: 'submitted' as const,
    confirmation_status: null,
    err_json: null,
    slot: 0,
    confirmations: 0,
    tracked_resource_json: tracked_resource === undefined ? null : JSON.stringify(tracked_resource),
    tracked_id: tracked_resource?.resource_id ?? null,
    bundle_id: null,
    max_retries,
    blockhash,
    nonce_account: nonceAccount,
    since_slot: null,
    checked_at: 0,
    next_check_at: now,
    next_send_at: null,
    sends: 0,
    external_uid: externalUid ?? origin?.external_uid ?? null,
    metadata_json: metadata === undefined ? (origin?.metadata_json ?? null) : JSON.stringify(metadata),
    created_at: now,
    ...plan,
  }
  const object = transactionRecord(row)
  const about = { resource_type: 'transaction', resource_id: signature, object, origin: row }
  const draft: EventDraft = { type: 'transaction.submitted', ...about }
  return (await addTransaction(tx, row)) ? draft : null
}
