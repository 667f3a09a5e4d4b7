/** Lists the positions of a wallet in a DAMM v2 pool, with what each is worth and what of it can be withdrawn. */
import type { Api, HeldPosition } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import {
  type DammV2Pool,
  type DammV2Position,
  liquidityAmounts,
  liquidityParts,
  type PoolMoment,
  type PositionSchedule,
  readPoolMoment,
  readPositions,
} from '../../chain/programs/damm-v2/index.ts'
import type { Context } from '../../context.ts'
import { largestFirst } from '../fee-claims/delegations.ts'
import { requirePositionPool } from '../fee-claims/plan-positions.ts'
import { isoOfPoint, partsRecord, sidesOf, unitOf } from './held-position.ts'
import { positionPage } from './position-page.ts'

type ListPositionsRoute = Api['positions']['list']
type ScheduleRecord = NonNullable<HeldPosition['schedule']>

export async function listPositions(
  context: Context,
  { address, owner, ...page }: Input<ListPositionsRoute>,
): Promise<Result<ListPositionsRoute>> {
  const { pool } = await requirePositionPool(context, address)
  const held = largestFirst(await readPositions(context.chain, pool.address, owner))
  const moment = await readPoolMoment(context.chain, pool)
  const { shown, remaining, next_cursor } = positionPage(`positions:${pool.address}:${owner}`, held, page)
  return {
    ...sidesOf(pool),
    owner,
    unit: unitOf(pool),
    point: String(moment.point),
    positions: await Promise.all(shown.map((position) => positionRecord(pool, moment, position))),
    remaining_positions: remaining,
    next_cursor,
  }
}

async function positionRecord(
  pool: DammV2Pool,
  moment: PoolMoment,
  position: DammV2Position & { liquidity: bigint },
): Promise<HeldPosition> {
  const { amountA, amountB } = await liquidityAmounts(moment, position.liquidity)
  const share = pool.liquidity === 0n ? 0n : (position.liquidity * 10_000n) / pool.liquidity
  return {
    position: position.position,
    nft_mint: position.nftMint,
    ...partsRecord(liquidityParts(position, moment.point)),
    amount_a: String(amountA),
    amount_b: String(amountB),
    share_bps: Number(share < 10_000n ? share : 10_000n),
    fee_a: String(position.feeA),
    fee_b: String(position.feeB),
    delegate: position.delegate,
    schedule:
      position.schedule === null
        ? null
        : scheduleRecord(pool, position.schedule, liquidityParts(position, moment.point).due),
  }
}

/** `due` is what has been released and not refreshed yet. */
export function scheduleRecord(pool: DammV2Pool, schedule: PositionSchedule, due: bigint): ScheduleRecord {
  const unit = unitOf(pool)
  const end = schedule.cliffPoint + schedule.frequency * BigInt(schedule.periods)
  return {
    unit,
    cliff_point: String(schedule.cliffPoint),
    cliff_at: unit === 'seconds' ? isoOfPoint(schedule.cliffPoint) : null,
    cliff_liquidity: String(schedule.cliffLiquidity),
    frequency: String(schedule.frequency),
    periods: schedule.periods,
    liquidity_per_period: String(schedule.liquidityPerPeriod),
    released_liquidity: String(schedule.released + due),
    ends_at: unit === 'seconds' ? isoOfPoint(end) : null,
  }
}
