/** Storage of notices: which items each receiver is told of, and how its sending goes. */
import type { NewRow, Row } from '../schema.ts'
import type { Reader, Tx } from '../store.ts'

export type NoticeRow = Row<'attention_notices'>
export type ReceiverState = Row<'attention_receivers'>

/** The notices of a receiver, the oldest first; there is one for each open item. */
export function noticesOf(reader: Reader, receiver: string, limit: number): Promise<NoticeRow[]> {
  const rows = reader.selectFrom('attention_notices').selectAll().where('receiver', '=', receiver)
  return rows.orderBy('noticed_at').orderBy('kind').orderBy('subject').limit(limit).execute()
}

export async function putNotice(tx: Tx, row: NewRow<'attention_notices'>): Promise<void> {
  const { item_json, ended_at } = row
  await tx
    .insertInto('attention_notices')
    .values(row)
    .onConflict((conflict) => conflict.columns(['receiver', 'kind', 'subject']).doUpdateSet({ item_json, ended_at }))
    .execute()
}

type NoticeKey = Pick<NoticeRow, 'receiver' | 'kind' | 'subject'>

export async function changeNotice(
  tx: Tx,
  { receiver, kind, subject }: NoticeKey,
  changes: Partial<Pick<NoticeRow, 'told_at' | 'ended_at'>>,
): Promise<void> {
  await tx
    .updateTable('attention_notices')
    .set(changes)
    .where('receiver', '=', receiver)
    .where('kind', '=', kind)
    .where('subject', '=', subject)
    .execute()
}

export async function deleteNotice(tx: Tx, { receiver, kind, subject }: NoticeKey): Promise<void> {
  await tx
    .deleteFrom('attention_notices')
    .where('receiver', '=', receiver)
    .where('kind', '=', kind)
    .where('subject', '=', subject)
    .execute()
}

/** Removes what is stored of receivers that the settings no longer name. */
export async function forgetOtherReceivers(tx: Tx, receivers: readonly string[]): Promise<void> {
  for (const table of ['attention_notices', 'attention_receivers'] as const) {
    const rows = tx.deleteFrom(table)
    await (receivers.length === 0 ? rows : rows.where('receiver', 'not in', receivers)).execute()
  }
}

/** Whether anything is stored of a receiver that is none of these. */
export async function knowsOtherReceivers(reader: Reader, receivers: readonly string[]): Promise<boolean> {
  const rows = reader.selectFrom('attention_receivers').select('receiver')
  const others = receivers.length === 0 ? rows : rows.where('receiver', 'not in', receivers)
  return (await others.limit(1).executeTakeFirst()) !== undefined
}

export async function findReceiverState(reader: Reader, receiver: string): Promise<ReceiverState> {
  const row = await reader
    .selectFrom('attention_receivers')
    .selectAll()
    .where('receiver', '=', receiver)
    .executeTakeFirst()
  return row ?? { receiver, minute_at: 0, sent: 0, failures: 0, next_attempt_at: 0 }
}

export async function putReceiverState(tx: Tx, state: ReceiverState): Promise<void> {
  const { receiver: _, ...changes } = state
  await tx
    .insertInto('attention_receivers')
    .values(state)
    .onConflict((conflict) => conflict.column('receiver').doUpdateSet(changes))
    .execute()
}
