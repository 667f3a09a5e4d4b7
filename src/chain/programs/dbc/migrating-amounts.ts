/**
 * Computes what a filled curve puts into its migrated pool, which covers all prices or is a constant product that
 * compounds its fees.
 */
import type { ConfigParameters } from '@meteora-ag/dynamic-bonding-curve-sdk'
import { squareRoot } from '../../../solana/square-root.ts'
import { MAX_U64 } from '../../../solana/u64.ts'
import { bigintOf, type Dbc } from './program.ts'

/** The pool's price and liquidity before its first trade. */
export interface PoolOpening {
  /** Square root of the price, times 2^64. */
  sqrtPrice: bigint
  /** Liquidity that the positions share. */
  liquidity: bigint
  /** Liquidity without an owner. */
  dead: bigint
}

/** Share of the migrating amounts that the program keeps for Meteora, in hundredths of a percent. */
export const PROTOCOL_BPS = 20n
const COMPOUNDING = 2
/** Liquidity of a compounding pool without an owner. */
const DEAD_LIQUIDITY = 100n * (MAX_U64 + 1n)
/** Tolerance between the square roots of the price of a compounding pool and of the curve's end, as a fraction. */
const PRICE_TOLERANCE = 100n

/** Divides whole numbers, rounding up. */
export const divideUp = (numerator: bigint, denominator: bigint): bigint => (numerator + denominator - 1n) / denominator

/** Meteora's part of an amount that migrates, rounded down. */
export const protocolPart = (amount: bigint): bigint => (amount * PROTOCOL_BPS) / 10_000n

export const isCompounding = ({ migratedPoolFee }: Pick<ConfigParameters, 'migratedPoolFee'>): boolean =>
  migratedPoolFee.collectFeeMode === COMPOUNDING

/** Raw units of the quote that remain of the threshold after the migration fee, rounded up. */
export const migratedQuote = (threshold: bigint, feePercentage: number): bigint =>
  divideUp(threshold * (100n - BigInt(feePercentage)), 100n)

/**
 * Returns the raw units of the token that the program sets aside for the migration with an amount of the quote, at the
 * price of the curve's end. The SDK knows only those of a pool over all prices.
 */
export function migratedBase(
  { sdk, bn }: Dbc,
  terms: Pick<ConfigParameters, 'migratedPoolFee' | 'migrationOption'>,
  quote: bigint,
  endSqrtPrice: bigint,
): bigint {
  if (isCompounding(terms)) return divideUp(quote << 128n, endSqrtPrice * endSqrtPrice)
  return bigintOf(sdk.getMigrationBaseToken(bn(quote), bn(endSqrtPrice), terms.migrationOption))
}

/** The opening of a compounding pool, whose price follows from its amounts. */
export function compoundingOpening({ base, quote }: { base: bigint; quote: bigint }): PoolOpening {
  const liquidity = squareRoot((quote << 128n) / base) * base
  return {
    sqrtPrice: squareRoot(divideUp(quote << 128n, base)),
    liquidity: liquidity - DEAD_LIQUIDITY,
    dead: DEAD_LIQUIDITY,
  }
}

/**
 * Whether the program opens a compounding pool with the migrating amounts. It refuses too few raw units for the price.
 */
export function opensCompounding(
  { sdk }: Dbc,
  amounts: { base: bigint; quote: bigint },
  endSqrtPrice: bigint,
): boolean {
  const base = amounts.base - protocolPart(amounts.base)
  const quote = amounts.quote - protocolPart(amounts.quote)
  const { sqrtPrice, liquidity } = compoundingOpening({ base, quote })
  const isPrice = sqrtPrice >= bigintOf(sdk.MIN_SQRT_PRICE) && sqrtPrice <= bigintOf(sdk.MAX_SQRT_PRICE)
  const [low, high] = sqrtPrice < endSqrtPrice ? [sqrtPrice, endSqrtPrice] : [endSqrtPrice, sqrtPrice]
  return isPrice && liquidity > 0n && (high - low) * PRICE_TOLERANCE <= high
}
