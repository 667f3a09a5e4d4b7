/** People who may approve acts of the platform wallet, by their addresses. */
import { finding, inserting, listing, updating } from '../queries/records.ts'
import type { Row } from '../schema.ts'
import type { Reader } from '../store.ts'

export const insertApprover = inserting('approvers')
export const findApprover = finding('approvers', 'address')
export const updateApprover = updating('approvers', 'address')
export const pageApprovers = listing('approvers', [], { weights: { metadata_json: 1 } })

/** Returns every approver, also revoked ones, in the order in which they were added. */
export function allApprovers(reader: Reader): Promise<Row<'approvers'>[]> {
  return reader.selectFrom('approvers').selectAll().orderBy('seq').execute()
}

/** Returns the approvers who are not revoked. */
export async function activeApprovers(reader: Reader): Promise<Row<'approvers'>[]> {
  return (await allApprovers(reader)).filter(({ revoked_at }) => revoked_at === null)
}
