/** Resets the daily count of the signer. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { changeSigner } from './change-signer.ts'

type ResetSpendRoute = Api['signer']['reset']

export async function resetSpend(context: Context, _: Input<ResetSpendRoute>): Promise<Result<ResetSpendRoute>> {
  return changeSigner(context, 'spend.reset', ({ spent, since, last }) => ({
    // The mark is a row, not a time, because the clocks of several daemons differ and may be set back.
    changes: { spend_since: context.clock.now(), spend_mark: last },
    details: {
      since: new Date(since).toISOString(),
      mark: last,
      lamports: String(spent.lamports),
      tokens: [...spent.tokens].map(([mint, amount]) => ({ mint, amount: String(amount) })),
    },
  }))
}
