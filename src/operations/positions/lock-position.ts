/** Locks liquidity of a position for good. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { amountsOf, buildPermanentLock, POSITION_ACT_UNITS } from '../../chain/programs/damm-v2/index.ts'
import type { Context } from '../../context.ts'
import { buildTransaction } from '../building.ts'
import { type PositionBuild, positionInEitherMode, type SummaryOf } from './either-mode.ts'
import { chosenLiquidity, partsRecord, requireHeldPosition, sidesOf } from './held-position.ts'

type LockPositionRoute = Api['positions']['lock']
type LockInput = Input<LockPositionRoute>

/** Throws bad_request for liquidity that is locked already or not released yet. */
export const lockPosition = async (context: Context, input: LockInput): Promise<Result<LockPositionRoute>> =>
  positionInEitherMode(context, input, 'position.lock', (payer) => planLock(context, { ...input, payer }))

async function planLock(
  context: Context,
  input: LockInput,
): Promise<PositionBuild<SummaryOf<Result<LockPositionRoute>>>> {
  const found = await requireHeldPosition(context, input)
  const { pool, moment, position, parts } = found
  const { liquidity } = chosenLiquidity(found, input)
  const { amountA, amountB } = await amountsOf(moment, liquidity)
  const built = await buildTransaction(context, {
    payer: input.payer,
    fallbackUnits: POSITION_ACT_UNITS.lock,
    build: (envelope) => buildPermanentLock({ ...envelope, pool, position, refreshes: parts.due > 0n, liquidity }),
  })
  return {
    built,
    summary: {
      ...sidesOf(pool),
      position: position.position,
      newly_locked_liquidity: String(liquidity),
      amount_a: String(amountA),
      amount_b: String(amountB),
      ...partsRecord({ ...parts, unlocked: parts.unlocked - liquidity, locked: parts.locked + liquidity }),
    },
  }
}
