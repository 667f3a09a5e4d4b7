/** The pool that opens with a raise's money: at which price, what goes in, what is locked, and what stays with the creator. */
import { creatorGains, dividedUp, PRICE_ONE } from './raise-amounts.ts'
import type { RaiseTerms } from './raises.ts'
import { squareRoot } from './square-root.ts'
import type { TransferFee } from './token-extensions.ts'
import { feeOn, sentFor } from './transfer-fees.ts'
import { MAX_U128 } from './u64.ts'

/** The prices of a position over the whole range of DAMM v2, as square roots times 2^64. */
export const FULL_RANGE = { lowest: 4_295_048_016n, highest: 79_226_673_521_066_979_257_578_248_091n } as const

const WHOLE_BPS = 10_000n
/** A pool that opens before the end of a raise has this part of the liquidity that it may get. */
const SEED_PART = 1_000_000n

/** The plan of a pool, as the API has it. */
export interface PoolPlan {
  /** The part of the raised quote that goes into the pool. */
  quote_bps: number
  /** Raw tokens that the creator keeps ready for the pool, beside those that are sold. */
  reserve: string
  /** `raise`: the raise's price times `price_bps`. `reserve`: the quote divided by the reserve. */
  price: 'raise' | 'reserve'
  price_bps: number
  fee_bps: number
  /** The part of the liquidity that is locked for good. */
  locked_bps: number
  when: 'after' | 'before_end'
  /** Time from the end to the first trade in a pool that opens before the end. A trade moves the price. */
  opens_after_seconds: number
}

/** Raw quote for raw tokens. */
interface PriceRatio {
  quote: bigint
  tokens: bigint
}

/** What a raise has brought: the creator's quote without fees of deposits, and the price that buyers paid. */
export interface RaisedSum {
  raised: bigint
  price: PriceRatio
  /** The fee that the mint takes of each transfer. */
  transferFee?: TransferFee | null
}

export interface RaisePool {
  sqrtPrice: bigint
  liquidity: bigint
  /** The part of the liquidity that is locked for good. */
  locked: bigint
  /** Raw quote that leaves the creator. */
  quote: bigint
  /** Raw tokens that leave the creator, the fee of their transfer included. */
  tokens: bigint
  /** The pool's price in parts of 10,000 of the raise's price. */
  priceOfRaiseBps: bigint
}

/** The terms of a raise on which the plan of its pool depends. */
type PlannedTerms = Pick<RaiseTerms, 'mode' | 'releaseBps' | 'lockSeconds' | 'endsAt' | 'releaseAt'>

/** Returns the field that does not fit, and the end of a sentence about it: "when …"; null if the plan fits the raise. */
export function planFault(plan: PoolPlan, terms: PlannedTerms): { field: string; why: string } | null {
  if (plan.when === 'after') {
    const isFree = (terms.releaseBps > 0 && terms.releaseAt <= terms.endsAt) || terms.lockSeconds === 0n
    if (!isFree) return null
    const why = 'buyers could claim at the end, and open the only pool of the pair before the creator does'
    return { field: terms.lockSeconds === 0n ? 'lock_seconds' : 'release_bps', why: `lets too much out: ${why}` }
  }
  if (terms.mode !== 'fixed_price' || plan.price !== 'raise') {
    return { field: 'pool.when', why: 'is before_end, which needs a fixed price and a pool that follows it' }
  }
  if (plan.locked_bps > 0) return null
  return { field: 'pool.locked_bps', why: 'is 0, and before_end needs a lock: it shows that the rest was added' }
}

/** What a raise brings with its present deposits, once it is completed. */
export function raisedSum(
  raise: Parameters<typeof creatorGains>[0],
  transferFee: TransferFee | null = null,
): RaisedSum {
  const { raised, returned, unsold } = creatorGains(raise)
  const sold = raise.supply - returned - unsold
  const price = raise.price === null ? { quote: raised, tokens: sold } : { quote: raise.price, tokens: PRICE_ONE }
  return { raised, price, transferFee }
}

/** Returns the pool, or the end of a sentence that says why it cannot open: "The pool …". */
export function raisePool(plan: PoolPlan, sum: RaisedSum): RaisePool | string {
  const fee = sum.transferFee ?? null
  const isEarly = plan.when === 'before_end'
  if (isEarly && fee !== null) return 'cannot open before the end: its token takes a fee of each transfer'
  // What arrives in two parts is rounded up twice.
  const spared = isEarly ? 1n : 0n
  const quote = (sum.raised * BigInt(plan.quote_bps)) / WHOLE_BPS - spared
  const reserve = BigInt(plan.reserve)
  const arriving = reserve - feeOn(fee, reserve) - spared
  if (quote <= 0n) return 'would have nothing of what is raised'
  if (arriving <= 0n) return 'would have no tokens: the reserve is too small'
  const price = poolPrice(plan, sum.price, { quote, tokens: arriving })
  if (price === null) return 'has no price: nothing is sold'
  const sqrtPrice = squareRoot((price.quote << 128n) / price.tokens)
  if (sqrtPrice <= FULL_RANGE.lowest) return 'would have a price below those of DAMM v2'
  if (sqrtPrice >= FULL_RANGE.highest) return 'would have a price above those of DAMM v2'
  const liquidity = liquidityFor(sqrtPrice, { quote, tokens: arriving })
  if (liquidity === 0n) return 'would be too small to have any liquidity'
  if (liquidity > MAX_U128) return 'would have more liquidity than DAMM v2 counts'
  return { ...partOf({ sqrtPrice, liquidity }, plan, fee), priceOfRaiseBps: relation(price, sum.price) }
}

/** The same pool with the little liquidity that it opens with before the end of the raise. None of it is locked. */
export function seedOf(pool: RaisePool): RaisePool {
  const liquidity = pool.liquidity / SEED_PART + 1n
  return { ...pool, ...partOf({ ...pool, liquidity }, { locked_bps: 0 }) }
}

/** What is still missing of a pool that has some of its liquidity. The whole of it is locked as planned. */
export function restOf(pool: RaisePool, has: bigint): RaisePool {
  const liquidity = pool.liquidity > has ? pool.liquidity - has : 0n
  const rest = partOf({ ...pool, liquidity }, { locked_bps: 0 })
  return { ...pool, ...rest, locked: pool.locked }
}

function poolPrice(plan: PoolPlan, raise: PriceRatio, both: PriceRatio): PriceRatio | null {
  if (plan.price === 'reserve') return both
  if (raise.quote === 0n || raise.tokens === 0n) return null
  return { quote: raise.quote * BigInt(plan.price_bps), tokens: raise.tokens * WHOLE_BPS }
}

const relation = (pool: PriceRatio, raise: PriceRatio): bigint =>
  raise.quote === 0n ? 0n : (pool.quote * raise.tokens * WHOLE_BPS) / (pool.tokens * raise.quote)

/** The most liquidity for which no more of either side is needed. */
function liquidityFor(at: bigint, { quote, tokens }: PriceRatio): bigint {
  const { lowest, highest } = FULL_RANGE
  const ofTokens = (tokens * at * highest) / (highest - at)
  const ofQuote = (quote << 128n) / (at - lowest)
  return ofTokens < ofQuote ? ofTokens : ofQuote
}

/** What leaves the creator for liquidity, rounded up as the program does. */
function partOf(
  { sqrtPrice, liquidity }: Pick<RaisePool, 'sqrtPrice' | 'liquidity'>,
  { locked_bps }: Pick<PoolPlan, 'locked_bps'>,
  fee: TransferFee | null = null,
): Omit<RaisePool, 'priceOfRaiseBps'> {
  const { lowest, highest } = FULL_RANGE
  const tokens = dividedUp(liquidity * (highest - sqrtPrice), sqrtPrice * highest)
  return {
    sqrtPrice,
    liquidity,
    locked: (liquidity * BigInt(locked_bps)) / WHOLE_BPS,
    quote: dividedUp(liquidity * (sqrtPrice - lowest), 1n << 128n),
    tokens: sentFor(fee, tokens),
  }
}
