/** Computes the migration of a filled launch curve from its reserves, by the program's arithmetic. */

import { squareRoot } from '../../../../solana/square-root.ts'
import {
  compoundingOpening,
  divideUp,
  isCompounding,
  migratedBase,
  migratedQuote,
  type PoolOpening,
  PROTOCOL_BPS,
  protocolPart,
} from '../migrating-amounts.ts'
import { bigintOf } from '../program.ts'
import { amountOf } from './curve-math.ts'
import type { CurveState, MemoryCurve, PartyAmounts } from './trading.ts'

const PARTY_SURPLUS_PERCENT = 80n

export interface OwnedLiquidity {
  unlocked: bigint
  /** Locked permanently. */
  locked: bigint
  vested: bigint
}

export interface MigrationPreview {
  sqrtPrice: bigint
  /** Raw units that become the pool, without fees. */
  deposit: { base: bigint; quote: bigint }
  /** What Meteora keeps of the migrated amounts. */
  protocolFee: { base: bigint; quote: bigint }
  /** The migration fee, of the quote. */
  migrationFee: { creator: bigint; partner: bigint }
  /** The amount paid beyond the threshold, in the quote. */
  surplus: PartyAmounts
  /** Liquidity of the pool: the positions of both parties. */
  liquidity: bigint
  partner: OwnedLiquidity
  creator: OwnedLiquidity
  /** Raw units locked for the creator. */
  lockedBase: bigint
  burnedBase: bigint
  /** Raw units that remain for the leftover receiver, or in the vault if the supply is not fixed. */
  leftoverBase: bigint
}

/** Migrates in memory. `baseSold` are the raw units that buyers received. */
export function migrateInMemory(curve: MemoryCurve, state: CurveState, baseSold: bigint): MigrationPreview {
  const { parameters, threshold, supply, locked } = curve
  const quote = migratedQuote(threshold, parameters.migrationFee.feePercentage)
  const { creator, partner, protocol } = state.baseFees
  const held = supply - baseSold - locked - creator - partner - protocol
  const handler = migratedLiquidityOf(curve, quote)
  const base = handler.baseOf(held)
  const protocolFee = handler.protocolFee({ base, quote })
  const available = { base: base - protocolFee.base, quote: quote - protocolFee.quote }
  const { sqrtPrice, liquidity, dead } = handler.opening(available)
  const shares = distribution(curve, liquidity)
  const isPartnerFirst = total(shares.partner) > total(shares.creator)
  const [first, second] = isPartnerFirst ? [shares.partner, shares.creator] : [shares.creator, shares.partner]
  const opened = handler.open(sqrtPrice, total(first) + dead)
  const rest = { base: available.base - opened.base, quote: available.quote - opened.quote }
  const added = handler.addable(rest, opened)
  const joined = added === 0n ? { base: 0n, quote: 0n } : handler.added(added, opened)
  const other = added === 0n ? NO_LIQUIDITY : adjust(curve, second, added, !isPartnerFirst)
  const deposit = { base: opened.base + joined.base, quote: opened.quote + joined.quote }
  const left = held - protocolFee.base - deposit.base
  const burnable = burnableOf(curve)
  const burnedBase = burnable < left ? burnable : left
  return {
    sqrtPrice: added === 0n ? sqrtPrice : handler.priceOf(opened),
    deposit,
    protocolFee,
    ...paidOnce(curve, state, quote),
    liquidity: opened.liquidity + added,
    partner: isPartnerFirst ? first : other,
    creator: isPartnerFirst ? other : first,
    lockedBase: locked,
    burnedBase,
    leftoverBase: left - burnedBase,
  }
}

const NO_LIQUIDITY: OwnedLiquidity = { unlocked: 0n, locked: 0n, vested: 0n }

/** The migration fee and the surplus; each division rounds down. */
function paidOnce(
  { parameters, threshold }: MemoryCurve,
  { quoteReserve }: CurveState,
  quote: bigint,
): Pick<MigrationPreview, 'migrationFee' | 'surplus'> {
  const share = (amount: bigint, percent: number) => (amount * BigInt(percent)) / 100n
  const fee = threshold - quote
  const creatorFee = share(fee, parameters.migrationFee.creatorFeePercentage)
  const surplus = quoteReserve - threshold
  const shared = (surplus * PARTY_SURPLUS_PERCENT) / 100n
  const creator = share(shared, parameters.creatorTradingFeePercentage)
  return {
    migrationFee: { creator: creatorFee, partner: fee - creatorFee },
    surplus: { creator, partner: shared - creator, protocol: surplus - shared },
  }
}

/** Raw units that the migration may burn: the whole remainder if the supply is not fixed. */
function burnableOf({ parameters: { tokenSupply }, supply }: MemoryCurve): bigint {
  if (!tokenSupply) return supply
  return bigintOf(tokenSupply.preMigrationTokenSupply) - bigintOf(tokenSupply.postMigrationTokenSupply)
}

const total = ({ unlocked, locked, vested }: OwnedLiquidity) => unlocked + locked + vested

/** Each share is rounded down, and the creator's unlocked one takes the rest. */
function distribution(
  { parameters }: MemoryCurve,
  liquidity: bigint,
): { partner: OwnedLiquidity; creator: OwnedLiquidity } {
  const share = (percent: number) => (liquidity * BigInt(percent)) / 100n
  const partner = {
    unlocked: share(parameters.partnerLiquidityPercentage),
    locked: share(parameters.partnerPermanentLockedLiquidityPercentage),
    vested: share(parameters.partnerLiquidityVestingInfo.vestingPercentage),
  }
  const locked = share(parameters.creatorPermanentLockedLiquidityPercentage)
  const vested = share(parameters.creatorLiquidityVestingInfo.vestingPercentage)
  return { partner, creator: { unlocked: liquidity - total(partner) - locked - vested, locked, vested } }
}

/** The second position gets the remainder of both tokens after rounding, which is divided again. */
function adjust(
  { parameters }: MemoryCurve,
  { unlocked }: OwnedLiquidity,
  liquidity: bigint,
  isPartner: boolean,
): OwnedLiquidity {
  const [permanent, vesting] = isPartner
    ? [parameters.partnerPermanentLockedLiquidityPercentage, parameters.partnerLiquidityVestingInfo.vestingPercentage]
    : [parameters.creatorPermanentLockedLiquidityPercentage, parameters.creatorLiquidityVestingInfo.vestingPercentage]
  if (permanent + vesting === 0) return { unlocked: liquidity, locked: 0n, vested: 0n }
  const free = liquidity < unlocked ? liquidity : unlocked
  const bound = liquidity - free
  const vested = (bound * BigInt(vesting)) / BigInt(permanent + vesting)
  return { unlocked: free, locked: bound - vested, vested }
}

// Converts amounts to the liquidity of the migrated pool: over all prices, or as a constant product that compounds
// its fees.

interface TokenAmounts {
  base: bigint
  quote: bigint
}

/** The pool after its first position. */
interface OpenedPool extends TokenAmounts {
  /** Includes the part without an owner. */
  liquidity: bigint
}

/** `MigrationHandler` of the program, by the fee mode of the migrated pool. */
interface MigratedLiquidity {
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

const migratedLiquidityOf = (curve: MemoryCurve, quote: bigint): MigratedLiquidity =>
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
