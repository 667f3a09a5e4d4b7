/** What an audit entry can record, in a file that loads nothing else. */
export const AUDIT_ACTIONS = [
  'signing.intended',
  'signing.signed',
  'signing.refused',
  'signing.failed',
  'signer.tested',
  'policy.changed',
  'signer.paused',
  'signer.resumed',
  'spend.reset',
  'api_key.created',
  'api_key.revoked',
  'fee_schedule.created',
  'fee_schedule.updated',
  'fee_schedule.deleted',
  'fee_schedule.run_requested',
  'sponsorship.changed',
  'merkle_tree.replaced',
  'audit.recorded',
  'audit.sealed',
  'audit.cut',
] as const
export type AuditAction = (typeof AUDIT_ACTIONS)[number]
