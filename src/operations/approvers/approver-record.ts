/** A row of the approvers as the API answers it, and as the audit log records it. */
import type { Approver } from '../../api/approvers.ts'
import { isoTime } from '../../platform/timing.ts'
import type { Row } from '../../store/schema.ts'
import { isoTimeOrNull } from '../api-records.ts'

export const approverRecord = (row: Row<'approvers'>): Approver => ({
  address: row.address,
  name: row.name,
  api_key_id: row.api_key_id,
  status: row.revoked_at === null ? 'active' : 'removed',
  created_at: isoTime(row.created_at),
  removed_at: isoTimeOrNull(row.revoked_at),
})

/** The fields of an approver in the log. */
export const approverTerms = ({ address, name, api_key_id }: Row<'approvers'>) => ({
  approver: address,
  name,
  key: api_key_id,
})
