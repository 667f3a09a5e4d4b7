/** Proposes the same request anew, with the amounts of now, in place of a proposal that will not be executed. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context, StoredRequest } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import type { Row } from '../../store/schema.ts'
import { fromJsonOrNull } from '../api-records.ts'
import { lookAtProposal } from './follow-proposals.ts'
import { requireProposal } from './get-proposal.ts'
import { renewedAlready } from './squads/creation.ts'
import { openRequest } from './squads/propose-request.ts'
import { commitProposed } from './squads/proposed-answer.ts'

type RenewProposalRoute = Api['proposals']['renew']

/** States in which the act is still to come, or is done. */
const KEPT: Partial<Record<Row<'proposals'>['status'], string>> = {
  active: 'reject it first (svc proposals reject)',
  approved: 'cancel it first (svc proposals cancel)',
  executed: 'send the original request again if you want the act once more',
}

export async function renewProposal(
  context: Context,
  { id, member, mode }: Input<RenewProposalRoute>,
): Promise<Result<RenewProposalRoute>> {
  const stored = await requireProposal(context.store.db, id)
  if (stored.kind !== 'squads') throw badRequest(`The proposal ${id} is not one of a multisig: send its request again`)
  // An earlier run of this request has taken its place already, and is continued.
  const isContinued = context.signing.earlier !== null
  if (!isContinued) await requireRenewable(context, stored)
  if (stored.request === null) {
    throw badRequest(`The request of the proposal ${id} is not stored: send it again to propose it anew`)
  }
  const request = openRequest<StoredRequest>(context, stored.request)
  const { member: first, ...approver } = request.fields.approver as { member?: string }
  const proposer = mode === 'signed' ? member : (member ?? first ?? stored.member ?? undefined)
  const fields = { ...request.fields, mode, approver: { ...approver, ...(proposer && { member: proposer }) } }
  const { actor, requestId, signing, dryRun } = context
  // What the new request does not say is as the first one said it.
  const { externalUid = stored.external_uid ?? undefined } = context
  const { metadata = fromJsonOrNull<Record<string, string>>(stored.metadata_json) ?? undefined } = context
  // The new proposal, the place that it takes and the answer are one commit.
  const as = { actor, requestId, externalUid, metadata, signing, dryRun, renews: id, commit: commitProposed(context) }
  return (await context.repeat(context, { ...request, fields }, as)) as Result<RenewProposalRoute>
}

async function requireRenewable(context: Context, stored: Row<'proposals'>): Promise<void> {
  const { id, status, renewed_by } = await lookAtProposal(context, stored)
  const why = KEPT[status]
  if (why !== undefined) throw badRequest(`The proposal ${id} is ${status}: ${why}`, { details: { status } })
  if (renewed_by !== null) throw renewedAlready(id, renewed_by)
}
