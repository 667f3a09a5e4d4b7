/** Pools, their curves, fees and presets, read from the store and the chain. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { curveProgressOf, migratedPoolAddress, migrationMarketCap } from '../../chain/programs/dbc/index.ts'
import { optionalRead } from '../../chain/reads/optional-read.ts'
import type { Context } from '../../context.ts'
import { internal, notFound } from '../../platform/errors.ts'
import { ConfigError } from '../../settings/config.ts'
import { decodeCursor, encodeCursor } from '../../store/queries/paging.ts'
import { findPool, pagePools } from '../../store/resources/pools.ts'
import type { Row } from '../../store/schema.ts'
import { isoTimeOrNull, requireRecord } from '../api-records.ts'
import { pageOfChain } from '../chain-pages.ts'
import {
  foreignPool,
  metricsOf,
  readPools,
  readPoolsIfTimely,
  requireCurve,
  requirePool,
  storedPoolWithChain,
} from './on-chain.ts'
import { loadCurves, presetRecord, sharedCurve } from './presets.ts'
import { readSharedConfig } from './shared-config.ts'
import { solPrice } from './sol-price.ts'

type Routes = Api['pools']

/** If the node fails or is slow, a stored pool is returned without its chain state. One of another chain is not here. */
export async function getPool(context: Context, { address }: Input<Routes['get']>): Promise<Result<Routes['get']>> {
  const { store, chain, log } = context
  const row = await findPool(store.db, address)
  const genesis = row && (await optionalRead(log, 'a pool was read without its chain', () => chain.genesisHash()))
  if (row !== null && (genesis === null || row.genesis === genesis)) {
    const stored = storedPoolWithChain(row, (await readPoolsIfTimely(context, [address]))[0] ?? null)
    const isWaiting = row.status === 'migration_triggered' || (row.status === 'live' && stored.curve_progress === 1)
    return isWaiting ? { ...stored, migration: waitingMigration(context, row) } : stored
  }
  const [onChain = null] = await readPools(chain, [address])
  return foreignPool(chain, requireRecord(onChain, 'pool', address))
}

function waitingMigration(
  { config }: Pick<Context, 'config'>,
  { crank_failures, crank_error, next_check_at }: Row<'pools'>,
) {
  const [sent_here, failures] = [config.values['pools.crank'], Number(crank_failures)]
  const hasFailed = sent_here && failures > 0
  return {
    sent_here,
    failures,
    refusal: hasFailed ? crank_error : null,
    next_try_at: hasFailed ? isoTimeOrNull(next_check_at) : null,
  }
}

/** The list works without a node: if it fails or is slow, fields that only the chain has are null. */
export async function listPools(context: Context, input: Input<Routes['list']>): Promise<Result<Routes['list']>> {
  const { store } = context
  const { rows, next_cursor } = await pageOfChain(context, 'pools', (cursor = input.cursor) =>
    pagePools(store.db, { ...input, base_mint: input.mint, cursor }),
  )
  const addresses = rows.map(({ address }) => address)
  const onChain = await readPoolsIfTimely(context, addresses)
  return { items: rows.map((row, i) => storedPoolWithChain(row, onChain[i] ?? null)), next_cursor }
}

/** Reads how far a launch curve is filled, and the value of the whole supply at its migration. */
export async function getCurveProgress(
  context: Context,
  { address }: Input<Routes['curveProgress']>,
): Promise<Result<Routes['curveProgress']>> {
  const pool = await requireCurve(context.chain, address)
  const [cap, price] = [migrationMarketCap(pool), await solPrice(context)]
  return {
    pool_address: address,
    progress: curveProgressOf(pool),
    ...(price === null || cap === null ? {} : { migration_market_cap_usd: cap * price }),
  }
}

/** Throws not_found even for a migrated pool, naming the request to use instead. */
export async function getFeeMetrics(
  { chain }: Context,
  { address }: Input<Routes['feeMetrics']>,
): Promise<Result<Routes['feeMetrics']>> {
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

/** Reads the config account that the launches of a preset share. */
export async function getSharedConfig(
  context: Context,
  { name }: Input<Routes['sharedConfig']>,
): Promise<Result<Routes['sharedConfig']>> {
  const { row, status } = await readSharedConfig(context, await sharedCurve(context.config, name))
  return { preset: name, config: row?.address ?? null, status }
}

const LIST = 'pool_presets'

/** Lists the curves that pools can be launched with, in the order of the configuration. */
export async function listPresets(
  { config }: Context,
  { limit, cursor }: Input<Routes['presets']>,
): Promise<Result<Routes['presets']>> {
  const curves = await loadCurves(config).catch((error) => {
    throw error instanceof ConfigError ? internal(error.message) : error
  })
  const from = cursor === undefined ? 0 : decodeCursor(LIST, cursor)
  const to = from + limit
  const items = [...curves.values()].slice(from, to).map((curve) => presetRecord(curve, config))
  return { items, next_cursor: to < curves.size ? encodeCursor(LIST, to) : null }
}
