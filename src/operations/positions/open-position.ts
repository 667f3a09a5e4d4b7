/** Opens a position in a pool, with its first liquidity. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import {
  buildPositionOpening,
  POSITION_ACT_UNITS,
  positionAddresses,
  readPoolMoment,
} from '../../chain/programs/damm-v2/index.ts'
import type { Context } from '../../context.ts'
import { buildTransaction, newKey } from '../building.ts'
import { requirePositionPool } from '../fee-claims/plan-positions.ts'
import { additionOf, additionRecord } from './addition-cost.ts'
import { type PositionBuild, positionInEitherMode, type SummaryOf } from './either-mode.ts'
import { sidesOf } from './held-position.ts'

type OpenPositionRoute = Api['positions']['open']
type OpeningInput = Input<OpenPositionRoute>

/** Throws bad_request for amounts that buy no liquidity at the pool's price. */
export const openPosition = async (context: Context, input: OpeningInput): Promise<Result<OpenPositionRoute>> =>
  positionInEitherMode(context, input, 'position.open', (payer) => planOpening(context, { ...input, payer }))

async function planOpening(
  context: Context,
  input: OpeningInput,
): Promise<PositionBuild<SummaryOf<Result<OpenPositionRoute>>>> {
  const { pool } = await requirePositionPool(context, input.address)
  const addition = await additionOf(pool, await readPoolMoment(context.chain, pool), input)
  const { address: nftMint, secretKey } = newKey(context)
  const { position } = await positionAddresses(nftMint)
  const { cost, maximum } = addition
  const built = await buildTransaction(context, {
    payer: input.payer,
    fallbackUnits: POSITION_ACT_UNITS.open,
    build: async (envelope) => ({
      ...(await buildPositionOpening({ ...envelope, pool, nftMint, liquidity: cost.liquidity, maximum })),
      secretKeys: [secretKey],
    }),
  })
  return { built, summary: { ...sidesOf(pool), position, nft_mint: nftMint, ...additionRecord(addition) } }
}
