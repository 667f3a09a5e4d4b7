/** Who may approve a proposal of a rule, and whether its approvals suffice now. */
import { base58 } from '@scure/base'
import type { Context } from '../../../context.ts'
import { type ApiError, badRequest } from '../../../platform/errors.ts'
import { isoTime } from '../../../platform/timing.ts'
import type { Approvals, SigningPolicy } from '../../../policy/policy.ts'
import { decisionText } from '../../../solana/decision-texts.ts'
import { isTextSignedBy } from '../../../solana/offchain-messages.ts'
import { isSignatureOf } from '../../../solana/signatures.ts'
import { allApprovers } from '../../../store/proposals/approvers.ts'
import { lockProposal, readDecisions } from '../../../store/proposals/proposals.ts'
import { findApiKey } from '../../../store/requests/api-keys.ts'
import type { Row } from '../../../store/schema.ts'
import type { Reader, Tx } from '../../../store/store.ts'

type ProposalRow = Row<'proposals'>
type ApproverRow = Row<'approvers'>

/** Why an approver cannot decide about a proposal, as the end of a sentence; null if it can. */
export function approverFault(
  approver: ApproverRow | undefined,
  { asked_by }: Pick<ProposalRow, 'asked_by'>,
  { wallet, approvals }: { wallet: string; approvals: Approvals | null },
): string | null {
  if (approver === undefined) return 'is not an approver (svc approvers list)'
  const { address, revoked_at, api_key_id } = approver
  if (revoked_at !== null) return `was removed from the approvers at ${isoTime(revoked_at)}`
  if (address === wallet) return 'is the platform wallet, which cannot approve what it signs'
  if (api_key_id !== null && api_key_id === asked_by)
    return `belongs to the API key ${asked_by}, which asked for the act`
  const listed = approvals?.approvers ?? null
  return listed === null || listed.includes(address) ? null : 'is not among the approvers of the policy'
}

/** Returns those who may approve what this API key asks for. */
export async function eligibleApprovers(
  reader: Reader,
  asked: Pick<ProposalRow, 'asked_by'>,
  by: { wallet: string; approvals: Approvals | null },
): Promise<ApproverRow[]> {
  return (await allApprovers(reader)).filter((approver) => approverFault(approver, asked, by) === null)
}

/** Approvals that a proposal needs now. A policy that asks for more since then counts. */
export const neededNow = ({ needed }: Pick<ProposalRow, 'needed'>, approvals: Approvals | null): number =>
  Math.max(needed, approvals?.needed ?? 0)

/** Whether a base58 text is the approver's signature of the decision's text: of its bytes, or as an off-chain message. */
export function isDecisionSigned(
  row: ProposalRow,
  { approver, decision, signature }: { approver: string; decision: 'approved' | 'rejected'; signature: string },
): boolean {
  try {
    const text = decisionText(decision, decided(row))
    const bytes = base58.decode(signature)
    return isSignatureOf(approver, Buffer.from(text, 'latin1'), bytes) || isTextSignedBy(approver, text, bytes)
  } catch {
    return false
  }
}

/** What the text of a decision names. */
export const decided = ({ id, what, message_sha256, genesis, expires_at }: ProposalRow) => ({
  id,
  what,
  message_sha256,
  genesis,
  expires_at: expires_at ?? 0,
})

/** Returns how many approvals count now: of those who may approve, with a signature that holds. */
export async function countApprovals(
  reader: Reader,
  row: ProposalRow,
  by: { wallet: string; approvals: Approvals | null },
): Promise<{ approved: number; rejected: number; eligible: number }> {
  const eligible = new Set((await eligibleApprovers(reader, row, by)).map(({ address }) => address))
  const decisions = (await readDecisions(reader, [row.id])).get(row.id) ?? []
  const count = (wanted: 'approved' | 'rejected') =>
    decisions.filter(
      ({ approver, decision, signature }) =>
        decision === wanted &&
        eligible.has(approver) &&
        isDecisionSigned(row, { approver, decision: wanted, signature: signature ?? '' }),
    ).length
  return { approved: count('approved'), rejected: count('rejected'), eligible: eligible.size }
}

interface ApprovedAct {
  /** Id of the proposal. */
  proposal: string
  /** Address of the platform wallet. */
  wallet: string
  /** Genesis hash of the chain on which it would be signed. */
  genesis: string
  /** SHA-256 in hex of the message that would be signed, with a zero blockhash. */
  sha256: string
  /** The policy, whose row the caller has locked. */
  policy: SigningPolicy
}

/**
 * Throws unless the proposal is approved at this moment: not ended or expired, of this chain, with this message, asked for by a key
 * that is still valid, and with enough approvals of those who may approve now. Locks its row until the commit.
 */
export async function requireApproved(
  { clock }: Pick<Context, 'clock'>,
  tx: Tx,
  { proposal: id, wallet, genesis, sha256, policy: { approvals } }: ApprovedAct,
): Promise<void> {
  const row = await lockProposal(tx, id)
  if (row === null) throw badRequest(`The proposal ${id} is gone`)
  if (row.status !== 'approved') throw notApproved(row)
  if ((row.expires_at ?? 0) <= clock.now()) throw expired(row)
  if (row.message_sha256 !== sha256) {
    throw badRequest(
      `The message of the proposal ${id} was changed after it was proposed: cancel it (svc proposals cancel ${id})`,
      {
        details: { rule: 'approved', approved: row.message_sha256, stored: sha256 },
      },
    )
  }
  if (row.genesis !== genesis) {
    throw badRequest(
      `The proposal ${id} is of the chain ${row.genesis}, and this is ${genesis}: cancel it (svc proposals cancel ${id})`,
      { details: { rule: 'approved', approved: row.genesis, genesis } },
    )
  }
  await requireAsker(tx, row)
  const needed = neededNow(row, approvals)
  const { approved } = await countApprovals(tx, row, { wallet, approvals })
  if (approved < needed) {
    throw badRequest(
      `The proposal ${id} has ${approved} of ${needed} approvals that count: let another approver approve it (svc proposals approve ${id})`,
      { details: { rule: 'approved', approvals: approved, needed } },
    )
  }
}

/** Whether the API key that asks was not revoked. A worker asks without one. */
export const mayAsk = async (tx: Tx, asked_by: string): Promise<boolean> =>
  asked_by.startsWith('worker:') || (await findApiKey(tx, asked_by))?.status === 'active'

/** Throws bad_request if the API key that asked was revoked. */
async function requireAsker(tx: Tx, { id, asked_by }: ProposalRow): Promise<void> {
  if (asked_by === null || (await mayAsk(tx, asked_by))) return
  throw badRequest(
    `The API key ${asked_by}, which asked for the proposal ${id}, was revoked: cancel it (svc proposals cancel ${id})`,
    {
      details: { rule: 'approved', asked_by },
    },
  )
}

export const expired = ({ id, expires_at }: ProposalRow): ApiError =>
  badRequest(
    `The proposal ${id} expired at ${isoTime(expires_at ?? 0)}: repeat the request, with another Idempotency-Key, to propose it anew`,
    {
      details: { rule: 'approved', expired_at: isoTime(expires_at ?? 0) },
    },
  )

/** The refusal of a step that this state of a proposal does not allow. */
export function notApproved({ id, status, fault }: ProposalRow): ApiError {
  if (status === 'active') {
    return badRequest(`The proposal ${id} is not approved yet: svc proposals approve ${id}`, {
      details: { rule: 'approved', status },
    })
  }
  const why = fault === null ? '' : ` (${fault})`
  return badRequest(`The proposal ${id} is ${status}${why}: nothing more can be decided about it`, {
    details: { status },
  })
}
