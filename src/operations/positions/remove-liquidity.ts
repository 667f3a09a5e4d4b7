/** Withdraws liquidity of a position to its holder. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { buildLiquidityRemoval, POSITION_ACT_UNITS, receivedFor } from '../../chain/programs/damm-v2/index.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { buildTransaction } from '../building.ts'
import { minimumOutOf } from '../pools/pool-swap.ts'
import { type PositionBuild, positionInEitherMode, type SummaryOf } from './either-mode.ts'
import { chosenLiquidity, partsRecord, requireHeldPosition, sidesOf } from './held-position.ts'

type RemoveLiquidityRoute = Api['positions']['remove']
type RemovalInput = Input<RemoveLiquidityRoute>

/** Throws bad_request for liquidity that cannot be withdrawn now, and for so little that it is worth nothing. */
export const removeLiquidity = async (context: Context, input: RemovalInput): Promise<Result<RemoveLiquidityRoute>> =>
  positionInEitherMode(context, input, 'position.remove', (payer) => planRemoval(context, { ...input, payer }))

async function planRemoval(
  context: Context,
  input: RemovalInput,
): Promise<PositionBuild<SummaryOf<Result<RemoveLiquidityRoute>>>> {
  const found = await requireHeldPosition(context, input)
  const { pool, moment, position, parts } = found
  const { liquidity, isAll } = chosenLiquidity(found, input)
  const { amountA, amountB } = await receivedFor(moment, liquidity)
  if (amountA === 0n && amountB === 0n) {
    throw badRequest(`${liquidity} of liquidity is worth less than one raw unit of either token`, {
      param: input.liquidity === undefined ? 'share_bps' : 'liquidity',
    })
  }
  const slippage = BigInt(input.slippage_bps)
  const minimum = { amountA: minimumOutOf(amountA, slippage), amountB: minimumOutOf(amountB, slippage) }
  const built = await buildTransaction(context, {
    payer: input.payer,
    fallbackUnits: POSITION_ACT_UNITS.remove,
    build: (envelope) =>
      buildLiquidityRemoval({
        ...envelope,
        pool,
        position,
        refreshes: parts.due > 0n,
        liquidity: isAll ? null : liquidity,
        minimum,
      }),
  })
  return {
    built,
    summary: {
      ...sidesOf(pool),
      position: position.position,
      removed_liquidity: String(liquidity),
      amount_a: String(amountA),
      amount_b: String(amountB),
      minimum_a: String(minimum.amountA),
      minimum_b: String(minimum.amountB),
      ...partsRecord({ ...parts, unlocked: parts.unlocked - liquidity }),
    },
  }
}
