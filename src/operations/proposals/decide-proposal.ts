/** Approves, rejects or cancels a proposal. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { requireProposal } from './get-proposal.ts'
import { decideByRule } from './rule/decide.ts'
import { decideInSquads } from './squads/decide.ts'
import type { Decision } from './types.ts'

type Route = Api['proposals']['approve']

export async function decideProposal(
  context: Context,
  input: Input<Route>,
  decision: Decision,
): Promise<Result<Route>> {
  const row = await requireProposal(context.store.db, input.id)
  return row.kind === 'rule'
    ? decideByRule(context, row, input, decision)
    : decideInSquads(context, row, input, decision)
}
