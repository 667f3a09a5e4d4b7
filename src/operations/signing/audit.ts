/** Entries of the audit log about what a request did with the platform's key, or with those of the API. */
import type { AuditAction } from '../../api/audit-entries.ts'
import type { Context } from '../../context.ts'
import { appendAudit } from '../../store/audit-entries.ts'
import type { Tx } from '../../store/store.ts'

/** Writes an entry in the transaction of what it reports. `details` hold figures and addresses, amounts as digits. */
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
