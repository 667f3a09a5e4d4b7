/** Storage of raises and their scheduled looks. */
import { rowsWithin } from '../queries/paging.ts'
import { finding, insertingOnce, listing, updating } from '../queries/records.ts'
import type { Row } from '../schema.ts'
import type { Reader } from '../store.ts'

export type RaiseRow = Row<'raises'>

export const insertRaise = insertingOnce('raises')
export const findRaise = finding('raises', 'id')
export const updateRaise = updating('raises', 'id')
export const pageRaises = listing('raises', ['mint', 'creator'], { weights: { metadata_json: 1 } })

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
