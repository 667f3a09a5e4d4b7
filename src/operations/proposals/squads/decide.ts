/** Approves, rejects or cancels a proposal. Its approver is a multisig. */
import type { ProposalStep } from '../../../api/index.ts'
import { buildVote, VOTE_UNITS } from '../../../chain/programs/squads/index.ts'
import type { Context } from '../../../context.ts'
import { badRequest } from '../../../platform/errors.ts'
import { PROGRAMS } from '../../../solana/programs.ts'
import type { Row } from '../../../store/schema.ts'
import { buildTransaction } from '../../building.ts'
import type { Decision, DecisionInput } from '../types.ts'
import { placeOf } from './pinned.ts'
import { answerStep } from './step-answer.ts'
import { memberWith, requireStoredPlan } from './stored-plan.ts'
import { forecastApproved } from './unchanged.ts'

const VOTES = {
  approved: { vote: 'approve', status: ['active'], operation: 'proposal.approve' },
  rejected: { vote: 'reject', status: ['active'], operation: 'proposal.reject' },
  cancelled: { vote: 'cancel', status: ['approved'], operation: 'proposal.cancel' },
} as const

/** Only an approval demands that the stored transaction is the planned one: anybody may stop another. */
export async function decideInSquads(
  context: Context,
  row: Row<'proposals'>,
  input: DecisionInput,
  decision: Decision,
): Promise<ProposalStep> {
  const { vote, status, operation } = VOTES[decision]
  return answerStep(context, input, { operation, row }, async () => {
    const plan = await requireStoredPlan(context, row, { status, isSame: decision === 'approved' })
    const member = await memberWith(context, plan, input, 'vote')
    if (plan.proposal[decision].includes(member)) {
      throw badRequest(`${member} has ${decision} the proposal ${row.id} already: another member has to`, {
        param: 'member',
      })
    }
    if (decision === 'approved') await forecastApproved(context, plan.row)
    const place = placeOf(row)
    const built = await buildTransaction(context, {
      payer: member,
      requiredProgram: PROGRAMS.squads,
      fallbackUnits: VOTE_UNITS,
      build: (envelope) => buildVote(vote, { ...envelope, ...place, member }),
    })
    return { row: plan.row, built }
  })
}
