/** Refuses to reclaim the rent of a proposal of a rule, which has none. */
import type { ProposalStep } from '../../../api/index.ts'
import type { Context } from '../../../context.ts'
import { badRequest } from '../../../platform/errors.ts'
import type { Row } from '../../../store/schema.ts'
import type { DecisionInput } from '../types.ts'

export async function reclaimByRule(_: Context, { id }: Row<'proposals'>, __: DecisionInput): Promise<ProposalStep> {
  throw badRequest(`The proposal ${id} waits for approvers of the policy, so it has no accounts and no rent to reclaim`)
}
