/** The fees that a launch curve holds for the partner. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import type { Context } from '../../context.ts'
import { metricsOf, requireCurve } from './on-chain.ts'

type Route = Api['pools']['feeMetrics']

export async function getFeeMetrics({ chain }: Context, { address }: Input<Route>): Promise<Result<Route>> {
  return metricsOf(await requireCurve(chain, address))
}
