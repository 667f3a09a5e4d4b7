/** Closes the accounts of a finished proposal, and returns their rent. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { requireProposal } from './get-proposal.ts'
import { reclaimByRule } from './rule/reclaim.ts'
import { reclaimInSquads } from './squads/reclaim.ts'

type Route = Api['proposals']['reclaim']

export async function reclaimProposal(context: Context, input: Input<Route>): Promise<Result<Route>> {
  const row = await requireProposal(context.store.db, input.id)
  return row.kind === 'rule' ? reclaimByRule(context, row, input) : reclaimInSquads(context, row, input)
}
