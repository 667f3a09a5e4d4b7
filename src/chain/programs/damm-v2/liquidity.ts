/** Computes what liquidity of a pool is worth in its two tokens, and which part of a position can be withdrawn now. */
import type { PoolState } from '@meteora-ag/cp-amm-sdk'
import { internal, notFound } from '../../../platform/errors.ts'
import { CLOCK_SYSVAR } from '../../../solana/program-ids.ts'
import type { NodeCalls } from '../../nodes/node-call.ts'
import { type ChainTime, chainTimeOf } from '../../reads/chain-clock.ts'
import type { NodeAccount } from '../../reads/node-reads.ts'
import type { DammV2Position, PositionSchedule } from './positions.ts'
import { decodeDammV2Pool, loadSdk, toBigint } from './program.ts'
import { afterTransferFee, beforeTransferFee } from './quote.ts'
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
export async function liquidityAmounts({ state }: Pick<PoolMoment, 'state'>, liquidity: bigint): Promise<TokenAmounts> {
  const { sdk } = await loadSdk()
  return amountsIn(state, liquidity, sdk.Rounding.Down)
}

/** Returns the raw units that arrive with the owner, after the transfer fees of the mints. */
export async function receivedFor(moment: PoolMoment, liquidity: bigint): Promise<TokenAmounts> {
  const [{ amountA, amountB }, { toBn }] = await Promise.all([liquidityAmounts(moment, liquidity), loadSdk()])
  const epoch = Number(moment.time.epoch)
  return {
    amountA: toBigint(await afterTransferFee(toBn(amountA), ...moment.mintA, epoch)),
    amountB: toBigint(await afterTransferFee(toBn(amountB), ...moment.mintB, epoch)),
  }
}

/** Most raw units of each token that may leave a wallet; null is as many as the other token needs. */
export type WantedAmounts = { [side in keyof TokenAmounts]: bigint | null }

/** What a wallet pays for liquidity at the pool's price, transfer fees of the mints included. */
export interface LiquidityCost extends TokenAmounts {
  liquidity: bigint
  /** Whether the pool takes the token at all. At the end of its price range it takes only the other one. */
  takesA: boolean
  takesB: boolean
}

/**
 * Returns the most liquidity for which no more leaves than wanted, with what leaves for it, rounded up as the program
 * does. The liquidity is 0 if the pool takes none of the wanted tokens, or if the amounts are too small.
 */
export async function liquidityFor(moment: PoolMoment, wanted: WantedAmounts): Promise<LiquidityCost> {
  const [{ state, time, mintA, mintB }, { sdk, toBn }] = [moment, await loadSdk()]
  const { sqrtPrice, sqrtMinPrice, sqrtMaxPrice, collectFeeMode, tokenAAmount, tokenBAmount, liquidity: all } = state
  const epoch = Number(time.epoch)
  const isCompounding = collectFeeMode === sdk.CollectFeeMode.Compounding
  const takesA = isCompounding ? !tokenAAmount.isZero() && !all.isZero() : sqrtPrice.lt(sqrtMaxPrice)
  const takesB = isCompounding ? !tokenBAmount.isZero() && !all.isZero() : sqrtMinPrice.lt(sqrtPrice)
  const limits: bigint[] = []
  if (wanted.amountA !== null && takesA) {
    const arriving = await afterTransferFee(toBn(wanted.amountA), ...mintA, epoch)
    const most = sdk.getLiquidityDeltaFromAmountA(arriving, sqrtPrice, sqrtMaxPrice, collectFeeMode, tokenAAmount, all)
    limits.push(toBigint(most))
  }
  if (wanted.amountB !== null && takesB) {
    const arriving = await afterTransferFee(toBn(wanted.amountB), ...mintB, epoch)
    const most = sdk.getLiquidityDeltaFromAmountB(arriving, sqrtMinPrice, sqrtPrice, collectFeeMode, tokenBAmount, all)
    limits.push(toBigint(most))
  }
  const liquidity = limits.reduce<bigint | null>((least, each) => (least === null || each < least ? each : least), null)
  if (liquidity === null) return { liquidity: 0n, amountA: 0n, amountB: 0n, takesA, takesB }
  const { amountA, amountB } = await amountsIn(state, liquidity, sdk.Rounding.Up)
  return {
    liquidity,
    amountA: toBigint(await beforeTransferFee(toBn(amountA), ...mintA, epoch)),
    amountB: toBigint(await beforeTransferFee(toBn(amountB), ...mintB, epoch)),
    takesA,
    takesB,
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
  const { schedule } = position
  // Nothing is released before the cliff.
  const due = schedule === null ? 0n : dueLiquidity(schedule, point) - schedule.released
  return {
    unlocked: position.unlockedLiquidity + due,
    vesting: position.vestedLiquidity - due,
    locked: position.permanentLockedLiquidity,
    due,
  }
}

/** Returns the liquidity of a schedule that has come due, whether it was released or not. */
export function dueLiquidity(schedule: PositionSchedule, point: bigint): bigint {
  const { cliffPoint, frequency, cliffLiquidity, liquidityPerPeriod, periods } = schedule
  if (point < cliffPoint) return 0n
  const passed = frequency === 0n ? BigInt(periods) : (point - cliffPoint) / frequency
  const counted = passed < BigInt(periods) ? passed : BigInt(periods)
  return cliffLiquidity + liquidityPerPeriod * counted
}
