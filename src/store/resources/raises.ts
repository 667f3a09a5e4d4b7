/** Storage of raises and their scheduled looks. */
import { rowsWithin } from '../queries/paging.ts'
import { finding, insertingOnce, listing, updating } from '../queries/records.ts'
import type { Row } from '../schema.ts'
import type { Reader, Tx } from '../store.ts'

export type RaiseRow = Row<'raises'>

export const insertRaise = insertingOnce('raises')
export const findRaise = finding('raises', 'id')
export const updateRaise = updating('raises', 'id')
export const pageRaises = listing('raises', ['mint', 'creator'], { weights: { metadata_json: 1 } })

/** Whether any chain has a raise whose look is due. */
export async function isAnyRaiseDue(reader: Reader, now: number): Promise<boolean> {
  const due = reader.selectFrom('raises').select('seq').where('next_check_at', '<=', now).limit(1)
  return (await due.executeTakeFirst()) !== undefined
}

/** Sets or clears the signing of a raise's settlement. Returns false if another process has set a different one since. */
export async function replaceSettlement(tx: Tx, id: string, from: string | null, to: string | null): Promise<boolean> {
  const updates = tx.updateTable('raises').set({ settle_signing: to }).where('id', '=', id)
  const linked =
    from === null ? updates.where('settle_signing', 'is', null) : updates.where('settle_signing', '=', from)
  return (await linked.executeTakeFirstOrThrow()).numUpdatedRows > 0n
}

/** Returns the raises of one chain whose look is due, the longest overdue first. */
export async function dueRaises(reader: Reader, genesis: string, now: number, limit: number): Promise<RaiseRow[]> {
  const due = reader
    .selectFrom('raises')
    .selectAll()
    .where('next_check_at', '<=', now)
    .where('genesis', '=', genesis)
    .orderBy('next_check_at')
    .orderBy('seq')
  return (await rowsWithin(due, { limit, place: 'seq', weights: { metadata_json: 1 } })).rows
}
