/** Storage of pay requests, and selection of those whose payment may have landed. */
import { finding, inserting, listing, updating } from '../queries/records.ts'
import type { Row } from '../schema.ts'
import type { Reader, Tx } from '../store.ts'

export type PayRequestRow = Row<'pay_requests'>

export const insertPayRequest = inserting('pay_requests')
export const findPayRequest = finding('pay_requests', 'id')
export const updatePayRequest = updating('pay_requests', 'id')
export const pagePayRequests = listing('pay_requests', ['api_key_id'], { weights: { body_json: 1, metadata_json: 1 } })

/** Returns the row and locks it until the commit. An update without a change does this on both databases. */
export const lockPayRequest = (tx: Tx, id: string) => updatePayRequest(tx, id, { id })

/** Returns requests of one chain whose look is due, the longest overdue first. */
export const duePayRequests = (reader: Reader, genesis: string, now: number, limit: number): Promise<PayRequestRow[]> =>
  reader
    .selectFrom('pay_requests')
    .selectAll()
    .where('next_look_at', '<=', now)
    .where('genesis', '=', genesis)
    .orderBy('next_look_at')
    .limit(limit)
    .execute()

/** Whether a look of any chain is due. */
export async function isAnyPayRequestDue(reader: Reader, now: number): Promise<boolean> {
  const due = reader.selectFrom('pay_requests').select('seq').where('next_look_at', '<=', now)
  return (await due.limit(1).executeTakeFirst()) !== undefined
}

/** Removes requests that expired before `before`; returns how many. */
export async function prunePayRequests(tx: Tx, before: number, limit: number): Promise<number> {
  const old = tx.selectFrom('pay_requests').select('seq').where('expires_at', '<', before).limit(limit)
  const { numDeletedRows } = await tx.deleteFrom('pay_requests').where('seq', 'in', old).executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
