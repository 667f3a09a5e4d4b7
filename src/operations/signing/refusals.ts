/** Creates the audit entries of the signer's refusals, and the errors for the client. */
import type { Signer } from '../../chain/signer/index.ts'
import { type ApiError, badRequest, conflict, Overtaken } from '../../platform/errors.ts'
import type { Movement } from '../../policy/movement/movement.ts'
import type { SigningPolicy } from '../../policy/policy.ts'
import { judgeMovement, type PolicyVerdict, type Refusal } from '../../policy/rules/check-policy.ts'
import { spendOf } from '../../policy/rules/spend.ts'
import type { PolicyCheckOptions } from '../../policy/rules/violation.ts'
import { audit } from './audit.ts'
import { type PolicyState, readPolicyState } from './policy-state.ts'
import type { SigningContext } from './types.ts'

/** Refuses early when the signer is paused, before anything is built. Returns the policy otherwise. */
export async function requireRunning(
  context: SigningContext,
  signer: Signer,
  operation: string,
): Promise<SigningPolicy> {
  const state = await readPolicyState(context.store.db, context.clock, signer.address)
  const refusal = pausedRefusal(state)
  if (refusal !== null) throw await auditedRefusal(context, signer, operation, refusal)
  return state.policy
}

/** Returns what the locked policy says about the movement. */
export function policyVerdict(state: PolicyState, movement: Movement, options: PolicyCheckOptions): PolicyVerdict {
  const paused = pausedRefusal(state)
  if (paused !== null) return { kind: 'refuses', refusals: [paused] }
  return judgeMovement(movement, state.policy, state.spent, options)
}

/** Returns why the locked policy refuses the movement, or null when it permits it. What would wait is refused. */
export function policyRefusal(state: PolicyState, movement: Movement, options: PolicyCheckOptions): Refusal | null {
  const verdict = policyVerdict(state, movement, options)
  return verdict.kind === 'permits' ? null : verdict.refusals[0]
}

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

/**
 * Throws the refusal of the first of several movements that the policy would not permit, the earlier ones counted, so
 * that none is signed of what cannot be finished. Each is checked again when it is signed. The first may wait for
 * approvals; a later one that would have to wait is refused.
 */
export async function requirePermitted(
  context: SigningContext,
  signer: Signer,
  { operation, movements, uncapped }: { operation: string; movements: readonly Movement[]; uncapped: string[] },
): Promise<void> {
  const state = await readPolicyState(context.store.db, context.clock, signer.address)
  let { spent } = state
  for (const [place, movement] of movements.entries()) {
    const cosigners = movement.signers.filter((address) => address !== signer.address)
    const now = { ...state, spent }
    const verdict = policyVerdict(now, movement, { role: 'pays', cosigners, uncapped, isForecast: true })
    const isWaiting = place === 0 && context.proposing !== undefined && verdict.kind === 'waits'
    if (verdict.kind !== 'permits' && !isWaiting) {
      throw await auditedRefusal(context, signer, operation, verdict.refusals[0])
    }
    const { lamports, tokens } = spendOf(movement)
    const sums = new Map(spent.tokens)
    for (const { mint, amount } of tokens) sums.set(mint, (sums.get(mint) ?? 0n) + amount)
    spent = { lamports: spent.lamports + lamports, tokens: sums }
  }
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
  new Overtaken(
    'The same transaction is being signed for another request: nothing was signed for this one; if you want both, repeat it in a second',
  )
