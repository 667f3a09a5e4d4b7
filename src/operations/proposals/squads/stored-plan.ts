/** Reads a proposal from the chain before anybody signs about it, and refuses it if it is not what was planned. */
import type { SquadsApprover } from '../../../api/index.ts'
import type { Context } from '../../../context.ts'
import { badRequest } from '../../../platform/errors.ts'
import type { Multisig, ProposalAccount } from '../../../solana/squads/index.ts'
import type { Row } from '../../../store/schema.ts'
import { fromJson } from '../../api-records.ts'
import { requireSigner } from '../../signing/require-signer.ts'
import { readAndFollow } from '../follow-proposals.ts'
import { type DecisionInput, nextStep } from '../proposal-record.ts'
import { overdueFault } from './last-moment.ts'
import { differenceOf } from './proposal-state.ts'

export interface StoredPlan {
  row: Row<'proposals'>
  multisig: Multisig
  proposal: ProposalAccount
}

type Status = Row<'proposals'>['status']

/**
 * Throws bad_request if the proposal is in another state, or is not on the chain. With `isSame`, also if its stored
 * transaction differs from the plan.
 */
export async function requireStoredPlan(
  context: Context,
  stored: Row<'proposals'>,
  { status, isSame }: { status: readonly Status[]; isSame: boolean },
): Promise<StoredPlan> {
  const { row, read } = await readAndFollow(context, stored)
  const refuse = (why: string) =>
    badRequest(`${why} ${nextStep(row) ?? ''}`.trim(), { details: { status: row.status, fault: row.fault } })
  if (row.fault !== null && (isSame || !status.includes(row.status))) {
    const isLate = overdueFault(row, read.chainNow) === row.fault
    throw refuse(
      `The proposal ${row.id} ${isLate ? 'can no longer be executed' : 'is not what was planned'}: ${row.fault}`,
    )
  }
  if (!status.includes(row.status)) {
    throw refuse(`The proposal ${row.id} is ${row.status}, not ${status.join(' or ')}.`)
  }
  const { multisig, proposal, transaction } = read
  if (proposal === null) throw refuse(`The proposal ${row.id} is not on the chain.`)
  const difference = transaction === null ? 'Its transaction is not on the chain.' : differenceOf(row, transaction)
  if (isSame && difference !== null) throw refuse(`The proposal ${row.id} is not what was planned: ${difference}`)
  return { row, multisig, proposal }
}

/** Returns the member who signs. Throws bad_request for one without the right. */
export async function memberWith(
  context: Context,
  { row, multisig }: StoredPlan,
  { mode, member: requested }: DecisionInput,
  right: 'vote' | 'execute',
): Promise<string> {
  const wallet = mode === 'signed' ? (await requireSigner(context)).address : null
  if (wallet !== null && requested !== undefined && requested !== wallet) {
    throw badRequest(`member must be the platform wallet ${wallet} with mode "signed", or be left out`, {
      param: 'member',
    })
  }
  const member = wallet ?? requested ?? row.member ?? ''
  const may = multisig.members.filter((each) => each[right]).map(({ address }) => address)
  if (may.includes(member)) return member
  const isMember = multisig.members.some(({ address }) => address === member)
  throw badRequest(
    `${member || 'nobody'} ${isMember ? `may not ${right}` : 'is not a member of the multisig'}: send one of ${may.join(', ')} as member`,
    { param: 'member', details: { members: may } },
  )
}

export const parseApprover = (row: Row<'proposals'>): SquadsApprover => fromJson<SquadsApprover>(row.approver_json)
