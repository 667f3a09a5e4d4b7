/** Reads how far a launch curve is filled, and the value of the whole supply at its migration. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { curveProgressOf, migrationMarketCap } from '../../chain/programs/dbc/index.ts'
import type { Context } from '../../context.ts'
import { requireCurve } from './on-chain.ts'
import { solPrice } from './sol-price.ts'

type GetCurveProgressRoute = Api['pools']['curveProgress']

export async function getCurveProgress(
  context: Context,
  { address }: Input<GetCurveProgressRoute>,
): Promise<Result<GetCurveProgressRoute>> {
  const pool = await requireCurve(context.chain, address)
  const [cap, price] = [migrationMarketCap(pool), await solPrice(context)]
  return {
    pool_address: address,
    progress: curveProgressOf(pool),
    ...(price === null || cap === null ? {} : { migration_market_cap_usd: cap * price }),
  }
}
