/** Positions in DAMM v2 pools: open, add, withdraw, lock, vest and close. */
import type { Api } from '../../api/index.ts'
import type { Input } from '../../api/route.ts'
import type { SignedOperation } from '../../api/signed-operations.ts'
import {
  buildLiquidityAddition,
  buildLiquidityRemoval,
  buildPermanentLock,
  buildPositionClosing,
  buildPositionOpening,
  buildPositionVesting,
  type DammV2Pool,
  type LiquidityCost,
  liquidityAmounts,
  liquidityFor,
  POSITION_ACT_UNITS,
  type PoolMoment,
  type PositionSchedule,
  positionAddresses,
  readPoolMoment,
  receivedFor,
  type TokenAmounts,
} from '../../chain/programs/damm-v2/index.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import type { Slack } from '../../policy/movement/guards.ts'
import { checkedPeriods, checkedSplit } from '../../solana/lock-schedule.ts'
import { MAX_U64, MAX_U128 } from '../../solana/u64.ts'
import { act, type Plan, type Summary } from '../act.ts'
import { newKey, trackingOf } from '../building.ts'
import { requirePositionPool } from '../fee-claims/plan-positions.ts'
import { minimumOutOf, slackIn } from '../pools/pool-swap.ts'
import {
  chosenLiquidity,
  type FoundPosition,
  partsRecord,
  requireHeldPosition,
  sidesOf,
  unitOf,
} from './held-position.ts'
import { scheduleRecord } from './list-positions.ts'

type Routes = Api['positions']
type Acts = Routes['open' | 'add' | 'remove' | 'lock' | 'vest' | 'close']

const positionAct = <R extends Acts>(
  operation: SignedOperation,
  plan: (context: Context, input: Input<R>) => Promise<Plan<Summary<R>>>,
) =>
  act<R>(operation, async (context, input) => {
    const planned = await plan(context, input)
    const { pool_address, position } = planned.summary as { pool_address: string; position: string }
    const about = `the position ${position} in the pool ${pool_address}`
    return { ...planned, tracked: trackingOf('pool', pool_address, []), about }
  })

/** Throws bad_request for amounts that buy no liquidity at the pool's price. */
export const openPosition = positionAct<Routes['open']>('position.open', async (context, input) => {
  const { pool } = await requirePositionPool(context, input.address)
  const addition = await planAddition(pool, await readPoolMoment(context.chain, pool), input)
  const { address: nftMint, secretKey } = newKey(context)
  const { position } = positionAddresses(nftMint)
  const { cost, maximum } = addition
  return {
    fallbackUnits: POSITION_ACT_UNITS.open,
    build: async (envelope) => ({
      ...(await buildPositionOpening({ ...envelope, pool, nftMint, liquidity: cost.liquidity, maximum })),
      secretKeys: [secretKey],
    }),
    slack: slackOf(input.payer, pool, addition),
    summary: { ...sidesOf(pool), position, nft_mint: nftMint, ...additionRecord(addition) },
  }
})

/** Throws bad_request for amounts that buy no liquidity at the pool's price. */
export const addLiquidity = positionAct<Routes['add']>('position.add', async (context, input) => {
  const { pool, moment, position, parts } = await requireHeldPosition(context, input)
  const addition = await planAddition(pool, moment, input)
  const { liquidity } = addition.cost
  return {
    fallbackUnits: POSITION_ACT_UNITS.add,
    build: (envelope) => buildLiquidityAddition({ ...envelope, pool, position, liquidity, maximum: addition.maximum }),
    slack: slackOf(input.payer, pool, addition),
    summary: {
      ...sidesOf(pool),
      position: position.position,
      ...additionRecord(addition),
      ...partsRecord({ ...parts, unlocked: parts.unlocked + liquidity }),
    },
  }
})

const WHOLE_BPS = 10_000n

interface AdditionInput {
  amount_a?: string | undefined
  amount_b?: string | undefined
  slippage_bps: number
}

interface Addition {
  cost: LiquidityCost
  maximum: TokenAmounts
}

/** Throws bad_request that names the amount if there is none, or if it buys no liquidity, or more than fits. */
async function planAddition(pool: DammV2Pool, moment: PoolMoment, input: AdditionInput): Promise<Addition> {
  const { amount_a, amount_b } = input
  if (amount_a === undefined && amount_b === undefined) {
    throw badRequest('give amount_a, amount_b, or both: the most that may be added of each token', {
      param: 'amount_a',
    })
  }
  const amountOf = (text: string | undefined) => (text === undefined ? null : BigInt(text))
  const cost = await liquidityFor(moment, { amountA: amountOf(amount_a), amountB: amountOf(amount_b) })
  if (cost.liquidity === 0n) throw buysNothing(pool, cost, input)
  const param = amount_a === undefined ? 'amount_b' : 'amount_a'
  if (cost.liquidity + pool.liquidity > MAX_U128 || cost.amountA > MAX_U64 || cost.amountB > MAX_U64) {
    throw badRequest(`${param} is more than the pool ${pool.address} can hold at its present price`, { param })
  }
  const most = (amount: bigint) => {
    const raised = amount + (amount * BigInt(input.slippage_bps)) / WHOLE_BPS
    return raised < MAX_U64 ? raised : MAX_U64
  }
  return { cost, maximum: { amountA: most(cost.amountA), amountB: most(cost.amountB) } }
}

/** If the price moves, up to the maximum of each token leaves. */
function slackOf(payer: string, pool: DammV2Pool, { cost, maximum }: Addition): Slack[] {
  return [
    slackIn(payer, { mint: pool.tokenAMint, program: pool.tokenAProgram }, maximum.amountA - cost.amountA),
    slackIn(payer, { mint: pool.tokenBMint, program: pool.tokenBProgram }, maximum.amountB - cost.amountB),
  ].filter(({ amount }) => amount > 0n)
}

function buysNothing(pool: DammV2Pool, { takesA, takesB }: LiquidityCost, { amount_a, amount_b }: AdditionInput) {
  const only = amount_a === undefined ? 'amount_b' : amount_b === undefined ? 'amount_a' : null
  if (!takesA && !takesB) {
    return badRequest(`The pool ${pool.address} has no liquidity, so it has no price to add more at`, {
      param: 'address',
    })
  }
  if (only === 'amount_a' && !takesA) return takesNone('amount_a', pool.tokenAMint, 'amount_b')
  if (only === 'amount_b' && !takesB) return takesNone('amount_b', pool.tokenBMint, 'amount_a')
  const param = only ?? (takesA && BigInt(amount_a ?? 0) === 0n ? 'amount_a' : 'amount_b')
  return badRequest(`${param} is too small: it buys no liquidity`, { param })
}

const takesNone = (param: string, mint: string, other: string) =>
  badRequest(`At its present price the pool takes none of ${mint}: give ${other} instead`, { param })

/** The fields of an answer about what goes into a pool. */
const additionRecord = ({ cost, maximum }: Addition) => ({
  added_liquidity: String(cost.liquidity),
  amount_a: String(cost.amountA),
  amount_b: String(cost.amountB),
  maximum_a: String(maximum.amountA),
  maximum_b: String(maximum.amountB),
})

/** Throws bad_request for liquidity that cannot be withdrawn now, and for so little that it is worth nothing. */
export const removeLiquidity = positionAct<Routes['remove']>('position.remove', async (context, input) => {
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
  return {
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
})

/** Throws bad_request for liquidity that is locked already or not released yet. */
export const lockPosition = positionAct<Routes['lock']>('position.lock', async (context, input) => {
  const found = await requireHeldPosition(context, input)
  const { pool, moment, position, parts } = found
  const { liquidity } = chosenLiquidity(found, input)
  const { amountA, amountB } = await liquidityAmounts(moment, liquidity)
  return {
    fallbackUnits: POSITION_ACT_UNITS.lock,
    build: (envelope) => buildPermanentLock({ ...envelope, pool, position, refreshes: parts.due > 0n, liquidity }),
    summary: {
      ...sidesOf(pool),
      position: position.position,
      newly_locked_liquidity: String(liquidity),
      amount_a: String(amountA),
      amount_b: String(amountB),
      ...partsRecord({ ...parts, unlocked: parts.unlocked - liquidity, locked: parts.locked + liquidity }),
    },
  }
})

/** Longest schedule that the program takes: ten years, which it counts in slots of 400 milliseconds. */
const LONGEST = { seconds: 315_360_000n, slots: 788_400_000n } as const

/** Throws bad_request for a schedule that the program refuses, and while an earlier one has not ended. */
export const vestPosition = positionAct<Routes['vest']>('position.vest', async (context, input) => {
  const found = await requireHeldPosition(context, input)
  const { pool, moment, position, parts } = found
  if (position.schedule !== null && unreleased(position.schedule) > parts.due) {
    throw badRequest(
      `The position ${position.position} has a schedule that has not ended, and room for only one: open another position for this one (POST /v2/pools/{address}/positions, \`svc pools positions open\`)`,
      { param: 'position' },
    )
  }
  const { liquidity } = chosenLiquidity(found, input)
  const schedule = planSchedule(input, found, liquidity)
  // An omitted cliff is when the transaction runs, because the program refuses one in the past.
  const isNow = input.cliff_at === undefined && input.cliff_slot === undefined
  const written = { ...schedule, cliffPoint: isNow ? null : schedule.cliffPoint }
  const { amountA, amountB } = await liquidityAmounts(moment, liquidity)
  return {
    fallbackUnits: POSITION_ACT_UNITS.vest,
    build: (envelope) =>
      buildPositionVesting({ ...envelope, pool, position, refreshes: parts.due > 0n, schedule: written }),
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
})

const unreleased = ({ cliffLiquidity, liquidityPerPeriod, periods, released }: PositionSchedule): bigint =>
  cliffLiquidity + liquidityPerPeriod * BigInt(periods) - released

function planSchedule(
  input: Input<Routes['vest']>,
  { pool, moment: { point } }: Pick<FoundPosition, 'pool' | 'moment'>,
  liquidity: bigint,
): PositionSchedule {
  const unit = unitOf(pool)
  const cliffParam = unit === 'slots' ? 'cliff_slot' : 'cliff_at'
  const cliffPoint = cliffOf(input, unit) ?? point
  if (cliffPoint < point) {
    throw badRequest(`${cliffParam} is in the past: it is ${point} now`, { param: cliffParam })
  }
  const { periods: count, frequency: length } = input
  const given = (value: number | undefined) => (value === undefined ? null : BigInt(value))
  const refuse = (param: string, why: string) => badRequest(`${param} ${why}`, { param })
  const periods = checkedPeriods({ periods: given(count), frequency: given(length) }, refuse)
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
  const frequency = periods === 0n ? 0n : BigInt(length ?? 0)
  if (cliffPoint - point + frequency * periods > LONGEST[unit]) {
    throw badRequest('The last part is released after more than ten years: send fewer or shorter periods', {
      param: periods === 0n ? cliffParam : 'periods',
    })
  }
  const atCliff = (liquidity * BigInt(input.cliff_share_bps ?? 0)) / 10_000n
  const { cliffAmount, amountPerPeriod } = checkedSplit(
    { amount: liquidity, cliffAmount: atCliff, periods },
    'units of liquidity',
    refuse,
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
function cliffOf({ cliff_at, cliff_slot }: Input<Routes['vest']>, unit: 'slots' | 'seconds'): bigint | null {
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

/** Throws bad_request while the position has liquidity. */
export const closePosition = positionAct<Routes['close']>('position.close', async (context, input) => {
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
  return {
    fallbackUnits: POSITION_ACT_UNITS.close,
    build: (envelope) => buildPositionClosing({ ...envelope, pool, position, claims: feeA > 0n || feeB > 0n }),
    summary: {
      ...sidesOf(pool),
      position: position.position,
      nft_mint: position.nftMint,
      fee_a: String(feeA),
      fee_b: String(feeB),
    },
  }
})
