/** Computes what liquidity of a pool is worth in its two tokens, and which part of a position can be withdrawn now. */
import type { PoolState } from '@meteora-ag/cp-amm-sdk'
import { internal, notFound } from '../../../platform/errors.ts'
import { CLOCK_SYSVAR } from '../../../solana/program-ids.ts'
import type { NodeCalls } from '../../nodes/node-call.ts'
import { type ChainTime, chainTimeOf } from '../../reads/chain-clock.ts'
import type { NodeAccount } from '../../reads/node-reads.ts'
import type { DammV2Position, PositionSchedule } from './positions.ts'
import { decodeDammV2Pool, loadSdk, toBigint } from './program.ts'
import { afterTransferFee } from './quote.ts'
import { type DammV2Pool, readTogether } from './state.ts'

/** A pool at one slot, with what its amounts depend on. */
export interface PoolMoment {
  state: PoolState
  /** Unix seconds or the slot, whichever the pool counts in. */
  point: bigint
  time: ChainTime
  mintA: readonly [string, NodeAccount]
  mintB: readonly [string, NodeAccount]
}

/** Raw units of both tokens. */
export interface TokenAmounts {
  amountA: bigint
  amountB: bigint
}

/** Throws not_found when the pool is gone, internal_error when the node fails. */
export async function readPoolMoment(
  node: NodeCalls,
  { address, tokenAMint, tokenBMint }: Pick<DammV2Pool, 'address' | 'tokenAMint' | 'tokenBMint'>,
): Promise<PoolMoment> {
  const together = [address, CLOCK_SYSVAR, tokenAMint, tokenBMint]
  const [account, clock, mintA, mintB] = (await readTogether(node, 'Reading a pool', together)).accounts
  const state = await decodeDammV2Pool(account)
  if (state === null) throw notFound(`There is no DAMM v2 pool at ${address}`, { param: 'address' })
  if (!mintA || !mintB) {
    throw internal(`Reading the pool ${address} failed at the RPC node: accounts are missing in its answer`)
  }
  const time = await chainTimeOf(clock ?? null)
  const point = BigInt(state.activationType === 0 ? time.slot : time.unixSeconds)
  return { state, point, time, mintA: [tokenAMint, mintA], mintB: [tokenBMint, mintB] }
}

/** Returns the raw units that withdrawn liquidity pays, rounded down, before the transfer fees of the mints. */
export async function amountsOf({ state }: Pick<PoolMoment, 'state'>, liquidity: bigint): Promise<TokenAmounts> {
  const { sdk } = await loadSdk()
  return amountsIn(state, liquidity, sdk.Rounding.Down)
}

/** Returns the raw units that arrive with the owner, after the transfer fees of the mints. */
export async function receivedFor(moment: PoolMoment, liquidity: bigint): Promise<TokenAmounts> {
  const [{ amountA, amountB }, { toBn }] = await Promise.all([amountsOf(moment, liquidity), loadSdk()])
  const epoch = Number(moment.time.epoch)
  return {
    amountA: toBigint(await afterTransferFee(toBn(amountA), ...moment.mintA, epoch)),
    amountB: toBigint(await afterTransferFee(toBn(amountB), ...moment.mintB, epoch)),
  }
}

async function amountsIn(state: PoolState, liquidity: bigint, rounding: number): Promise<TokenAmounts> {
  const { sdk, toBn } = await loadSdk()
  const { sqrtPrice, sqrtMinPrice, sqrtMaxPrice, collectFeeMode, tokenAAmount, tokenBAmount } = state
  const delta = toBn(liquidity)
  const all = state.liquidity
  return {
    amountA: toBigint(
      sdk.getAmountAFromLiquidityDelta(sqrtPrice, sqrtMaxPrice, delta, rounding, collectFeeMode, tokenAAmount, all),
    ),
    amountB: toBigint(
      sdk.getAmountBFromLiquidityDelta(sqrtMinPrice, sqrtPrice, delta, rounding, collectFeeMode, tokenBAmount, all),
    ),
  }
}

/** A position's liquidity by what its owner can do with it now. */
export interface LiquidityParts {
  /** Can be withdrawn. What a schedule has released counts, though the position shows it only once it is refreshed. */
  unlocked: bigint
  /** Is released later. */
  vesting: bigint
  /** Is locked for good. */
  locked: bigint
  /** Part of `unlocked` that a refresh releases first. */
  due: bigint
}

export function liquidityParts(position: DammV2Position, point: bigint): LiquidityParts {
  const due = position.schedule === null ? 0n : dueOf(position.schedule, point)
  return {
    unlocked: position.unlockedLiquidity + due,
    vesting: position.vestedLiquidity - due,
    locked: position.permanentLockedLiquidity,
    due,
  }
}

/** Returns the liquidity that has come due and is not released yet. */
function dueOf(schedule: PositionSchedule, point: bigint): bigint {
  const { cliffPoint, frequency, cliffLiquidity, liquidityPerPeriod, periods, released } = schedule
  if (point < cliffPoint) return 0n
  const passed = frequency === 0n ? BigInt(periods) : (point - cliffPoint) / frequency
  const counted = passed < BigInt(periods) ? passed : BigInt(periods)
  return cliffLiquidity + liquidityPerPeriod * counted - released
}
