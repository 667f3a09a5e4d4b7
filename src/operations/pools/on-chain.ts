/** Reads pools of either family from the chain, together with their stored records. */
import type { Pool, PoolFeeMetrics } from '../../api/index.ts'
import type { Chain } from '../../chain/connection.ts'
import { type DammV2Pool, dammV2PoolsIn } from '../../chain/programs/damm-v2/index.ts'
import { curveProgressOf, type DbcPool, dbcPoolsIn, readDbcAccounts } from '../../chain/programs/dbc/index.ts'
import { readTokenState } from '../../chain/programs/tokens/index.ts'
import { optionalRead } from '../../chain/reads/optional-read.ts'
import type { Services } from '../../context.ts'
import { ApiError, notFound } from '../../platform/errors.ts'
import { parseUrl } from '../../platform/urls.ts'
import type { Row } from '../../store/schema.ts'
import { poolRecord } from '../api-records.ts'

export type ChainPool = { type: 'dbc'; pool: DbcPool } | { type: 'damm_v2'; pool: DammV2Pool }

/**
 * Returns pools in the order of the addresses, with null for an address without one. Throws internal_error when the
 * node fails.
 */
export async function readPools(chain: Chain, addresses: readonly string[]): Promise<(ChainPool | null)[]> {
  if (addresses.length === 0) return []
  const read = await readDbcAccounts(chain, addresses)
  const [curves, pools] = await Promise.all([dbcPoolsIn(chain, addresses, read), dammV2PoolsIn(chain, addresses, read)])
  return addresses.map((_, i) => {
    const [curve, pool] = [curves[i] ?? null, pools[i] ?? null]
    if (curve !== null) return { type: 'dbc', pool: curve }
    return pool === null ? null : { type: 'damm_v2', pool }
  })
}

/** Returns pools, or no chain state if the node fails or is slow, so that stored pools can still be returned. */
export async function readPoolsIfTimely(
  { chain, log }: Pick<Services, 'chain' | 'log'>,
  addresses: readonly string[],
): Promise<(ChainPool | null)[]> {
  return (await optionalRead(log, 'pools were read without their chain state', () => readPools(chain, addresses))) ?? []
}

/** Throws not_found when the chain has no such pool. */
export async function requirePool(chain: Chain, address: string): Promise<ChainPool> {
  const [chainPool] = await readPools(chain, [address])
  if (!chainPool) throw notFound(`There is no pool at ${address} on ${chain.cluster.label}`, { param: 'address' })
  return chainPool
}

/** Throws not_found even for a pool of the other family, naming the request to use instead. */
export async function requireCurve(chain: Chain, address: string): Promise<DbcPool> {
  const chainPool = await requirePool(chain, address)
  if (chainPool.type === 'dbc') return chainPool.pool
  throw notFound(`${address} is a damm_v2 pool: it has no launch curve`, { param: 'address' })
}

/** The stored state is the state that events have reported. The chain adds the fields that only it has. */
export function storedPoolWithChain(row: Row<'pools'>, chainPool: ChainPool | null): Pool {
  const stored = poolRecord(row)
  if (chainPool === null) return stored
  return { ...stored, ...chainStateOf(chainPool) }
}

/** Describes a pool that this service did not create. */
export async function foreignPool(chain: Chain, chainPool: ChainPool): Promise<Pool> {
  const { address } = chainPool.pool
  const baseMint = chainPool.type === 'dbc' ? chainPool.pool.baseMint : chainPool.pool.tokenAMint
  const token = await readTokenState(chain, baseMint).catch((error) => {
    if (error instanceof ApiError && error.code !== 'internal_error') return null
    throw error
  })
  const uri = token?.metadata?.uri ?? ''
  return {
    type: chainPool.type,
    address,
    base_mint: baseMint,
    quote_mint: chainPool.type === 'dbc' ? chainPool.pool.quoteMint : chainPool.pool.tokenBMint,
    config: chainPool.type === 'dbc' ? chainPool.pool.config : null,
    creator: chainPool.pool.creator,
    name: token?.metadata?.name ?? null,
    symbol: token?.metadata?.symbol ?? null,
    metadata_uri: parseUrl(uri) === undefined ? null : uri,
    status: poolStatusOf(chainPool),
    ...chainStateOf(chainPool),
    created_at: null,
    metadata: null,
  }
}

/** Returns the status on the chain, regardless of reported events. */
function poolStatusOf(chainPool: ChainPool): 'live' | 'migration_triggered' | 'migrated' {
  if (chainPool.type === 'damm_v2') return 'live'
  if (chainPool.pool.isMigrated) return 'migrated'
  return isFull(chainPool.pool) ? 'migration_triggered' : 'live'
}

export const isFull = ({ quoteReserve, threshold }: DbcPool): boolean => quoteReserve >= threshold

function chainStateOf(chainPool: ChainPool): Pick<Pool, 'curve_progress' | 'state' | 'fee_metrics'> {
  if (chainPool.type === 'damm_v2') return { curve_progress: null, state: chainPool.pool.raw, fee_metrics: null }
  const { pool } = chainPool
  return { curve_progress: curveProgressOf(pool), state: pool.raw, fee_metrics: metricsOf(pool) }
}

export function metricsOf({
  address,
  partnerQuoteFee,
  partnerBaseFee,
  surplus,
  isMigrated,
  raw,
}: DbcPool): PoolFeeMetrics {
  return {
    pool_address: address,
    partner_quote_fee: String(partnerQuoteFee),
    partner_base_fee: String(partnerBaseFee),
    surplus_status: surplus.withdrawn ? 'withdrawn' : isMigrated && surplus.claimable > 0n ? 'available' : 'unknown',
    raw,
  }
}
