/** Messages that got a fresh blockhash, and the submitted transactions that differ from them only in it. */
import { type Placeholders, prepared } from '../queries/prepared.ts'
import type { NewRow, Row } from '../schema.ts'
import type { Reader, Tx } from '../store.ts'

const findFirst = prepared((db, { message }: Placeholders<{ message: string }>) =>
  db.selectFrom('refreshed_messages').select('first_sha256').where('message_sha256', '=', message),
)

/** Returns the hash of the first message in this one's chain of refreshes; null if this message is in none. */
export const firstOfMessage = async (reader: Reader, messageSha256: string): Promise<string | null> =>
  (await findFirst.first(reader, { message: messageSha256 }))?.first_sha256 ?? null

/** Returns the blockhashes of all messages refreshed from this first one, and locks them until the commit. */
export async function lockBlockhashes(tx: Tx, firstSha256: string): Promise<string[]> {
  const rows = await tx
    .updateTable('refreshed_messages')
    .set((row) => ({ created_at: row.ref('created_at') }))
    .where('first_sha256', '=', firstSha256)
    .returning('blockhash')
    .execute()
  return rows.map(({ blockhash }) => blockhash)
}

/** Stores messages; an existing one stays unchanged. */
export async function addRefreshedMessages(tx: Tx, rows: readonly NewRow<'refreshed_messages'>[]): Promise<void> {
  await tx
    .insertInto('refreshed_messages')
    .values([...rows])
    .onConflict((conflict) => conflict.column('message_sha256').doNothing())
    .execute()
}

/** Most transactions with one of the blockhashes that are searched; far more than one slot has. */
const MOST_WITH_BLOCKHASH = 2_000

/**
 * Returns the newest submitted transactions with one of these blockhashes, with their bytes. Those that have failed for
 * good are left out; one that a node only reports as failed may still land after a fork or a restart.
 */
export function liveWithBlockhash(
  reader: Reader,
  blockhashes: readonly string[],
): Promise<Pick<Row<'transactions'>, 'signature' | 'lifecycle' | 'raw'>[]> {
  return reader
    .selectFrom('transactions')
    .select(['signature', 'lifecycle', 'raw'])
    .where('blockhash', 'in', [...blockhashes])
    .where((row) => row.or([row('lifecycle', '!=', 'failed'), row('next_check_at', 'is not', null)]))
    .orderBy('seq', 'desc')
    .limit(MOST_WITH_BLOCKHASH)
    .execute()
}

/** Returns the transactions with one of these blockhashes that have failed for good, with their bytes. */
export function failedWithBlockhash(
  reader: Reader,
  blockhashes: readonly string[],
): Promise<Pick<Row<'transactions'>, 'signature' | 'raw'>[]> {
  return reader
    .selectFrom('transactions')
    .select(['signature', 'raw'])
    .where('blockhash', 'in', [...blockhashes])
    .where('lifecycle', '=', 'failed')
    .orderBy('seq', 'desc')
    .limit(MOST_WITH_BLOCKHASH)
    .execute()
}

/** Notes that the message of a failed transaction was submitted again. */
export async function noteRetried(tx: Tx, signature: string, now: number): Promise<void> {
  await tx.updateTable('transactions').set({ retried_at: now }).where('signature', '=', signature).execute()
}

/** Deletes messages from before a time, in Unix milliseconds; returns how many. */
export async function pruneRefreshedMessages(tx: Tx, before: number, limit: number): Promise<number> {
  const old = tx.selectFrom('refreshed_messages').select('message_sha256').where('created_at', '<=', before)
  const { numDeletedRows } = await tx
    .deleteFrom('refreshed_messages')
    .where('message_sha256', 'in', old.orderBy('created_at').limit(limit))
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
