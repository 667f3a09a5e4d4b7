/** Items of the list that are left out until a time. */
import type { NewRow } from '../schema.ts'
import type { Tx } from '../store.ts'

/** Snoozes an item; an earlier snooze of it is replaced, and those that have ended are removed. */
export async function putSnooze(tx: Tx, row: NewRow<'attention_snoozes'>): Promise<void> {
  await tx.deleteFrom('attention_snoozes').where('until', '<=', row.snoozed_at).execute()
  const { kind: _, subject: __, ...changes } = row
  await tx
    .insertInto('attention_snoozes')
    .values(row)
    .onConflict((conflict) => conflict.columns(['kind', 'subject']).doUpdateSet(changes))
    .execute()
}

export async function dropSnooze(tx: Tx, kind: string, subject: string): Promise<void> {
  await tx.deleteFrom('attention_snoozes').where('kind', '=', kind).where('subject', '=', subject).execute()
}
