/** Reads the fees that a launch curve holds for the partner. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { migratedPoolAddress } from '../../chain/programs/dbc/index.ts'
import type { Context } from '../../context.ts'
import { notFound } from '../../platform/errors.ts'
import { metricsOf, requirePool } from './on-chain.ts'

type GetFeeMetricsRoute = Api['pools']['feeMetrics']

/** Throws not_found even for a migrated pool, naming the request to use instead. */
export async function getFeeMetrics(
  { chain }: Context,
  { address }: Input<GetFeeMetricsRoute>,
): Promise<Result<GetFeeMetricsRoute>> {
  const chainPool = await requirePool(chain, address)
  const earnings = `(GET /v2/pools/${address}/earnings, \`svc pools earnings\`)`
  const claims = `(POST /v2/pools/${address}/fee-claims, \`svc fees claim\`), and its earnings show them all ${earnings}`
  if (chainPool.type === 'damm_v2') {
    throw notFound(`${address} is a damm_v2 pool: its fees are claimed with kind damm_v2 ${claims}`, {
      param: 'address',
    })
  }
  if (!chainPool.pool.isMigrated) return metricsOf(chainPool.pool)
  const migratedTo = await migratedPoolAddress(chainPool.pool)
  throw notFound(
    `The pool ${address} has migrated to ${migratedTo}: its fees are claimed with kind damm_v2, what the curve still holds with kind dbc, and its surplus with kind surplus ${claims}`,
    { param: 'address', details: { migrated_to: migratedTo } },
  )
}
