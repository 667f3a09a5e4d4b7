/**
 * Converts amounts to the liquidity of the migrated pool: over all prices, or as a constant product that compounds its
 * fees.
 */
import { squareRoot } from '../../../../solana/square-root.ts'
import {
  compoundingOpening,
  divideUp,
  isCompounding,
  migratedBase,
  type PoolOpening,
  PROTOCOL_BPS,
  protocolPart,
} from '../migrating-amounts.ts'
import { bigintOf } from '../program.ts'
import { amountOf } from './curve-math.ts'
import type { MemoryCurve } from './trading.ts'

export interface TokenAmounts {
  base: bigint
  quote: bigint
}

/** The pool after its first position. */
export interface OpenedPool extends TokenAmounts {
  /** Includes the part without an owner. */
  liquidity: bigint
}

/** `MigrationHandler` of the program, by the fee mode of the migrated pool. */
export interface MigratedLiquidity {
  /** Raw units of the token that migrate, of the available ones. */
  baseOf(available: bigint): bigint
  /** Meteora's part of what migrates. */
  protocolFee(amounts: TokenAmounts): TokenAmounts
  opening(amounts: TokenAmounts): PoolOpening
  /** Opens the pool; each amount is rounded up. */
  open(sqrtPrice: bigint, liquidity: bigint): OpenedPool
  /** The liquidity that amounts add to the pool. */
  addable(amounts: TokenAmounts, pool: OpenedPool): bigint
  added(liquidity: bigint, pool: OpenedPool): TokenAmounts
  /** Price after the second position; the program computes it from the reserves before that position. */
  priceOf(before: TokenAmounts): bigint
}

const least = (a: bigint, b: bigint) => (a < b ? a : b)

export const migratedLiquidityOf = (curve: MemoryCurve, quote: bigint): MigratedLiquidity =>
  isCompounding(curve.parameters)
    ? compounding(migratedBase(curve.dbc, curve.parameters, quote, curve.endSqrtPrice))
    : overAllPrices(curve)

function overAllPrices({ dbc, endSqrtPrice: at, parameters }: MemoryCurve): MigratedLiquidity {
  const { sdk, bn } = dbc
  const [low, high, price] = [sdk.MIN_SQRT_PRICE, sdk.MAX_SQRT_PRICE, bn(at)]
  const liquidityFor = ({ base, quote }: TokenAmounts) =>
    least(
      bigintOf(sdk.getInitialLiquidityFromDeltaBase(bn(base), high, price)),
      bigintOf(sdk.getInitialLiquidityFromDeltaQuote(bn(quote), low, price)),
    )
  const amountsFor = (liquidity: bigint) => ({
    base: amountOf(dbc, 'base', { from: at, to: bigintOf(high), liquidity }),
    quote: amountOf(dbc, 'quote', { from: bigintOf(low), to: at, liquidity }),
  })
  return {
    baseOf: (available) => available,
    protocolFee({ base, quote }) {
      const { migrationOption } = parameters
      const fee = sdk.getProtocolMigrationFee(bn(base), bn(quote), price, Number(PROTOCOL_BPS), migrationOption)
      return { base: bigintOf(fee[0]), quote: bigintOf(fee[1]) }
    },
    opening: (amounts) => ({ sqrtPrice: at, liquidity: liquidityFor(amounts), dead: 0n }),
    open: (_, liquidity) => ({ ...amountsFor(liquidity), liquidity }),
    addable: liquidityFor,
    added: amountsFor,
    priceOf: () => at,
  }
}

/** `threshold` are the raw units of the token that the config sets aside for the migration. */
function compounding(threshold: bigint): MigratedLiquidity {
  return {
    baseOf: () => threshold,
    protocolFee: ({ base, quote }) => ({ base: protocolPart(base), quote: protocolPart(quote) }),
    opening: compoundingOpening,
    open: (sqrtPrice, liquidity) => ({
      base: divideUp(liquidity, sqrtPrice),
      quote: divideUp(liquidity * sqrtPrice, 1n << 128n),
      liquidity,
    }),
    addable: ({ base, quote }, pool) =>
      least((base * pool.liquidity) / pool.base, (quote * pool.liquidity) / pool.quote),
    added: (liquidity, pool) => ({
      base: divideUp(liquidity * pool.base, pool.liquidity),
      quote: divideUp(liquidity * pool.quote, pool.liquidity),
    }),
    priceOf: ({ base, quote }) => squareRoot((quote << 128n) / base),
  }
}
