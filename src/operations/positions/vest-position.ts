/** Locks liquidity of a position until a schedule releases it. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import {
  amountsOf,
  buildPositionVesting,
  POSITION_ACT_UNITS,
  type PositionSchedule,
} from '../../chain/programs/damm-v2/index.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { buildTransaction } from '../building.ts'
import { periodsOf, splitPeriods } from '../locks/schedule.ts'
import { type PositionBuild, positionInEitherMode, type SummaryOf } from './either-mode.ts'
import {
  chosenLiquidity,
  type FoundPosition,
  partsRecord,
  requireHeldPosition,
  sidesOf,
  unitOf,
} from './held-position.ts'
import { scheduleRecord } from './list-positions.ts'

type VestPositionRoute = Api['positions']['vest']
type VestingInput = Input<VestPositionRoute>

/** Longest schedule that the program takes: ten years, which it counts in slots of 400 milliseconds. */
const LONGEST = { seconds: 315_360_000n, slots: 788_400_000n } as const

/** Throws bad_request for a schedule that the program refuses, and while an earlier one has not ended. */
export const vestPosition = async (context: Context, input: VestingInput): Promise<Result<VestPositionRoute>> =>
  positionInEitherMode(context, input, 'position.vest', (payer) => planVesting(context, { ...input, payer }))

async function planVesting(
  context: Context,
  input: VestingInput,
): Promise<PositionBuild<SummaryOf<Result<VestPositionRoute>>>> {
  const found = await requireHeldPosition(context, input)
  const { pool, moment, position, parts } = found
  if (position.schedule !== null && unreleased(position.schedule) > parts.due) {
    throw badRequest(
      `The position ${position.position} has a schedule that has not ended, and room for only one: open another position for this one (POST /v2/pools/{address}/positions, \`svc pools positions open\`)`,
      { param: 'position' },
    )
  }
  const { liquidity } = chosenLiquidity(found, input)
  const schedule = scheduleOf(input, found, liquidity)
  // An omitted cliff is when the transaction runs, because the program refuses one in the past.
  const isNow = input.cliff_at === undefined && input.cliff_slot === undefined
  const written = { ...schedule, cliffPoint: isNow ? null : schedule.cliffPoint }
  const { amountA, amountB } = await amountsOf(moment, liquidity)
  const built = await buildTransaction(context, {
    payer: input.payer,
    fallbackUnits: POSITION_ACT_UNITS.vest,
    build: (envelope) =>
      buildPositionVesting({ ...envelope, pool, position, refreshes: parts.due > 0n, schedule: written }),
  })
  return {
    built,
    summary: {
      ...sidesOf(pool),
      position: position.position,
      vested_liquidity: String(liquidity),
      amount_a: String(amountA),
      amount_b: String(amountB),
      schedule: scheduleRecord(pool, schedule, 0n),
      ...partsRecord({ ...parts, unlocked: parts.unlocked - liquidity, vesting: parts.vesting + liquidity }),
    },
  }
}

const unreleased = ({ cliffLiquidity, liquidityPerPeriod, periods, released }: PositionSchedule): bigint =>
  cliffLiquidity + liquidityPerPeriod * BigInt(periods) - released

function scheduleOf(
  input: VestingInput,
  { pool, moment: { point } }: Pick<FoundPosition, 'pool' | 'moment'>,
  liquidity: bigint,
): PositionSchedule {
  const unit = unitOf(pool)
  const cliffParam = unit === 'slots' ? 'cliff_slot' : 'cliff_at'
  const cliffPoint = cliffOf(input, unit) ?? point
  if (cliffPoint < point) {
    throw badRequest(`${cliffParam} is in the past: it is ${point} now`, { param: cliffParam })
  }
  const periods = periodsOf(input, unit)
  if (periods === 0n && cliffPoint === point) {
    throw badRequest(`give ${cliffParam}, periods, or both: otherwise everything is released at once`, {
      param: cliffParam,
    })
  }
  if (periods === 0n && (input.cliff_share_bps ?? 10_000) !== 10_000) {
    throw badRequest(
      'cliff_share_bps is only a part, and without periods the cliff releases everything: leave it out, or send periods and frequency',
      { param: 'cliff_share_bps' },
    )
  }
  const frequency = periods === 0n ? 0n : BigInt(input.frequency ?? 0)
  if (cliffPoint - point + frequency * periods > LONGEST[unit]) {
    throw badRequest('The last part is released after more than ten years: send fewer or shorter periods', {
      param: periods === 0n ? cliffParam : 'periods',
    })
  }
  const atCliff = (liquidity * BigInt(input.cliff_share_bps ?? 0)) / 10_000n
  const { cliffAmount, amountPerPeriod } = splitPeriods(
    { amount: liquidity, cliffAmount: atCliff, periods },
    'units of liquidity',
  )
  return {
    cliffPoint,
    frequency,
    cliffLiquidity: cliffAmount,
    liquidityPerPeriod: amountPerPeriod,
    periods: Number(periods),
    released: 0n,
  }
}

/** Null if it is now. */
function cliffOf({ cliff_at, cliff_slot }: VestingInput, unit: 'slots' | 'seconds'): bigint | null {
  if (unit === 'slots') {
    if (cliff_at !== undefined) {
      throw badRequest('cliff_at is for pools that count seconds, and this one counts slots: send cliff_slot', {
        param: 'cliff_at',
      })
    }
    return cliff_slot === undefined ? null : BigInt(cliff_slot)
  }
  if (cliff_slot !== undefined) {
    throw badRequest('cliff_slot is for pools that count slots, and this one counts seconds: send cliff_at', {
      param: 'cliff_slot',
    })
  }
  return cliff_at === undefined ? null : BigInt(Math.floor(Date.parse(cliff_at) / 1000))
}
