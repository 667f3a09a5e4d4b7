/** A row of the proposals as the API answers it, with its decisions and the way out of its state. */
import type { Api, Proposal, RuleApprover, SquadsApprover, TrackedResource } from '../../api/index.ts'
import { proposalNames } from '../../api/proposal-names.ts'
import type { Input } from '../../api/route.ts'
import { describeMessage } from '../../chain/instructions/describe.ts'
import { printable } from '../../platform/printable.ts'
import { isoTime } from '../../platform/timing.ts'
import { instructionTexts } from '../../solana/described-instructions.ts'
import { decodeWireTransaction } from '../../solana/messages.ts'
import { placeAddresses } from '../../solana/squads/index.ts'
import { findProposal, readDecisions, unpackMessage } from '../../store/proposals/proposals.ts'
import type { Row } from '../../store/schema.ts'
import type { Reader } from '../../store/store.ts'
import { fromJson, fromJsonOrNull, isoTimeOrNull, requireRecord } from '../api-records.ts'

/** Input of a decision, an execution or a reclaim. */
export type DecisionInput = Input<Api['proposals']['approve']>
export type Decision = 'approved' | 'rejected' | 'cancelled'

/** Returns the row of a proposal. Throws not_found without one. */
export async function requireProposal(reader: Reader, id: string): Promise<Row<'proposals'>> {
  return requireRecord(await findProposal(reader, id), 'proposal', id)
}

/** Returns the record of a row, with its decisions. */
export async function loadProposalRecord(reader: Reader, row: Row<'proposals'>): Promise<Proposal> {
  return proposalRecord(row, (await readDecisions(reader, [row.id])).get(row.id) ?? [])
}

export const proposalRecord = (row: Row<'proposals'>, decisions: readonly Row<'proposal_decisions'>[]): Proposal => ({
  id: row.id,
  kind: row.kind,
  status: row.status,
  operation: row.operation,
  what: row.what,
  plan: planTexts(row),
  asked_by: row.asked_by,
  message_sha256: row.message_sha256,
  transaction: row.message.toString('base64'),
  approver: fromJson<SquadsApprover | RuleApprover>(row.approver_json),
  needed: row.needed,
  decisions: decisions.map(({ approver, decision, signature, at }) => ({
    approver,
    decision,
    signature,
    at: isoTime(at),
  })),
  expires_at: isoTimeOrNull(row.expires_at),
  signature: row.signature,
  fault: row.fault,
  next: nextStep(row),
  tracked_resource: fromJsonOrNull<TrackedResource>(row.tracked_resource_json),
  reclaimed_at: isoTimeOrNull(row.reclaimed_at),
  renewed_by: row.renewed_by,
  external_uid: row.external_uid,
  metadata: fromJsonOrNull(row.metadata_json),
  created_at: isoTime(row.created_at),
  updated_at: isoTime(row.updated_at),
})

/** The text of what it executes, the same for every reader. */
export function planTexts({ message: wire, stored_message: stored, approver_json }: Row<'proposals'>): string[] {
  const { message } = decodeWireTransaction(wire)
  const names = proposalNames(fromJson<SquadsApprover | RuleApprover>(approver_json), message.keys[0] ?? '')
  const isNamed = message.lookups.length > 0 && stored !== null
  const places = isNamed ? placeAddresses(message, unpackMessage(stored).loaded) : undefined
  return instructionTexts(describeMessage(message, places), names).map(printable)
}

/** The way out of a state in one sentence, with its command; null if nothing is left to do. */
export function nextStep(row: Row<'proposals'>): string | null {
  return row.kind === 'rule' ? nextOfRule(row) : nextOfSquads(row)
}

/** The same for a proposal of a rule, which is executed by itself. */
function nextOfRule({ id, status, fault, signature }: Row<'proposals'>): string | null {
  switch (status) {
    case 'active':
      return `Let the approvers approve it: svc proposals approve ${id}`
    case 'approved':
      return fault === null
        ? `It is being executed; if it stays so: svc proposals execute ${id}`
        : `Execute it again (svc proposals execute ${id}), or cancel it (svc proposals cancel ${id})`
    case 'executed':
      return `Follow it: svc tx watch ${signature}`
    case 'expired':
    case 'failed':
      return 'Repeat the request, with another Idempotency-Key, to propose it anew'
    default:
      return null
  }
}

function nextOfSquads({ id, status, fault, reclaimed_at, request, renewed_by }: Row<'proposals'>): string | null {
  const renew =
    renewed_by !== null
      ? `see its replacement: svc proposals show ${renewed_by}`
      : request === null
        ? 'propose the act anew'
        : `propose it anew: svc proposals renew ${id}`
  if (fault !== null && status === 'active') return `Reject it (svc proposals reject ${id}), then ${renew}`
  if (fault !== null && status === 'approved') return `Cancel it (svc proposals cancel ${id}), then ${renew}`
  const reclaim = reclaimed_at === null ? `Reclaim its rent: svc proposals reclaim ${id}` : null
  switch (status) {
    case 'planned':
      return `Sign and send its transactions; if they have expired, ${renew}`
    case 'active':
      return `Approve it: svc proposals approve ${id}`
    case 'approved':
      return `Execute it: svc proposals execute ${id}`
    case 'executed':
    case 'rejected':
    case 'cancelled':
      return reclaim
    default:
      return `${renew.charAt(0).toUpperCase()}${renew.slice(1)}`
  }
}
