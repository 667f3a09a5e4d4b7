/** Creates the audit entries of the signer's refusals, and the errors for the client. */
import type { Signer } from '../../chain/signer/index.ts'
import { type ApiError, badRequest, conflict } from '../../platform/errors.ts'
import type { Movement } from '../../policy/movement/movement.ts'
import { checkPolicy, type Refusal } from '../../policy/rules/check-policy.ts'
import type { PolicyCheckOptions } from '../../policy/rules/violation.ts'
import { audit } from './audit.ts'
import { type PolicyState, readPolicyState } from './policy-state.ts'
import type { SigningContext } from './types.ts'

/** Refuses early when the signer is paused, before anything is built. */
export async function requireRunning(context: SigningContext, signer: Signer, operation: string): Promise<void> {
  const refusal = pausedRefusal(await readPolicyState(context.store.db, context.clock, signer.address))
  if (refusal !== null) throw await auditedRefusal(context, signer, operation, refusal)
}

/** Returns why the locked policy refuses the movement, or null when it permits it. */
export const policyRefusal = (state: PolicyState, movement: Movement, options: PolicyCheckOptions): Refusal | null =>
  pausedRefusal(state) ?? checkPolicy(movement, state.policy, state.spent, options)

/**
 * Writes the refusal to the audit log, or counts it if the context says so; a dry run does neither. Returns the
 * bad_request for the caller to throw.
 */
export async function auditedRefusal(
  context: SigningContext,
  signer: Signer,
  operation: string,
  refusal: Refusal,
): Promise<ApiError> {
  // The log of a failed simulation goes only to the client, because it would fill the audit log.
  const { logs: _, ...details } = refusal.details
  const { rule } = refusal
  if (context.refusals !== undefined) {
    context.refusals.add({ actor: context.actor, signer: signer.address, operation, rule })
  } else if (!context.dryRun) {
    await context.store.write((tx) =>
      audit(context, tx, 'signing.refused', signer.address, { operation, rule, ...details }),
    )
  }
  return refusalError(refusal)
}

const refusalError = ({ rule, message, details }: Refusal): ApiError =>
  badRequest(message, { details: { rule, ...details } })

/** Returns the refusal of a paused signer with the operator's reason, or null when it is not paused. */
function pausedRefusal({ policy, row }: PolicyState): Refusal | null {
  if (!policy.paused) return null
  const reason = row?.paused_reason ?? null
  return {
    rule: 'paused',
    message: `The signer is paused${reason === null ? '' : ` (${reason})`}: nothing is signed until \`svc signer resume\``,
    details: reason === null ? {} : { reason },
  }
}

/** Throws bad_request when the signer was paused during the provider's call. */
export function requireNotPaused(state: PolicyState): void {
  const refusal = pausedRefusal(state)
  if (refusal !== null) throw refusalError(refusal)
}

export const signingEnded = (id: string): ApiError =>
  conflict(`The signing ${id} has ended in another process: repeat the request to read its answer`, {
    param: 'Idempotency-Key',
  })

export const messageKnown = (): ApiError =>
  conflict(
    'The same transaction is being signed for another request: nothing was signed for this one; if you want both, repeat it in a second',
  )
