/** The row of a proposal, as other parts of the store need one. */
import type { NewRow } from '../../src/store/schema.ts'

/** `prp_1`, `prp_2` and so on, of a multisig, planned `at` these Unix milliseconds. */
export const storedProposal = (n: number, at: number, changes: Partial<NewRow<'proposals'>>): NewRow<'proposals'> => ({
  id: `prp_${n}`,
  kind: 'squads',
  genesis: 'chain',
  status: 'planned',
  operation: 'POST /v2/pools/{address}/fee-claims',
  what: 'Claim fees of a pool',
  asked_by: null,
  message: Buffer.from('bytes'),
  message_sha256: '00',
  stored_message: null,
  request: Buffer.from('sealed'),
  tracked_resource_json: null,
  approver_json: '{}',
  multisig: 'multisig',
  transaction_index: n,
  member: null,
  needed: 2,
  expires_at: null,
  signing_id: null,
  signature: null,
  fault: null,
  next_look_at: null,
  external_uid: null,
  metadata_json: null,
  created_at: at,
  updated_at: at,
  ...changes,
})
