/** Executes an approved proposal. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { requireProposal } from './get-proposal.ts'
import { executeByRule } from './rule/execute.ts'
import { executeInSquads } from './squads/execute.ts'

type Route = Api['proposals']['execute']

export async function executeProposal(context: Context, input: Input<Route>): Promise<Result<Route>> {
  const row = await requireProposal(context.store.db, input.id)
  return row.kind === 'rule' ? executeByRule(context, row, input) : executeInSquads(context, row, input)
}
