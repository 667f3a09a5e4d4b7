/** Quotes and builds a buy or a sell on a pool of either family. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { withComputeBudget } from '../../chain/compute-budget.ts'
import * as dammV2 from '../../chain/programs/damm-v2/index.ts'
import * as dbc from '../../chain/programs/dbc/index.ts'
import { readLatestBlockhash } from '../../chain/rpc-reads.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../errors.ts'
import { requirePool } from './on-chain.ts'

type SwapPoolRoute = Api['pools']['swap']

const WHOLE_BPS = 10_000n
const FALLBACK_UNITS = 250_000

export async function swapPool(
  { chain, config }: Context,
  input: Input<SwapPoolRoute>,
): Promise<Result<SwapPoolRoute>> {
  const { address, payer, side, slippage_bps } = input
  const order = { side, amount: BigInt(input.amount) }
  const found = await requirePool(chain, address)
  if (found.type === 'dbc' && found.pool.isMigrated) {
    const next = await dbc.migratedPoolAddress(found.pool)
    throw badRequest(`The pool ${address} has migrated: swap on ${next}`, {
      param: 'address',
      details: { migrated_to: next },
    })
  }
  const connection = await chain.connection()
  const quote =
    found.type === 'dbc'
      ? await dbc.quoteSwap(connection, found.pool, order)
      : await dammV2.quoteSwap(connection, found.pool, order)
  const minimumOut = (quote.estimatedOut * (WHOLE_BPS - BigInt(slippage_bps))) / WHOLE_BPS
  const recentBlockhash = await readLatestBlockhash(connection)
  const { transaction, requiredSigners } = await withComputeBudget(
    { connection, config },
    (before) => {
      const common = { payer, ...order, minimumOut, recentBlockhash, before }
      return found.type === 'dbc'
        ? dbc.buildSwap({ ...common, pool: found.pool })
        : dammV2.buildSwap({ ...common, pool: found.pool })
    },
    FALLBACK_UNITS,
  )
  return {
    pool_address: address,
    side,
    amount_in: String(quote.amountIn),
    estimated_out: String(quote.estimatedOut),
    minimum_out: String(minimumOut),
    fee: String(quote.fee),
    tx: { mode: 'unsigned', transaction: Buffer.from(transaction).toString('base64'), requiredSigners },
    tracked_resource: { resource_type: 'pool', resource_id: address, related_events: [] },
  }
}
