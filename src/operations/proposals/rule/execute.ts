/** Executes an approved proposal of a rule: its request is carried out again, and continues the signing that waits. */
import type { ProposalStep } from '../../../api/index.ts'
import type { Context, RepeatingServices, Services, SigningLink, StoredRequest } from '../../../context.ts'
import { ApiError } from '../../../platform/errors.ts'
import { findProposal, lockProposal, updateProposal } from '../../../store/proposals/proposals.ts'
import type { Row } from '../../../store/schema.ts'
import { findSigning } from '../../../store/signing/signings.ts'
import type { Tx } from '../../../store/store.ts'
import { fromJsonOrNull } from '../../api-records.ts'
import { audit } from '../../signing/audit.ts'
import { type DecisionInput, loadProposalRecord, requireProposal } from '../proposal-record.ts'
import { notApproved } from './approvals.ts'
import { requestPurpose } from './propose.ts'

export type ExecutingServices = RepeatingServices & Pick<Services, 'repeat'>

/** Answers an executed proposal as it is. Throws what the request throws; then the proposal keeps the reason. */
export async function executeByRule(context: Context, row: Row<'proposals'>, _: DecisionInput): Promise<ProposalStep> {
  if (row.status !== 'executed') await executeApproved(context, row.id, context.requestId)
  const { db } = context.store
  return { mode: 'recorded', proposal: await loadProposalRecord(db, await requireProposal(db, row.id)) }
}

/** Executes it as far as possible. A failure is kept by the proposal, and logged. */
export async function tryExecute(services: ExecutingServices & { requestId?: string }, id: string): Promise<void> {
  try {
    await executeApproved(services, id, services.requestId ?? id)
  } catch (error) {
    services.log.warn({ err: error, proposal: id }, 'an approved proposal was not executed')
  }
}

/**
 * Signs at most once, however often it is interrupted or repeated: all attempts continue the same signing. Throws
 * Overtaken if another process executes it.
 */
async function executeApproved(services: ExecutingServices, id: string, requestId: string): Promise<void> {
  const { store, vault, clock } = services
  const row = await requireProposal(store.db, id)
  if (row.status !== 'approved') throw notApproved(row)
  if (row.request === null || row.signing_id === null) throw new Error(`the proposal ${id} has no request`)
  const request: StoredRequest = JSON.parse(vault.open(row.request, requestPurpose(id)).toString('utf8'))
  const actor = { apiKeyId: row.asked_by ?? '', scopes: [] }
  const metadata = fromJsonOrNull<Record<string, string>>(row.metadata_json) ?? undefined
  const externalUid = row.external_uid ?? undefined
  const signing = linkTo(services, row, { actor, requestId })
  try {
    await services.repeat(services, request, { actor, requestId, externalUid, metadata, signing, approved: id })
  } catch (error) {
    // Whoever was faster has executed it.
    if ((await findProposal(store.db, id))?.status === 'executed') return
    // Another attempt may succeed where node, database or provider failed or a time lock runs, so the worker makes it.
    const isFinal = error instanceof ApiError && error.code === 'bad_request' && error.retryAfter === undefined
    const fault = isFinal ? error.message : null
    await store.write(async (tx) => {
      const locked = await lockProposal(tx, id)
      if (locked?.status === 'approved') await updateProposal(tx, id, { fault, updated_at: clock.now() })
    })
    throw error
  }
}

/** The signing belongs to the proposal. It ends with it once one of several transactions has failed on the chain. */
function linkTo(
  { clock, vault }: ExecutingServices,
  { id, signing_id }: Row<'proposals'>,
  by: Pick<Context, 'actor' | 'requestId'>,
): SigningLink {
  return {
    earlier: signing_id,
    async bind() {},
    async unbind(tx: Tx) {
      const signing = await findSigning(tx, signing_id ?? '')
      if (signing?.state !== 'signed') return false
      const fault = 'one of its transactions failed on the chain'
      await updateProposal(tx, id, { status: 'failed', fault, updated_at: clock.now() })
      await audit({ ...by, clock, vault }, tx, 'proposal.failed', signing.signer, { proposal: id, fault })
      return true
    },
  }
}
