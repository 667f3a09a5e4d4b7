/** Proposes to a multisig what no route here has built, or the same request anew with the amounts of now. */
import type { Api, Proposed } from '../../api/index.ts'
import type { ProposalCreation } from '../../api/payloads.ts'
import type { Input, Result } from '../../api/route.ts'
import { decodeTransaction } from '../../chain/sending/transactions.ts'
import type { Context, StoredRequest } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { placeAddresses } from '../../solana/squads/index.ts'
import type { Row } from '../../store/schema.ts'
import type { Tx } from '../../store/store.ts'
import { fromJsonOrNull } from '../api-records.ts'
import { lookAtProposal } from './follow-proposals.ts'
import { requireProposal } from './proposal-record.ts'
import { transactionWords } from './squads/act-words.ts'
import { renewedAlready, tableAddresses } from './squads/creation.ts'
import { openRequest, proposeRequest } from './squads/propose-request.ts'

type CreateProposalRoute = Api['proposals']['create']

/** Proposes an unsigned transaction, which no route here has built. */
export async function createProposal(
  context: Context,
  { approver, transaction, tracked_resource, mode }: Input<CreateProposalRoute>,
): Promise<Result<CreateProposalRoute>> {
  const { message } = decodeTransaction(transaction, 'transaction')
  // A table that cannot be read refuses the proposal below.
  const loaded = await tableAddresses(context, message.lookups).catch(() => null)
  const asked = {
    approver,
    isSigned: mode === 'signed',
    operation: 'POST /v2/proposals',
    what: transactionWords(
      `A transaction of ${message.instructions.length} instructions`,
      { message, places: loaded === null ? new Map() : placeAddresses(message, loaded) },
      new Map([[message.keys[0] ?? '', 'this vault']]),
    ),
    request: null,
    subject: null,
  }
  const own = { ...context, commit: commitProposed(context) }
  const proposed = await proposeRequest(own, asked, async () => ({
    transaction,
    ...(tracked_resource === undefined ? {} : { tracked_resource }),
  }))
  return proposed as unknown as Result<CreateProposalRoute>
}

type RenewProposalRoute = Api['proposals']['renew']

/** States in which the act is still to come, or is done. */
const KEPT: Partial<Record<Row<'proposals'>['status'], string>> = {
  active: 'reject it first (svc proposals reject)',
  approved: 'cancel it first (svc proposals cancel)',
  executed: 'send the original request again if you want the act once more',
}

/** Proposes the same request anew, in place of a proposal that will not be executed. */
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

/** The answer of a request that is about its proposal alone: the transactions that put it on the chain, or their signature. */
function proposedAnswer({ proposal }: { proposal: ProposalCreation }): Proposed {
  const signature = proposal.signatures?.at(-1)
  return signature === undefined ? { mode: 'unsigned', proposal } : { mode: 'signed', signature, proposal }
}

/** A commit that stores this answer, in place of the answer of the build. */
function commitProposed({ commit }: Pick<Context, 'commit'>): Context['commit'] {
  const answering = (work: (tx: Tx) => Promise<unknown>) =>
    commit(async (tx) => proposedAnswer((await work(tx)) as { proposal: ProposalCreation }))
  return answering as Context['commit']
}
