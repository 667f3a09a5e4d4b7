/** Approves, rejects or cancels a proposal of a rule, with the signature of an approver. */
import type { ProposalStep } from '../../../api/index.ts'
import type { Context } from '../../../context.ts'
import { badRequest, forbidden } from '../../../platform/errors.ts'
import { decisionText } from '../../../solana/decision-texts.ts'
import { findApprover } from '../../../store/proposals/approvers.ts'
import { addDecision, lockProposal, readDecisions, updateProposal } from '../../../store/proposals/proposals.ts'
import type { Row } from '../../../store/schema.ts'
import { endWaiting, findSigning } from '../../../store/signing/signings.ts'
import type { Tx } from '../../../store/store.ts'
import { audit } from '../../signing/audit.ts'
import { lockPolicyState } from '../../signing/policy-state.ts'
import { timelessSha256 } from '../../signing/waiting-draft.ts'
import { type Decision, type DecisionInput, loadProposalRecord, requireProposal } from '../proposal-record.ts'
import {
  approverFault,
  countApprovals,
  decided,
  expired,
  isDecisionSigned,
  neededNow,
  notApproved,
} from './approvals.ts'
import { endUnsigned } from './end.ts'
import { tryExecute } from './execute.ts'

/**
 * The last approval that is needed executes the proposal after its commit. Throws bad_request for a stranger, a removed
 * approver, whoever asked, a wrong signature and an expired proposal; bad_request for a second decision.
 */
export async function decideByRule(
  context: Context,
  row: Row<'proposals'>,
  { approver, signature }: Pick<DecisionInput, 'approver' | 'signature'>,
  decision: Decision,
): Promise<ProposalStep> {
  if (decision === 'cancelled') return cancelByRule(context, row)
  if (approver === undefined) throw badRequest('approver: is required for a proposal of a rule', { param: 'approver' })
  if (signature === undefined)
    throw badRequest('signature: is required for a proposal of a rule', { param: 'signature' })
  const answer = await recordDecision(context, row.id, { approver, signature, decision })
  if (answer.proposal.status !== 'approved') return answer
  await tryExecute(context, row.id)
  const { db } = context.store
  return { mode: 'recorded', proposal: await loadProposalRecord(db, await requireProposal(db, row.id)) }
}

interface SignedDecision {
  approver: string
  /** Base58. */
  signature: string
  decision: 'approved' | 'rejected'
}

/** Stores a decision, and returns the proposal after it. Throws like `decideByRule`. */
function recordDecision(context: Context, id: string, { approver, signature, decision }: SignedDecision) {
  const { clock } = context
  return context.commit(async (tx) => {
    const { row, wallet, approvals } = await lockOpen(context, tx, id)
    const now = clock.now()
    if ((row.expires_at ?? 0) <= now) throw expired(row)
    requireSameMessage(row)
    const known = await findApprover(tx, approver)
    const fault = approverFault(known ?? undefined, row, { wallet, approvals })
    if (fault !== null) throw badRequest(`approver: ${approver} ${fault}`, { param: 'approver' })
    const earlier = (await readDecisions(tx, [id])).get(id)?.find((each) => each.approver === approver)
    if (earlier !== undefined) throw badRequest(`${approver} has ${earlier.decision} the proposal ${id} already`)
    if (!isDecisionSigned(row, { approver, decision, signature })) {
      const text = decisionText(decision, decided(row))
      throw badRequest(`signature: is not the signature of ${approver} for this text: ${text}`, { param: 'signature' })
    }
    await addDecision(tx, { proposal_id: id, approver, decision, signature, at: now })
    await audit(context, tx, `proposal.${decision}`, wallet, {
      proposal: id,
      approver,
      name: known?.name ?? '',
      message_sha256: row.message_sha256,
      signature,
    })
    const { approved, rejected, eligible } = await countApprovals(tx, row, { wallet, approvals })
    const needed = neededNow(row, approvals)
    const status = approved >= needed ? 'approved' : eligible - rejected < needed ? 'rejected' : 'active'
    if (status === 'rejected' && row.signing_id !== null) await endWaiting(tx, row.signing_id)
    const changed = await updateProposal(tx, id, { status, fault: null, updated_at: now })
    return { mode: 'recorded' as const, proposal: await loadProposalRecord(tx, changed ?? row) }
  })
}

/** The API key that asked may cancel, and any key with the scope `*`. */
async function cancelByRule(context: Context, { id, asked_by }: Row<'proposals'>): Promise<ProposalStep> {
  const { actor } = context
  if (!actor.scopes.includes('*') && actor.apiKeyId !== asked_by) {
    throw forbidden('Only the API key that asked for the act, or one with the scope *, can cancel its proposal')
  }
  return context.commit(async (tx) => {
    const { row } = await lockOpen(context, tx, id)
    const changed = await endUnsigned(context, tx, row, { status: 'cancelled', fault: null })
    if (changed === null) {
      throw badRequest(`The execution of the proposal ${id} has begun: continue it (svc proposals execute ${id})`)
    }
    return { mode: 'recorded' as const, proposal: await loadProposalRecord(tx, changed) }
  })
}

/** Locks the policy and a proposal that has not ended. Throws bad_request for one that has. */
async function lockOpen({ clock }: Context, tx: Tx, id: string) {
  const signingId = (await requireProposal(tx, id)).signing_id ?? ''
  const wallet = (await findSigning(tx, signingId))?.signer ?? ''
  const { approvals } = (await lockPolicyState(tx, clock, wallet)).policy
  const row = await lockProposal(tx, id)
  if (row === null) throw badRequest(`The proposal ${id} is gone`)
  if (row.status !== 'active' && row.status !== 'approved') throw notApproved(row)
  return { row, wallet, approvals }
}

/** Throws bad_request if the stored transaction is not the one with the stored hash. */
function requireSameMessage({ id, message, message_sha256 }: Row<'proposals'>): void {
  if (timelessSha256(message) === message_sha256) return
  throw badRequest(
    `The transaction of the proposal ${id} was changed after it was proposed: cancel it (svc proposals cancel ${id})`,
  )
}
