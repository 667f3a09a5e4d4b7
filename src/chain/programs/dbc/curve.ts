/** Converts a preset to the program's curve: segments of constant product between two market caps. */

import type { ConfigParameters } from '@meteora-ag/dynamic-bonding-curve-sdk'
import type { CurvePreset } from '../../../api/pool-presets.ts'
import { ApiError, badRequest } from '../../../platform/errors.ts'
import { WRAPPED_SOL } from '../../../solana/program-ids.ts'
import { squareRoot } from '../../../solana/square-root.ts'
import { MAX_U64, MAX_U128 } from '../../../solana/u64.ts'
import { isCompounding, migratedBase, migratedQuote, opensCompounding } from './migrating-amounts.ts'
import { presetFault, wholeWeights } from './preset-amounts.ts'
import { checkDuration, type FeeParameters, feeParameters } from './preset-fees.ts'
import { marketCapOf, type RawPreset, rawPreset } from './presets.ts'
import { dbcPriceText } from './prices.ts'
import { bigintOf, type Dbc, openDbc } from './program.ts'
import type { LaunchCurve } from './types.ts'

/** Limit of the correction rounds. More than a few are never needed. */
const MAX_ROUNDS = 100
/** Values of the program for who can change a token's metadata. */
const UPDATE_AUTHORITIES = { creator: 0, immutable: 1, partner: 2 } as const

interface Curve {
  start: bigint
  points: LaunchCurve['points']
  threshold: bigint
  /** Raw units that are neither sold, migrated nor withheld. */
  rest: bigint
}

/**
 * Uses whole numbers, because the SDK's own builders reject a fifth of all presets for rounding errors of their floats.
 * The result passes the SDK's validation. Throws bad_request with the preset's field as `param`.
 */
export async function buildCurve(preset: CurvePreset): Promise<LaunchCurve> {
  const raw = rawPreset(preset)
  const dbc = await openDbc()
  const fees = feeParameters(dbc, preset)
  const liquidity = liquidityParameters(dbc, preset)
  const curve = filledCurve(dbc, raw, segmentsOf(dbc, preset, raw), fees)
  const parameters = { ...fees, ...liquidity, ...curveParameters(dbc, preset, raw, curve) }
  validateConfigParameters(dbc, parameters)
  const { start, points, threshold, rest } = curve
  const end = points.at(-1)?.sqrtPrice ?? start
  const { decimals, quote_mint, quote_decimals } = preset
  const { cliffUnlockAmount, amountPerPeriod, numberOfPeriod } = raw.vesting
  return {
    parameters,
    quoteMint: quote_mint,
    quoteDecimals: quote_decimals,
    initialPrice: dbcPriceText(start, decimals, quote_decimals),
    migrationPrice: dbcPriceText(end, decimals, quote_decimals),
    initialMarketCapLamports: raw.initialMarketCap,
    totalSupply: raw.supply,
    thresholdLamports: threshold,
    startSqrtPrice: start,
    points,
    leftover: rest + raw.withheld - cliffUnlockAmount - amountPerPeriod * numberOfPeriod,
  }
}

/**
 * Computes the most liquidity in these proportions for which the sold and migrated amounts fit in the supply that is
 * not withheld. The threshold takes the price exactly to the end of the curve.
 */
function filledCurve(
  dbc: Dbc,
  { supply, withheld }: RawPreset,
  { prices, weights }: CurveSegments,
  fees: FeeParameters,
): Curve {
  const { sdk, bn } = dbc
  const [start, end] = [prices[0] ?? 0n, prices.at(-1) ?? 0n]
  const available = supply - withheld
  const heaviest = weights.reduce((most, weight) => (weight > most ? weight : most), 0n)
  const { feePercentage } = fees.migrationFee
  const migration = { ...fees, migrationOption: sdk.MigrationOption.MET_DAMM_V2 }
  const kept = 100n - BigInt(feePercentage)
  // Of liquidity L from a to b, L·(b − a)/(a·b) is sold, and of its quote the kept part of L·(b − a)/end² migrates.
  // Together they are the available amount: this sums their factors of L as a fraction.
  let [numerator, denominator] = [0n, 1n]
  for (const [i, weight] of weights.entries()) {
    const [from, to] = [prices[i] ?? 0n, prices[i + 1] ?? 0n]
    const over = heaviest * 100n * end * end * from * to
    const part = weight * (to - from) * (100n * end * end + kept * from * to)
    ;[numerator, denominator] = [numerator * over + part * denominator, denominator * over]
  }
  let most = (available * denominator) / numerator
  if (most > MAX_U128) throw presetFault('migration_market_cap', 'is too close to initial_market_cap')
  for (let round = 0; round < MAX_ROUNDS && most > 0n; round++) {
    const points = weights.map((weight, i) => ({
      sqrtPrice: prices[i + 1] ?? 0n,
      liquidity: (most * weight) / heaviest,
    }))
    if (points.some(({ liquidity }) => liquidity === 0n)) break
    const curve = points.map(({ sqrtPrice, liquidity }) => ({ sqrtPrice: bn(sqrtPrice), liquidity: bn(liquidity) }))
    const threshold = curve.reduce((sum, { sqrtPrice, liquidity }, i) => {
      const taken = sdk.getDeltaAmountQuoteUnsigned(bn(prices[i] ?? 0n), sqrtPrice, liquidity, sdk.Rounding.Up)
      return sum + bigintOf(taken)
    }, 0n)
    const quote = migratedQuote(threshold, feePercentage)
    // The SDK rounds this down; the program rounds up.
    if (threshold * kept < 100n) throw presetFault('migration_market_cap', 'is too little: no quote would migrate')
    const sold = bigintOf(sdk.getBaseTokenForSwap(bn(start), bn(end), curve))
    const migrated = migratedBase(dbc, migration, quote, end)
    if (threshold > MAX_U64)
      throw presetFault('migration_market_cap', 'is too much: the amount that fills the curve is beyond 64 bits')
    const rest = available - sold - migrated
    if (rest >= 0n && sold > 0n && migrated > 0n) {
      if (isCompounding(fees) && !opensCompounding(dbc, { base: migrated, quote }, end)) throw tooLittleToCompound()
      return { start, points, threshold, rest }
    }
    most -= (most * (1n - rest)) / available + 1n
  }
  throw presetFault(
    'total_supply',
    'is too little for these market caps: a curve cannot be expressed in whole raw units',
  )
}

const tooLittleToCompound = () =>
  presetFault(
    'migrated_pool.collect_fee_mode',
    'must not be compounding if so little migrates: too few raw units of the token or of the quote for its price',
  )

function curveParameters({ sdk, bn }: Dbc, preset: CurvePreset, { supply, vesting }: RawPreset, curve: Curve) {
  return {
    migrationOption: sdk.MigrationOption.MET_DAMM_V2,
    activationType: sdk.ActivationType.Timestamp,
    tokenType: preset.token_program === 'spl' ? sdk.TokenType.SPLToken : sdk.TokenType.Token2022,
    tokenDecimal: preset.decimals,
    migrationQuoteThreshold: bn(curve.threshold),
    sqrtStartPrice: bn(curve.start),
    lockedVesting: {
      amountPerPeriod: bn(vesting.amountPerPeriod),
      cliffDurationFromMigrationTime: bn(vesting.cliffDurationFromMigrationTime),
      frequency: bn(vesting.frequency),
      numberOfPeriod: bn(vesting.numberOfPeriod),
      cliffUnlockAmount: bn(vesting.cliffUnlockAmount),
    },
    tokenSupply: { preMigrationTokenSupply: bn(supply), postMigrationTokenSupply: bn(supply) },
    creatorTradingFeePercentage: preset.creator_fee_percentage,
    tokenUpdateAuthority: UPDATE_AUTHORITIES[preset.token_update_authority],
    enableFirstSwapWithMinFee: preset.first_swap_min_fee,
    padding: [0, 0],
    curve: curve.points.map(({ sqrtPrice, liquidity }) => ({ sqrtPrice: bn(sqrtPrice), liquidity: bn(liquidity) })),
  }
}

/** The SDK's rules equal those of the program, and are checked before anything is paid. */
function validateConfigParameters({ sdk, key }: Dbc, parameters: ConfigParameters): void {
  try {
    // For a compounding pool the SDK sets aside the amounts of a pool over all prices, so its supply is checked only
    // above.
    const tokenSupply = isCompounding(parameters) ? null : parameters.tokenSupply
    // Validation accepts any address except zero as the leftover receiver.
    sdk.validateConfigParameters({ ...parameters, tokenSupply, leftoverReceiver: key(WRAPPED_SOL) })
  } catch (error) {
    if (error instanceof ApiError) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw badRequest(`Meteora does not accept the preset's curve: ${reason}`, { cause: error })
  }
}

/** The program requires a tenth of the migrated liquidity to be locked for at least a day. */
const LEAST_LOCKED = 10
const WHOLE_BPS = 10_000
/** Two years. */
const LONGEST_LOCK_SECONDS = 63_072_000

type LiquidityParameters = Pick<
  ConfigParameters,
  | 'partnerLiquidityPercentage'
  | 'partnerPermanentLockedLiquidityPercentage'
  | 'creatorLiquidityPercentage'
  | 'creatorPermanentLockedLiquidityPercentage'
  | 'partnerLiquidityVestingInfo'
  | 'creatorLiquidityVestingInfo'
>
type Vesting = CurvePreset['liquidity']['partner_vesting']

/** Throws bad_request with the field at fault as `param`. */
function liquidityParameters({ sdk }: Dbc, { liquidity }: CurvePreset): LiquidityParameters {
  const { partner, partner_locked, creator, creator_locked, partner_vesting, creator_vesting } = liquidity
  const vested = (partner_vesting?.percentage ?? 0) + (creator_vesting?.percentage ?? 0)
  const sum = partner + partner_locked + creator + creator_locked + vested
  if (sum !== 100) throw presetFault('liquidity', `must sum to 100, not ${sum}`)
  const partnerVesting = vestingInfo(partner_vesting, 'liquidity.partner_vesting')
  const creatorVesting = vestingInfo(creator_vesting, 'liquidity.creator_vesting')
  const locked = partner_locked + creator_locked
  const isLockedEnough = sdk.validateMinimumLockedLiquidity(
    partner_locked,
    creator_locked,
    partnerVesting,
    creatorVesting,
  )
  if (!isLockedEnough) {
    throw presetFault(
      'liquidity.partner_locked',
      `and liquidity.creator_locked must be ${LEAST_LOCKED} together at least, not ${locked}: Meteora requires that much to be locked permanently, or by a vesting for at least a day`,
    )
  }
  return {
    partnerLiquidityPercentage: partner,
    partnerPermanentLockedLiquidityPercentage: partner_locked,
    creatorLiquidityPercentage: creator,
    creatorPermanentLockedLiquidityPercentage: creator_locked,
    partnerLiquidityVestingInfo: partnerVesting,
    creatorLiquidityVestingInfo: creatorVesting,
  }
}

function vestingInfo(vesting: Vesting, field: string): LiquidityParameters['partnerLiquidityVestingInfo'] {
  if (vesting === undefined) {
    return {
      vestingPercentage: 0,
      bpsPerPeriod: 0,
      numberOfPeriods: 0,
      cliffDurationFromMigrationTime: 0,
      frequency: 0,
    }
  }
  const { percentage, periods, duration_seconds, cliff_seconds, cliff_bps } = vesting
  checkDuration(duration_seconds, periods, field)
  if (cliff_seconds + duration_seconds > LONGEST_LOCK_SECONDS) {
    throw presetFault(`${field}.duration_seconds`, `and cliff_seconds must be two years together at most`)
  }
  // The program adds the remainder of the division to the cliff.
  const bpsPerPeriod = Math.floor((WHOLE_BPS - cliff_bps) / periods)
  if (bpsPerPeriod === 0) {
    const most = WHOLE_BPS - cliff_bps
    throw presetFault(
      `${field}.periods`,
      `are too many: each releases at least a hundredth of a percent, so at most ${most} fit in addition to the cliff`,
    )
  }
  return {
    vestingPercentage: percentage,
    bpsPerPeriod,
    numberOfPeriods: periods,
    cliffDurationFromMigrationTime: cliff_seconds,
    frequency: duration_seconds / periods,
  }
}

/** Segments of the builder with liquidity weights. */
const WEIGHTED_SEGMENTS = 16
/** A sixteenth root is a square root four times. */
const SQUARE_ROOTS = 4

interface CurveSegments {
  /** Square roots of the prices times 2^64, ascending: the first price, then the end of each segment. */
  prices: readonly bigint[]
  /** Relative liquidity of each segment. */
  weights: readonly bigint[]
}

/** Throws bad_request with the field at fault as `param`. */
function segmentsOf({ sdk }: Dbc, preset: CurvePreset, raw: RawPreset): CurveSegments {
  const { supply, initialMarketCap, migrationMarketCap } = raw
  const [start, end] = [sqrtPriceAt(initialMarketCap, supply), sqrtPriceAt(migrationMarketCap, supply)]
  if (start < bigintOf(sdk.MIN_SQRT_PRICE))
    throw presetFault('initial_market_cap', 'is too little for the supply: the first price would be 0')
  if (end >= bigintOf(sdk.MAX_SQRT_PRICE))
    throw presetFault('migration_market_cap', 'is too much for the supply: the price cannot be represented')
  if (end <= start) throw presetFault('migration_market_cap', 'is too close to initial_market_cap')
  const { shape } = preset
  if (shape.kind === 'market_cap') return { prices: [start, end], weights: [1n] }
  if (shape.kind === 'liquidity_weights') {
    const prices = geometricPrices(start, end)
    return { prices: ascending(prices), weights: wholeWeights(shape.weights, 'shape.weights') }
  }
  if (shape.kind === 'custom') return customSegments(preset, shape, raw, [start, end])
  const mids = shape.kind === 'mid_price' ? [midPrice(preset, shape, raw, [start, end])] : midPrices(start, end)
  return twoSegments(shape.migration_supply_percentage, preset, raw, { start, end, mids })
}

const sqrtPriceAt = (marketCap: bigint, supply: bigint): bigint => squareRoot((marketCap << 128n) / supply)

/** Each price is the one before times the sixteenth root of the ratio between the last and the first. */
const geometricPrices = (start: bigint, end: bigint): bigint[] =>
  Array.from({ length: WEIGHTED_SEGMENTS + 1 }, (_, i) =>
    rootOf(start ** BigInt(WEIGHTED_SEGMENTS - i) * end ** BigInt(i), SQUARE_ROOTS),
  )

/** Takes the square root `times` times. */
const rootOf = (value: bigint, times: number): bigint => (times === 0 ? value : rootOf(squareRoot(value), times - 1))

function ascending(prices: readonly bigint[]): readonly bigint[] {
  if (prices.every((price, i) => i === 0 || price > (prices[i - 1] ?? 0n))) return prices
  throw presetFault('migration_market_cap', 'is too close to initial_market_cap for so many segments')
}

function customSegments(
  preset: CurvePreset,
  { market_caps, weights }: Extract<CurvePreset['shape'], { kind: 'custom' }>,
  { supply }: RawPreset,
  [start, end]: readonly [bigint, bigint],
): CurveSegments {
  const between = market_caps.map((amount, i) => sqrtPriceAt(marketCapOf(preset, amount, capField(i)), supply))
  const prices = [start, ...between, end]
  const fault = prices.findIndex((price, i) => i > 0 && price <= (prices[i - 1] ?? 0n))
  if (fault >= 0) {
    const last = market_caps.length - 1
    throw presetFault(
      capField(Math.min(fault - 1, last)),
      'must rise from one to the next, above initial_market_cap and below migration_market_cap',
    )
  }
  const count = prices.length - 1
  if (weights !== undefined && weights.length !== count) {
    throw presetFault('shape.weights', `must be ${count}, one for each segment, not ${weights.length}`)
  }
  return { prices, weights: weights === undefined ? Array(count).fill(1n) : wholeWeights(weights, 'shape.weights') }
}

const capField = (i: number) => `shape.market_caps.${i}`

function midPrice(
  preset: CurvePreset,
  { mid_market_cap }: Extract<CurvePreset['shape'], { kind: 'mid_price' }>,
  { supply }: RawPreset,
  [start, end]: readonly [bigint, bigint],
): bigint {
  const price = sqrtPriceAt(marketCapOf(preset, mid_market_cap, 'shape.mid_market_cap'), supply)
  if (price > start && price < end) return price
  throw presetFault('shape.mid_market_cap', 'must be between initial_market_cap and migration_market_cap')
}

/**
 * The prices that the SDK tries, in its order: a quarter, three quarters and half of the way, on a logarithmic scale.
 */
const midPrices = (start: bigint, end: bigint): bigint[] => [
  rootOf(start ** 3n * end, 2),
  rootOf(start * end ** 3n, 2),
  rootOf(start * end, 1),
]

/**
 * Solves for the liquidity of two segments that sell one part of the supply for the quote that migrates with the other
 * part.
 */
function twoSegments(
  percentage: number,
  { migration_fee }: CurvePreset,
  { supply, migrationMarketCap, withheld }: RawPreset,
  { start, end, mids }: { start: bigint; end: bigint; mids: readonly bigint[] },
): CurveSegments {
  const field = 'shape.migration_supply_percentage'
  const kept = 100n - BigInt(migration_fee?.percentage ?? 0)
  const sold = supply - (supply * BigInt(percentage)) / 100n - withheld
  if (sold <= 0n) throw presetFault(field, 'leaves nothing of the supply to sell')
  const threshold = (migrationMarketCap * BigInt(percentage)) / kept
  // The mean price of the sold tokens must be between the mean prices of the two segments.
  const [taken, perPrice] = [threshold << 128n, sold]
  for (const mid of mids) {
    if (mid <= start || mid >= end) continue
    const first = perPrice * mid * end - taken
    const second = taken - perPrice * start * mid
    if (first > 0n && second > 0n) {
      return { prices: [start, mid, end], weights: [first * start * (end - mid), second * end * (mid - start)] }
    }
  }
  const isTooMuch = mids.every((mid) => perPrice * mid * end <= taken)
  throw presetFault(
    field,
    `is too ${isTooMuch ? 'much' : 'little'} for these market caps: no two segments raise the amount that it needs from the tokens sold`,
  )
}
