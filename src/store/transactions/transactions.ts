/** Submitted transactions with their signed bytes, and selection of those to check or send again. */
import { rowsWithin } from '../queries/paging.ts'
import { type Placeholders, prepared } from '../queries/prepared.ts'
import { addingOnce, finding, listing } from '../queries/records.ts'
import type { Row } from '../schema.ts'
import type { Reader, Tx } from '../store.ts'

export const addTransaction = addingOnce('transactions')
export const findTransaction = finding('transactions', 'signature')
export const pageTransactions = listing('transactions', ['lifecycle', 'bundle_id', 'external_uid', 'tracked_id'], {
  weights: { err_json: 2, metadata_json: 1, tracked_resource_json: 1 },
  narrow: ['bundle_id', 'external_uid', 'tracked_id'],
})

/** A transaction without its bytes. */
export type FollowedTransaction = Omit<Row<'transactions'>, 'raw' | 'raw_removed_at' | 'ledger_at' | 'retried_at'>

const FOLLOWED_COLUMNS = [
  'seq',
  'signature',
  'lifecycle',
  'confirmation_status',
  'err_json',
  'slot',
  'confirmations',
  'tracked_resource_json',
  'tracked_id',
  'bundle_id',
  'max_retries',
  'blockhash',
  'nonce_account',
  'genesis',
  'since_slot',
  'checked_at',
  'next_check_at',
  'next_send_at',
  'sends',
  'external_uid',
  'metadata_json',
  'created_at',
] as const satisfies readonly (keyof FollowedTransaction)[]

/** Whether any chain has a transaction that is due for a check or for sending. */
export async function isAnyTransactionDue(reader: Reader, now: number): Promise<boolean> {
  const due = reader
    .selectFrom('transactions')
    .select('seq')
    .where((is) => is.or([is('next_check_at', '<=', now), is('next_send_at', '<=', now)]))
  return (await due.limit(1).executeTakeFirst()) !== undefined
}

/** Returns when the next check of any transaction after `now` is due; null if none is planned. */
export async function nextTransactionCheck(reader: Reader, now: number): Promise<number | null> {
  const later = reader.selectFrom('transactions').select('next_check_at').where('next_check_at', '>', now)
  return (await later.orderBy('next_check_at').limit(1).executeTakeFirst())?.next_check_at ?? null
}

/** Returns transactions of one chain whose check is due, the longest overdue first. */
export async function dueTransactions(
  reader: Reader,
  genesis: string,
  now: number,
  limit: number,
): Promise<FollowedTransaction[]> {
  const due = reader
    .selectFrom('transactions')
    .select(FOLLOWED_COLUMNS)
    .where('next_check_at', '<=', now)
    .where('genesis', 'in', ['', genesis])
    .orderBy('next_check_at')
    .orderBy('seq')
  return (await rowsWithin(due, { limit, place: 'seq', weights: { metadata_json: 1 } })).rows
}

/**
 * Returns transactions of one chain, with their bytes, that were submitted after `since` and are neither confirmed nor
 * ended.
 */
export async function unconfirmedTransactions(
  reader: Reader,
  genesis: string,
  since: number,
): Promise<Pick<Row<'transactions'>, 'signature' | 'raw' | 'tracked_id' | 'created_at'>[]> {
  // The condition on `next_check_at` selects an index with few rows.
  const followed = reader.selectFrom('transactions').where('next_check_at', '>', 0)
  const unseen = await followed
    .select(['seq', 'signature', 'raw', 'tracked_id', 'created_at'])
    .where('lifecycle', 'in', ['submitted', 'processing'])
    .where('genesis', 'in', ['', genesis])
    .where('created_at', '>', since)
    .execute()
  return unseen.sort((one, other) => one.seq - other.seq)
}

/** Returns the confirmed transactions whose request named this resource, with what it named, in their order. */
export async function confirmedHints(
  reader: Reader,
  resourceId: string,
): Promise<
  (Pick<Row<'transactions'>, 'signature' | 'external_uid' | 'metadata_json'> & { tracked_resource_json: string })[]
> {
  const rows = await reader
    .selectFrom('transactions')
    .select(['signature', 'external_uid', 'metadata_json', 'tracked_resource_json'])
    .where('tracked_id', '=', resourceId)
    .where('lifecycle', 'in', ['confirmed', 'finalized'])
    .orderBy('seq')
    .limit(MOST_HINTS)
    .execute()
  return rows.flatMap(({ tracked_resource_json: hint, ...row }) =>
    hint === null ? [] : [{ ...row, tracked_resource_json: hint }],
  )
}

/** More transactions than a launch has. */
const MOST_HINTS = 20

/** Returns the signed bytes by signature. */
export async function rawTransactions(
  reader: Reader,
  signatures: readonly string[],
): Promise<ReadonlyMap<string, Uint8Array>> {
  if (signatures.length === 0) return new Map()
  const rows = await reader
    .selectFrom('transactions')
    .select(['signature', 'raw'])
    .where('signature', 'in', signatures)
    .execute()
  return new Map(rows.map(({ signature, raw }) => [signature, raw]))
}

/** Returns transactions of one chain that were submitted after `since` and ended without being in a block. */
export function expiredTransactions(
  reader: Reader,
  { genesis, since, limit }: { genesis: string; since: number; limit: number },
): Promise<FollowedTransaction[]> {
  const ended = reader.selectFrom('transactions').select(FOLLOWED_COLUMNS)
  return ended
    .where('next_check_at', 'is', null)
    .where('raw_removed_at', 'is', null)
    .where('created_at', '>', since)
    .where('lifecycle', '=', 'failed')
    .where('confirmation_status', 'is', null)
    .where('genesis', '=', genesis)
    .orderBy('created_at', 'desc')
    .limit(limit)
    .execute()
}

/** Returns submitted transactions by their signatures, with their bytes, in no particular order. */
export async function findTransactions(
  reader: Reader,
  signatures: readonly string[],
): Promise<(FollowedTransaction & Pick<Row<'transactions'>, 'raw'>)[]> {
  if (signatures.length === 0) return []
  const rows = reader.selectFrom('transactions').select([...FOLLOWED_COLUMNS, 'raw'])
  return rows.where('signature', 'in', signatures).execute()
}

/** New state of a transaction on chain, and the times of its next check and sending. */
type TransactionMove = Pick<
  FollowedTransaction,
  | 'lifecycle'
  | 'confirmation_status'
  | 'err_json'
  | 'slot'
  | 'confirmations'
  | 'checked_at'
  | 'next_check_at'
  | 'next_send_at'
>

/** The state that a transaction must still have to be moved. */
interface MovedFrom {
  signature: string
  fromLifecycle: FollowedTransaction['lifecycle']
  fromSlot: number
}

const moveFollowed = prepared((db, values: Placeholders<TransactionMove & MovedFrom>) =>
  db
    .updateTable('transactions')
    .set({
      lifecycle: values.lifecycle,
      confirmation_status: values.confirmation_status,
      err_json: values.err_json,
      slot: values.slot,
      confirmations: values.confirmations,
      checked_at: values.checked_at,
      next_check_at: values.next_check_at,
      next_send_at: values.next_send_at,
      // A corrected end is read by the ledger again.
      ledger_at: null,
    })
    .where('signature', '=', values.signature)
    .where('lifecycle', '=', values.fromLifecycle)
    .where('slot', '=', values.fromSlot),
)

/** Updates the transaction; false, without any change, if another process has moved it since it was read. */
export async function moveTransaction(
  tx: Tx,
  { signature, lifecycle: fromLifecycle, slot: fromSlot }: FollowedTransaction,
  move: TransactionMove,
): Promise<boolean> {
  return (await moveFollowed.run(tx, { ...move, signature, fromLifecycle, fromSlot })) > 0
}

/** Records a check at a node that had reached `slot`; ended transactions are not changed. */
export async function noteChecked(
  tx: Tx,
  signatures: readonly string[],
  { now, next, slot, genesis }: { now: number; next: number; slot: number; genesis: string },
): Promise<void> {
  if (signatures.length === 0) return
  await tx
    .updateTable('transactions')
    .set((row) => ({
      checked_at: now,
      next_check_at: next,
      since_slot: row.fn.coalesce('since_slot', row.val(slot)),
      genesis,
    }))
    .where('signature', 'in', signatures)
    .where('next_check_at', 'is not', null)
    .execute()
}

/**
 * Returns transactions of one chain that are due for sending, least often sent first; only that transaction if
 * `signature` is set.
 */
export function dueSends(
  reader: Reader,
  genesis: string,
  now: number,
  limit: number,
  signature?: string,
): Promise<
  Pick<FollowedTransaction, 'signature' | 'bundle_id' | 'sends' | 'max_retries' | 'nonce_account' | 'created_at'>[]
> {
  let due = reader
    .selectFrom('transactions')
    .select(['signature', 'bundle_id', 'sends', 'max_retries', 'nonce_account', 'created_at'])
    .where('next_send_at', '<=', now)
    .where('genesis', 'in', ['', genesis])
  if (signature !== undefined) due = due.where('signature', '=', signature)
  return due.orderBy('sends').orderBy('next_send_at').orderBy('seq').limit(limit).execute()
}

interface PlannedSend {
  signature: string
  /** Time to send it again if it is not found before; null for never. */
  next: number | null
}

/**
 * Claims transactions that are still due for sending; each is claimed by only one of several processes. Returns their
 * bytes.
 */
export async function claimSends(
  tx: Tx,
  now: number,
  sends: readonly PlannedSend[],
): Promise<{ signature: string; raw: Uint8Array }[]> {
  const claimed = []
  for (const send of sends) {
    const row = await claimSend.first(tx, { ...send, now })
    if (row) claimed.push(row)
  }
  return claimed
}

const claimSend = prepared((db, { signature, next, now }: Placeholders<PlannedSend & { now: number }>) =>
  db
    .updateTable('transactions')
    .set((of) => ({ next_send_at: next, sends: of('sends', '+', 1) }))
    .where('signature', '=', signature)
    .where('next_send_at', '<=', now)
    .returning(['signature', 'raw']),
)

/** Sets the next time to send the transaction; null for never. */
export async function planSend(tx: Tx, signature: string, next: number | null): Promise<void> {
  await sendNext.run(tx, { signature, next })
}

const sendNext = prepared((db, { signature, next }: Placeholders<PlannedSend>) =>
  db.updateTable('transactions').set({ next_send_at: next }).where('signature', '=', signature),
)

/** Returns the state of the transactions of a bundle, in its order. */
export function followedOfBundle(reader: Reader, bundleId: string): Promise<FollowedTransaction[]> {
  const rows = reader.selectFrom('transactions').select(FOLLOWED_COLUMNS).where('bundle_id', '=', bundleId)
  return rows.orderBy('seq').execute()
}

/** Returns the transactions of a bundle with their bytes, in its order. */
export function bundleTransactions(
  reader: Reader,
  bundleId: string,
): Promise<Pick<Row<'transactions'>, 'signature' | 'raw' | 'lifecycle'>[]> {
  return reader
    .selectFrom('transactions')
    .select(['signature', 'raw', 'lifecycle'])
    .where('bundle_id', '=', bundleId)
    .orderBy('seq')
    .execute()
}

/**
 * Clears the bytes of up to `limit` transactions that were submitted before `before` and can no longer change, oldest
 * first; returns their number.
 */
export async function pruneRawTransactions(
  tx: Tx,
  { before, now }: { before: number; now: number },
  limit: number,
): Promise<number> {
  const ended = tx
    .selectFrom('transactions')
    .select('seq')
    .where('next_check_at', 'is', null)
    .where('raw_removed_at', 'is', null)
    .where('next_send_at', 'is', null)
    .where('created_at', '<', before)
  // The order of the index (next_check_at, created_at); next_check_at is null in all these rows.
  const { numUpdatedRows } = await tx
    .updateTable('transactions')
    .set({ raw: Buffer.alloc(0), raw_removed_at: now })
    .where('seq', 'in', ended.orderBy('next_check_at').orderBy('created_at').limit(limit))
    .executeTakeFirstOrThrow()
  return Number(numUpdatedRows)
}
