/** Acts on a token: unsigned for the payer, or signed by the platform wallet in its place. */
import type { TrackedResource } from '../../api/index.ts'
import type { AnyRoute, Input } from '../../api/route.ts'
import type { SignedOperation } from '../../api/signed-operations.ts'
import type { Context } from '../../context.ts'
import { act, type Plan, type Summary } from '../act.ts'
import { trackingOf } from '../building.ts'

export interface TokenPlan<S> extends Omit<Plan<S>, 'tracked'> {
  /** Events that its confirmation causes. */
  events?: TrackedResource['related_events']
}

/** Makes the operation of a route whose act is about the mint of its path. */
export function tokenAct<R extends AnyRoute>(
  operation: SignedOperation,
  plan: (context: Context, input: Input<R>) => Promise<TokenPlan<Summary<R>>>,
) {
  return act<R>(operation, async (context, input) => {
    const { events = [], ...planned } = await plan(context, input)
    const { mint } = input as unknown as { mint: string }
    return { ...planned, tracked: trackingOf('token', mint, events) }
  })
}
