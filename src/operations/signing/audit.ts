/** Writes entries of the audit log about the use of the platform's key and of the API keys by requests. */
import type { AuditAction } from '../../api/audit-actions.ts'
import type { Context } from '../../context.ts'
import { appendAudit } from '../../store/audit/entries.ts'
import type { Tx } from '../../store/store.ts'

/**
 * Writes an entry in the same database transaction as the change. `details` contain figures and addresses, with
 * amounts as digits.
 */
export async function audit(
  { actor, requestId, clock, vault }: Pick<Context, 'actor' | 'requestId' | 'clock' | 'vault'>,
  tx: Tx,
  action: AuditAction,
  signer: string | null,
  details: Record<string, unknown>,
): Promise<void> {
  await appendAudit(tx, vault, {
    at: clock.now(),
    action,
    signer,
    api_key_id: actor.apiKeyId,
    request_id: requestId,
    details_json: JSON.stringify(details),
  })
}
