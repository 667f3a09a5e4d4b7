/** What every verb about positions begins with: the pool, the position that the payer holds, and the chosen liquidity. */
import {
  type DammV2Pool,
  type DammV2Position,
  type LiquidityParts,
  liquidityParts,
  type PoolMoment,
  readPoolMoment,
  readPositions,
} from '../../chain/programs/damm-v2/index.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { requirePositionPool, unheldPosition } from '../fee-claims/plan-positions.ts'

export interface FoundPosition {
  pool: DammV2Pool
  moment: PoolMoment
  position: DammV2Position
  parts: LiquidityParts
}

/** Throws bad_request that names `position` if the payer does not hold it in this pool, not_found without either. */
export async function requireHeldPosition(
  context: Context,
  { address, position: asked, payer }: { address: string; position: string; payer: string },
): Promise<FoundPosition> {
  const { pool } = await requirePositionPool(context, address)
  const [held, moment] = await Promise.all([
    readPositions(context.chain, pool.address, payer),
    readPoolMoment(context.chain, pool),
  ])
  const position = held.find((each) => each.position === asked)
  if (position === undefined) {
    throw await unheldPosition(context.chain, { position: asked, holder: payer, pool: pool.address })
  }
  return { pool, moment, position, parts: liquidityParts(position, moment.point) }
}

/** What the points of a pool's schedules count. */
export const unitOf = ({ activationType }: DammV2Pool) => (activationType === 'timestamp' ? 'seconds' : 'slots')

interface ChosenLiquidity {
  liquidity: bigint
  /** Whether everything that can be withdrawn was asked for. */
  isAll: boolean
}

/** Throws bad_request for a choice by both ways, and for more than can be withdrawn now, which says why. */
export function chosenLiquidity(
  found: FoundPosition,
  { share_bps, liquidity: units }: { share_bps?: number | undefined; liquidity?: string | undefined },
): ChosenLiquidity {
  if (share_bps !== undefined && units !== undefined) {
    throw badRequest('give either share_bps or liquidity', { param: 'liquidity' })
  }
  const { position, parts } = found
  const { unlocked } = parts
  if (unlocked === 0n) throw badRequest(nothingFree(found), { param: 'position' })
  const liquidity = units === undefined ? (unlocked * BigInt(share_bps ?? 10_000)) / 10_000n : BigInt(units)
  if (liquidity > unlocked) {
    throw badRequest(
      `liquidity is ${liquidity}, and only ${unlocked} of the position ${position.position} can be withdrawn now`,
      { param: 'liquidity' },
    )
  }
  if (liquidity === 0n) throw badRequest('share_bps selects no liquidity', { param: 'share_bps' })
  return { liquidity, isAll: units === undefined && (share_bps ?? 10_000) === 10_000 }
}

function nothingFree(found: FoundPosition): string {
  const { position, parts } = found
  const begin = `Nothing of the position ${position.position} can be withdrawn`
  if (parts.vesting > 0n) return `${begin} now: ${nextRelease(found)}`
  return parts.locked > 0n ? `${begin}: it is locked for good` : `${begin}: it has no liquidity`
}

function nextRelease({ pool, position: { schedule }, moment: { point } }: FoundPosition): string {
  if (schedule === null) return 'a schedule in an account of its own releases it later'
  const { cliffPoint, frequency } = schedule
  const next = point < cliffPoint ? cliffPoint : cliffPoint + ((point - cliffPoint) / frequency + 1n) * frequency
  return `its schedule releases the next part at ${unitOf(pool) === 'slots' ? `slot ${next}` : timeOfPoint(next)}`
}

const timeOfPoint = (seconds: bigint): string => isoOfPoint(seconds) ?? `Unix time ${seconds}`

/** Null beyond the years that a timestamp can show. */
export function isoOfPoint(seconds: bigint): string | null {
  return seconds < 253_402_300_800n ? new Date(Number(seconds) * 1000).toISOString() : null
}

export const sidesOf = (pool: DammV2Pool) => ({
  pool_address: pool.address,
  mint_a: pool.tokenAMint,
  mint_b: pool.tokenBMint,
  decimals_a: pool.tokenADecimals,
  decimals_b: pool.tokenBDecimals,
})

/** The parts of a position in an answer. */
export const partsRecord = ({ unlocked, vesting, locked }: Omit<LiquidityParts, 'due'>) => ({
  liquidity: String(unlocked + vesting + locked),
  unlocked_liquidity: String(unlocked),
  vesting_liquidity: String(vesting),
  locked_liquidity: String(locked),
})
