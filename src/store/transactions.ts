/** Submitted transactions with their signed bytes, and which of them are to be looked for or sent again. */
import type { Updateable } from 'kysely'
import { rowsWithin } from './paging.ts'
import { finding, insertingOnce } from './records.ts'
import type { Row, TransactionsTable } from './schema.ts'
import type { Reader, Tx } from './store.ts'

export const insertTransaction = insertingOnce('transactions')
export const findTransaction = finding('transactions', 'signature')

/** A transaction without its bytes. */
export type FollowedTransaction = Omit<Row<'transactions'>, 'raw'>

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

/** Whether anything is to be looked for or sent, on whatever chain. */
export async function isAnyTransactionDue(reader: Reader, now: number): Promise<boolean> {
  const due = reader
    .selectFrom('transactions')
    .select('seq')
    .where((is) => is.or([is('next_check_at', '<=', now), is('next_send_at', '<=', now)]))
  return (await due.limit(1).executeTakeFirst()) !== undefined
}

/** Those of one chain that it is time to look for, longest waiting first. */
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

/** Those of one chain that were submitted after `since`, and that nobody has seen confirmed or ended, with their bytes. */
export async function unseenTransactions(
  reader: Reader,
  genesis: string,
  since: number,
): Promise<Pick<Row<'transactions'>, 'signature' | 'raw' | 'tracked_id' | 'created_at'>[]> {
  // That they are to be looked for leads to the few by an index.
  const followed = reader.selectFrom('transactions').where('next_check_at', '>', 0)
  const unseen = await followed
    .select(['seq', 'signature', 'raw', 'tracked_id', 'created_at'])
    .where('lifecycle', 'in', ['submitted', 'processing'])
    .where('genesis', 'in', ['', genesis])
    .where('created_at', '>', since)
    .execute()
  return unseen.sort((one, other) => one.seq - other.seq)
}

/** The signed bytes by signature. */
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

/** Changes it unless another process has moved it since it was read; false then, and nothing is changed. */
export async function moveTransaction(
  tx: Tx,
  { signature, lifecycle, slot }: FollowedTransaction,
  changes: Updateable<TransactionsTable>,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('transactions')
    .set(changes)
    .where('signature', '=', signature)
    .where('lifecycle', '=', lifecycle)
    .where('slot', '=', slot)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Notes that they were looked for at a node that had reached `slot`; those that have ended stay ended. */
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

/** What is due to be sent on one chain, least often sent first; of one transaction where a signature is given. */
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

export interface PlannedSend {
  signature: string
  /** When to send it once more, should it not be seen before. */
  next: number | null
}

/** Takes the sending of those that are still due: of any number of processes one gets each. Answers their bytes. */
export async function claimSends(
  tx: Tx,
  now: number,
  sends: readonly PlannedSend[],
): Promise<{ signature: string; raw: Uint8Array }[]> {
  const claimed = []
  for (const { signature, next } of sends) {
    const row = await tx
      .updateTable('transactions')
      .set((of) => ({ next_send_at: next, sends: of('sends', '+', 1) }))
      .where('signature', '=', signature)
      .where('next_send_at', '<=', now)
      .returning(['signature', 'raw'])
      .executeTakeFirst()
    if (row) claimed.push(row)
  }
  return claimed
}

/** Sets when to send it next; null: not again. */
export async function planSend(tx: Tx, signature: string, next: number | null): Promise<void> {
  await tx.updateTable('transactions').set({ next_send_at: next }).where('signature', '=', signature).execute()
}

/** What is known of the transactions of a bundle, in its order. */
export function followedOfBundle(reader: Reader, bundleId: string): Promise<FollowedTransaction[]> {
  const rows = reader.selectFrom('transactions').select(FOLLOWED_COLUMNS).where('bundle_id', '=', bundleId)
  return rows.orderBy('seq').execute()
}

/** The transactions of a bundle with their bytes, in its order. */
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
