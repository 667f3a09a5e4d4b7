/** Storage of raises and their scheduled looks. */
import { anyDue, dueRows, finding, insertingOnce, listing, updating } from '../queries/records.ts'
import type { Row } from '../schema.ts'
import type { Tx } from '../store.ts'

export type RaiseRow = Row<'raises'>

export const insertRaise = insertingOnce('raises')
export const findRaise = finding('raises', 'id')
export const updateRaise = updating('raises', 'id')
export const pageRaises = listing('raises', ['mint', 'creator'], { weights: { metadata_json: 1 } })
export const isAnyRaiseDue = anyDue('raises')
export const dueRaises = dueRows('raises')

/** Sets or clears the signing of a raise's settlement. Returns false if another process has set a different one since. */
export async function replaceSettlement(tx: Tx, id: string, from: string | null, to: string | null): Promise<boolean> {
  const updates = tx.updateTable('raises').set({ settle_signing: to }).where('id', '=', id)
  const linked =
    from === null ? updates.where('settle_signing', 'is', null) : updates.where('settle_signing', '=', from)
  return (await linked.executeTakeFirstOrThrow()).numUpdatedRows > 0n
}
