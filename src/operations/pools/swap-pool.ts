/** Quotes and builds a buy or a sell on a pool of either family. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { migratedPoolAddress } from '../../chain/programs/dbc/index.ts'
import { decimalsProof } from '../../chain/programs/tokens/index.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { WRAPPED_SOL } from '../../solana/program-ids.ts'
import { buildTransaction, trackingOf, unsignedAnswer } from '../building.ts'
import { requirePool } from './on-chain.ts'
import { buildPoolSwap, minimumOutOf, POOL_SWAP_UNITS, paidMint, quotePoolSwap } from './pool-swap.ts'

type SwapPoolRoute = Api['pools']['swap']

export async function swapPool(context: Context, input: Input<SwapPoolRoute>): Promise<Result<SwapPoolRoute>> {
  const { address, payer, side, slippage_bps } = input
  const order = { side, amount: BigInt(input.amount) }
  const { chain } = context
  const chainPool = await requirePool(chain, address)
  if (chainPool.type === 'dbc' && chainPool.pool.isMigrated) {
    const next = await migratedPoolAddress(chainPool.pool)
    throw badRequest(`The pool ${address} has migrated: swap on ${next}`, {
      param: 'address',
      details: { migrated_to: next },
    })
  }
  const quote = await quotePoolSwap(chain, chainPool, order)
  const minimumOut = minimumOutOf(quote.estimatedOut, BigInt(slippage_bps))
  const paid = paidMint(chainPool, side)
  const proof = paid.mint === WRAPPED_SOL ? [] : [await decimalsProof(payer, paid)]
  const built = await buildTransaction(context, {
    payer,
    fallbackUnits: POOL_SWAP_UNITS,
    build: ({ before = [], ...envelope }) =>
      buildPoolSwap(chainPool, { ...envelope, before: [...before, ...proof], ...order, minimumOut }),
  })
  return {
    pool_address: address,
    side,
    amount_in: String(quote.amountIn),
    estimated_out: String(quote.estimatedOut),
    minimum_out: String(minimumOut),
    fee: String(quote.fee),
    tx: unsignedAnswer(built),
    tracked_resource: trackingOf('pool', address, []),
  }
}
