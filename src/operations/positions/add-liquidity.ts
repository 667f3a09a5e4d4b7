/** Adds liquidity to a position of its holder. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { buildLiquidityAddition, POSITION_ACT_UNITS } from '../../chain/programs/damm-v2/index.ts'
import type { Context } from '../../context.ts'
import { buildTransaction } from '../building.ts'
import { additionOf, additionRecord } from './addition-cost.ts'
import { type PositionBuild, positionInEitherMode, type SummaryOf } from './either-mode.ts'
import { partsRecord, requireHeldPosition, sidesOf } from './held-position.ts'

type AddLiquidityRoute = Api['positions']['add']
type AdditionInput = Input<AddLiquidityRoute>

/** Throws bad_request for amounts that buy no liquidity at the pool's price. */
export const addLiquidity = async (context: Context, input: AdditionInput): Promise<Result<AddLiquidityRoute>> =>
  positionInEitherMode(context, input, 'position.add', (payer) => planAddition(context, { ...input, payer }))

async function planAddition(
  context: Context,
  input: AdditionInput,
): Promise<PositionBuild<SummaryOf<Result<AddLiquidityRoute>>>> {
  const { pool, moment, position, parts } = await requireHeldPosition(context, input)
  const addition = await additionOf(pool, moment, input)
  const { liquidity } = addition.cost
  const built = await buildTransaction(context, {
    payer: input.payer,
    fallbackUnits: POSITION_ACT_UNITS.add,
    build: (envelope) => buildLiquidityAddition({ ...envelope, pool, position, liquidity, maximum: addition.maximum }),
  })
  return {
    built,
    summary: {
      ...sidesOf(pool),
      position: position.position,
      ...additionRecord(addition),
      ...partsRecord({ ...parts, unlocked: parts.unlocked + liquidity }),
    },
  }
}
