/** Locks liquidity of a position for good. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { amountsOf, buildPermanentLock, POSITION_ACT_UNITS } from '../../chain/programs/damm-v2/index.ts'
import type { Context } from '../../context.ts'
import { buildTransaction, trackingOf, unsignedAnswer } from '../building.ts'
import { chosenLiquidity, partsRecord, requireHeldPosition, sidesOf } from './held-position.ts'

type LockPositionRoute = Api['positions']['lock']

/** Throws bad_request for liquidity that is locked already or not released yet. */
export async function lockPosition(
  context: Context,
  input: Input<LockPositionRoute>,
): Promise<Result<LockPositionRoute>> {
  const found = await requireHeldPosition(context, input)
  const { pool, moment, position, parts } = found
  const { liquidity } = chosenLiquidity(
    found,
    { share: input.share_bps, liquidity: input.liquidity },
    { share: 'share_bps', liquidity: 'liquidity' },
  )
  const { amountA, amountB } = await amountsOf(moment, liquidity)
  const built = await buildTransaction(context, {
    payer: input.payer,
    fallbackUnits: POSITION_ACT_UNITS.lock,
    build: (envelope) => buildPermanentLock({ ...envelope, pool, position, refreshes: parts.due > 0n, liquidity }),
  })
  return {
    ...sidesOf(pool),
    position: position.position,
    newly_locked_liquidity: String(liquidity),
    amount_a: String(amountA),
    amount_b: String(amountB),
    ...partsRecord({ ...parts, unlocked: parts.unlocked - liquidity, locked: parts.locked + liquidity }),
    tx: unsignedAnswer(built),
    tracked_resource: trackingOf('pool', pool.address, []),
  }
}
