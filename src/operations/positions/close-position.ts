/** Closes an empty position, after a claim of the fees that it still has. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { buildPositionClosing, POSITION_ACT_UNITS } from '../../chain/programs/damm-v2/index.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { buildTransaction } from '../building.ts'
import { type PositionBuild, positionInEitherMode, type SummaryOf } from './either-mode.ts'
import { requireHeldPosition, sidesOf } from './held-position.ts'

type ClosePositionRoute = Api['positions']['close']
type ClosingInput = Input<ClosePositionRoute>

/** Throws bad_request while the position has liquidity. */
export const closePosition = async (context: Context, input: ClosingInput): Promise<Result<ClosePositionRoute>> =>
  positionInEitherMode(context, input, 'position.close', (payer) => planClosing(context, { ...input, payer }))

async function planClosing(
  context: Context,
  input: ClosingInput,
): Promise<PositionBuild<SummaryOf<Result<ClosePositionRoute>>>> {
  const { pool, position, parts } = await requireHeldPosition(context, input)
  const begin = `The position ${position.position} cannot be closed`
  if (parts.locked > 0n) throw badRequest(`${begin}: liquidity is locked in it for good`, { param: 'position' })
  if (parts.unlocked + parts.vesting > 0n) {
    throw badRequest(
      `${begin} while it has liquidity: withdraw all of it first (POST /v2/pools/{address}/positions/{position}/removals, \`svc pools positions remove --all\`)`,
      { param: 'position' },
    )
  }
  const { feeA, feeB } = position
  const built = await buildTransaction(context, {
    payer: input.payer,
    fallbackUnits: POSITION_ACT_UNITS.close,
    build: (envelope) => buildPositionClosing({ ...envelope, pool, position, claims: feeA > 0n || feeB > 0n }),
  })
  return {
    built,
    summary: {
      ...sidesOf(pool),
      position: position.position,
      nft_mint: position.nftMint,
      fee_a: String(feeA),
      fee_b: String(feeB),
    },
  }
}
