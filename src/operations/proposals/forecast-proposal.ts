/** Finds what the execution of a proposal would change now. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { simulateDecoded } from '../../chain/sending/simulations.ts'
import type { Context } from '../../context.ts'
import { decodeWireTransaction } from '../../solana/messages.ts'
import { requireProposal } from './get-proposal.ts'
import { executionNow } from './squads/unchanged.ts'

type ForecastProposalRoute = Api['proposals']['forecast']

export async function forecastProposal(
  context: Context,
  { id }: Input<ForecastProposalRoute>,
): Promise<Result<ForecastProposalRoute>> {
  const row = await requireProposal(context.store.db, id)
  if (row.kind === 'rule') {
    const { err, logs, balance_changes, control_changes } = await simulateDecoded(
      context.chain,
      decodeWireTransaction(row.message),
    )
    return { failed: err === null ? null : { err, logs }, balance_changes, control_changes, changes: [] }
  }
  const { forecast, changes, notCompared } = await executionNow(context, row)
  const { err, logs, balance_changes, control_changes } = forecast
  return {
    failed: err === null ? null : { err, logs: [...logs] },
    balance_changes,
    control_changes,
    changes,
    ...(notCompared === null ? {} : { not_compared: notCompared }),
  }
}
