/** Refusals of the signer: what the audit log says of one, and the error that the client is answered. */
import type { Signer } from '../../chain/signer/index.ts'
import { type ApiError, badRequest, conflict } from '../../errors.ts'
import type { Refusal } from '../../policy/rules/check-policy.ts'
import { audit } from './audit.ts'
import { readPolicyState } from './policy-state.ts'
import type { SigningContext } from './types.ts'

/** Refuses at once where nothing that follows could be signed: before anything is built. */
export async function requireRunning(context: SigningContext, signer: Signer, operation: string): Promise<void> {
  const { policy, row } = await readPolicyState(context.store.db, context.clock, signer.address)
  if (policy.paused) throw await auditedRefusal(context, signer, operation, pausedRefusal(row?.paused_reason ?? null))
}

/** Writes the refusal to the audit log, except in a dry run; answers the bad_request for the caller to throw. */
export async function auditedRefusal(
  context: SigningContext,
  signer: Signer,
  operation: string,
  refusal: Refusal,
): Promise<ApiError> {
  // The log of a failed simulation is for the client; it would fill the audit log.
  const { logs: _, ...details } = refusal.details
  const { rule } = refusal
  if (!context.dryRun) {
    await context.store.write((tx) =>
      audit(context, tx, 'signing.refused', signer.address, { operation, rule, ...details }),
    )
  }
  return refusalError(refusal)
}

export const refusalError = ({ rule, message, details }: Refusal): ApiError =>
  badRequest(message, { details: { rule, ...details } })

/** A paused signer refuses before anything is simulated, with the reason that the operator gave. */
export const pausedRefusal = (reason: string | null): Refusal => ({
  rule: 'paused',
  message: `The signer is paused${reason === null ? '' : ` (${reason})`}: nothing is signed until \`svc signer resume\``,
  details: reason === null ? {} : { reason },
})

export const signingEnded = (id: string): ApiError =>
  conflict(`The signing ${id} has ended in another process: repeat the request to read its answer`, {
    param: 'Idempotency-Key',
  })

export const messageKnown = (): ApiError =>
  conflict(
    'The same transaction is being signed for another request: nothing was signed for this one; if it is meant to happen twice, repeat it in a second',
  )
